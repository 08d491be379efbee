import type { Offset } from "../core/offset.ts";
import type { PoisonBreaker } from "../core/partition/breaker.ts";
import type { Fingerprint } from "../core/partition/copy.ts";
import type { DeadLetter } from "../ports/dead-letters.ts";
import type { BatchWork } from "./batch-work.ts";
import type { Poison } from "./fold.ts";

/** One batch that is to be applied, from `from` on. */
export interface ApplyTask {
  readonly seq: number;
  readonly work: BatchWork;
  readonly from: Offset;
  /** Poison below it goes to the dead letters, whatever policy and breaker say. */
  readonly allowPoisonTo: Offset;
  readonly breaker: PoisonBreaker;
  /** Called at most once, before anything is written: the batch ends before this record. */
  readonly onPoison: (poison: Poison) => void;
}

/** What a batch became, once it is acknowledged. */
export interface Applied {
  /** Records looked at, dead letters included. */
  readonly records: number;
  /** Cells written. */
  readonly written: number;
  /** Writes that a newer one of the same key made needless. */
  readonly folded: number;
  readonly letters: readonly DeadLetter[];
  readonly fingerprint: Fingerprint | undefined;
}

/**
 * How the records of one partition are applied, for one life of its runner: the two families of kinds behind one partition
 * machine. All of its calls may be repeated after they failed.
 */
export interface Applier {
  /**
   * Makes durable what must be before anything is decoded from `watermark` on; `applied` is how far the partition was applied
   * before. @throws KvFault; PartitionHalt when it cannot begin there; StreamsError for a revision that does not compile
   */
  cover(watermark: Offset, applied: Offset): Promise<void>;
  /**
   * Resolves when W owners hold what the batch became, its dead letters are confirmed and in the gap ledger (I3, I12);
   * undefined when the batch was dropped meanwhile. What was prepared is kept for another attempt.
   * @throws KvFault, SourceFault, InvariantViolation
   */
  apply(task: ApplyTask): Promise<Applied | undefined>;
  /** Batches were given up and will be read again. */
  drop(seqs: readonly number[]): void;
  /** Nothing is read for now: what was taken in advance is given back. @throws KvFault */
  rest(): Promise<void>;
  /** The runner's life is over. */
  end(): void;
}
