import { invariant } from "../core/invariant.ts";
import type { Ledger } from "../core/ledger/ledger.ts";
import type { Offset } from "../core/offset.ts";
import type { Applied, Applier, ApplyTask } from "./applier.ts";
import { allSettled, type BatchWork } from "./batch-work.ts";
import { type Folded, foldBatch } from "./fold.ts";
import type { LetterGaps } from "./letter-gaps.ts";
import type { PartitionStore } from "./partition-store.ts";
import type { RunnerContext } from "./runner-context.ts";

/** What an applier stands on beside the source. */
export interface ApplierParts {
  readonly context: RunnerContext;
  readonly partition: number;
  readonly topicEpoch: number;
  readonly store: PartitionStore;
  readonly gaps: LetterGaps;
}

/** Applies records of versioned kinds: each becomes a put or a delete, the newest of each key in a batch is written. */
export class VersionedApplier implements Applier {
  readonly #parts: ApplierParts;
  readonly #folded = new WeakMap<BatchWork, Folded>();
  #ledger: Ledger | undefined;

  constructor(parts: ApplierParts) {
    this.#parts = parts;
  }

  async cover(watermark: Offset, applied: Offset): Promise<void> {
    this.#ledger ??= await this.#parts.store.coverLedger(watermark, applied);
  }

  async apply(task: ApplyTask): Promise<Applied> {
    const { work } = task;
    const { gaps, context, partition } = this.#parts;
    const folded = this.#fold(task);
    // The letters before the acknowledgement, too: what is passed over is in the ledger of gaps (I12).
    await allSettled([work.write(folded.writes), work.publish(folded.letters), gaps.enter(folded.letters)]);
    context.crossings.sample(partition, folded.writes);
    const { records, letters, fingerprint, superseded } = folded;
    return { records, written: folded.writes.length, folded: superseded, letters, fingerprint };
  }

  drop(): void {
    // Nothing is carried from batch to batch.
  }

  rest(): Promise<void> {
    return Promise.resolve();
  }

  end(): void {
    // Nothing is held.
  }

  /** Decodes and folds, once. @throws InvariantViolation */
  #fold({ work, from, allowPoisonTo, breaker, onPoison }: ApplyTask): Folded {
    const known = this.#folded.get(work);
    if (known !== undefined) return known;
    const { context, topicEpoch } = this.#parts;
    const ledger = this.#ledger;
    invariant(ledger !== undefined, "LEDGER_UNCOVERED", "a batch came before its ledger row");
    const folded = foldBatch(work.batch, from, {
      topicEpoch,
      ledger,
      verdictOf: (revision) => context.verdicts.versioned(revision),
      nowMs: context.clock.now(),
      allowPoisonTo,
      breaker,
    });
    this.#folded.set(work, folded);
    if (folded.poison !== undefined) onPoison(folded.poison);
    return folded;
  }
}
