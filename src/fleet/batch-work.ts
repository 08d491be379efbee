import type { Offset } from "../core/offset.ts";
import type { DeadLetter } from "../ports/dead-letters.ts";
import type { CellWrite } from "../ports/kv-plane.ts";
import type { RecordBatch } from "../ports/record-batch.ts";
import type { RunnerContext } from "./runner-context.ts";

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

/** One delivered batch on its way to the store and the dead letters. */
export class BatchWork {
  readonly batch: RecordBatch;
  readonly #context: RunnerContext;
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

  /** Resolves when W owners hold every write. @throws KvFault */
  async write(writes: readonly CellWrite[]): Promise<void> {
    if (writes.length === 0) return;
    this.#ackedBy = (await this.#context.plane.write(writes)).owners;
  }

  /** Resolves when the broker confirmed every letter (I3), which is not asked for twice. @throws SourceFault */
  async publish(letters: readonly DeadLetter[]): Promise<void> {
    if (this.#lettersConfirmed || letters.length === 0) return;
    await this.#context.letters.publish(this.#context.inForce.definition.deadLetterTopic, letters);
    this.#lettersConfirmed = true;
  }

  /** Gives the batch's bytes back to the budget, once. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#context.budget.release(this.#context.inForce.definition.name, this.batch.byteLength);
  }
}

/** Waits for all, then throws what the first of them failed with. */
export async function allSettled(tasks: readonly Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(tasks)) if (result.status === "rejected") throw result.reason;
}
