import type { Offset } from "../core/offset.ts";
import type { Ledger } from "../core/ledger/ledger.ts";
import type { RecordBatch } from "../ports/record-batch.ts";
import { type FoldContext, type Folded, foldBatch } from "./fold.ts";
import type { RunnerContext } from "./runner-context.ts";

/** When poison stops the partition instead of going to the dead letters. */
type PoisonRules = Pick<FoldContext, "allowPoisonTo" | "breaker">;

/** The oldest record of a batch that is not acknowledged. */
export interface OldestInFlight {
  readonly offset: Offset;
  readonly timestampMs: number;
  readonly key: Uint8Array | null;
  /** Owners that hold what the batch wrote, once they are enough; it may still wait for its dead letters. */
  readonly ackedBy: readonly string[] | undefined;
}

/** The first record of the batch at or above `from`; undefined when it has none. */
export function oldestOf({ batch, ackedBy }: BatchWork, from: Offset): OldestInFlight | undefined {
  for (let index = 0; index < batch.count; index += 1) {
    const offset = batch.offsetAt(index);
    if (offset < from) continue;
    return { offset, timestampMs: batch.timestampAt(index), key: batch.keyAt(index), ackedBy };
  }
  return undefined;
}

/** One delivered batch on its way through decode, fold, write. Keeps what was prepared, so that a retry only writes. */
export class BatchWork {
  readonly batch: RecordBatch;
  readonly #context: RunnerContext;
  #folded: Folded | undefined;
  #lettersConfirmed = false;
  #released = false;
  #ackedBy: readonly string[] | undefined;

  constructor(batch: RecordBatch, context: RunnerContext) {
    this.batch = batch;
    this.#context = context;
    context.budget.hold(context.inForce.definition.name, batch.byteLength);
  }

  get ackedBy(): readonly string[] | undefined {
    return this.#ackedBy;
  }

  /** Decodes and folds, once. @throws InvariantViolation */
  fold(from: Offset, topicEpoch: number, ledger: Ledger, poison: PoisonRules): Folded {
    const { verdicts, clock } = this.#context;
    this.#folded ??= foldBatch(this.batch, from, {
      topicEpoch,
      ledger,
      verdictOf: (revision) => verdicts.of(revision),
      nowMs: clock.now(),
      ...poison,
    });
    return this.#folded;
  }

  /**
   * Resolves when W owners hold every write and the broker confirmed every letter (I3). Letters that were confirmed by an
   * earlier attempt are not sent again. @throws KvFault, SourceFault
   */
  async settle(folded: Folded): Promise<void> {
    const { plane, letters, inForce } = this.#context;
    const writing = folded.writes.length === 0 ? undefined : this.#write(folded, plane);
    const publishing = this.#publish(folded, letters, inForce.definition.deadLetterTopic);
    const results = await Promise.allSettled([writing, publishing]);
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }

  async #write({ writes }: Folded, plane: RunnerContext["plane"]): Promise<void> {
    this.#ackedBy = (await plane.write(writes)).owners;
  }

  async #publish(folded: Folded, letters: RunnerContext["letters"], topic: string): Promise<void> {
    if (this.#lettersConfirmed || folded.letters.length === 0) return;
    await letters.publish(topic, folded.letters);
    this.#lettersConfirmed = true;
  }

  /** Gives the batch's bytes back to the budget, once. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#context.budget.release(this.#context.inForce.definition.name, this.batch.byteLength);
  }
}
