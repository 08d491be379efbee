import type { Offset } from "../core/offset.ts";
import type { Ledger } from "../core/ledger/ledger.ts";
import type { RecordBatch } from "../ports/record-batch.ts";
import { type FoldContext, type Folded, foldBatch } from "./fold.ts";
import type { RunnerContext } from "./runner-context.ts";

/** When poison stops the partition instead of going to the dead letters. */
type PoisonRules = Pick<FoldContext, "allowPoisonTo" | "breaker">;

/** One delivered batch on its way through decode, fold, write. Keeps what was prepared, so that a retry only writes. */
export class BatchWork {
  readonly batch: RecordBatch;
  readonly #context: RunnerContext;
  #folded: Folded | undefined;
  #lettersConfirmed = false;
  #released = false;

  constructor(batch: RecordBatch, context: RunnerContext) {
    this.batch = batch;
    this.#context = context;
    context.budget.hold(context.inForce.definition.name, batch.byteLength);
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
    const writing = folded.writes.length === 0 ? undefined : plane.write(folded.writes);
    const publishing = this.#publish(folded, letters, inForce.definition.deadLetterTopic);
    const results = await Promise.allSettled([writing, publishing]);
    for (const result of results) if (result.status === "rejected") throw result.reason;
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
