import { EMPTY_RECEIPT, type JobPartition, type JobStep, type Receipt } from "../../core/job/job.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import { PoisonBreaker } from "../../core/partition/breaker.ts";
import { allSettled } from "../../fleet/batch-work.ts";
import { type Folded, foldBatch } from "../../fleet/fold.ts";
import { LetterGaps } from "../../fleet/letter-gaps.ts";
import type { SourceParts } from "../../fleet/source-service.ts";
import type { Verdicts } from "../../fleet/verdicts.ts";
import type { CellReceipt } from "../../ports/kv-plane.ts";
import type { RecordBatch } from "../../ports/record-batch.ts";
import { bytesOf, LogStretches } from "../log-stretch.ts";
import type { SampledWork } from "../preview.ts";

/** A replay judges nothing about a deploy: all poison goes to the dead letters. */
const NO_BREAKER = { run: Number.MAX_SAFE_INTEGER, sharePercent: 100, window: 1 };

/** What a replay stands on. */
export interface ReplayWorkParts {
  readonly source: SourceParts;
  /** That the job pins. */
  readonly revision: number;
  readonly verdicts: Verdicts;
  readonly topicEpochOf: (partition: number) => number;
  /** Why it should leave the broker and the store to live reading for now. */
  readonly yields: () => string | undefined;
}

/**
 * Applies records of versioned kinds again, under the revision that the job pins: the same version check as everybody's, so that
 * nothing goes backwards, and at one version the larger revision wins.
 */
export class ReplayWork implements SampledWork {
  readonly #parts: ReplayWorkParts;
  readonly #stretches: LogStretches;
  readonly #ledger: Ledger;
  readonly #breaker = new PoisonBreaker(NO_BREAKER);

  constructor(parts: ReplayWorkParts) {
    this.#parts = parts;
    this.#stretches = new LogStretches(parts.source.source);
    this.#ledger = { rows: [{ number: 1, from: 0, until: null, revision: parts.revision }], nextNumber: 2 };
  }

  async step(entry: JobPartition): Promise<JobStep> {
    const stretch = await this.#stretches.next(entry);
    if (stretch.batch === undefined) return stretch.step;
    const { batch, next } = stretch;
    const folded = this.#fold(batch, entry.next);
    const { source, topicEpochOf } = this.#parts;
    const { definition } = source.inForce;
    const owner = { source: definition.name, partition: entry.partition };
    const gaps = new LetterGaps(source.gaps, owner, topicEpochOf(entry.partition), source.clock);
    const publishing =
      folded.letters.length === 0
        ? Promise.resolve()
        : source.letters.publish(definition.deadLetterTopic, folded.letters);
    const writing = source.plane.writeWithReceipts(folded.writes);
    await allSettled([writing, publishing, gaps.enter(folded.letters)]);
    return { next, receipt: receiptOf(batch, folded, await writing) };
  }

  async sample(partition: number) {
    const { source } = this.#parts.source;
    const bounds = (await source.bounds()).get(partition);
    if (bounds?.known !== true) return { records: 0, bytes: 0, failed: 0 };
    const read = await source.read(partition, bounds.logStart, 256 * 1024);
    if (read.read !== "records") return { records: 0, bytes: 0, failed: 0 };
    const { batch } = read;
    const { letters } = this.#fold(batch, batch.fetchedAt);
    return { records: batch.count, bytes: bytesOf(batch), failed: letters.length };
  }

  yields(): string | undefined {
    return this.#parts.yields();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #fold(batch: RecordBatch, from: number): Folded {
    const { source, verdicts, topicEpochOf } = this.#parts;
    return foldBatch(batch, from, {
      topicEpoch: topicEpochOf(batch.partition),
      ledger: this.#ledger,
      verdictOf: (revision) => verdicts.versioned(revision),
      nowMs: source.clock.now(),
      allowPoisonTo: Number.POSITIVE_INFINITY,
      breaker: this.#breaker,
    });
  }
}

/** What is folded away lost to a newer record of its key in the same piece. */
function receiptOf(batch: RecordBatch, folded: Folded, cells: readonly CellReceipt[]): Receipt {
  const count = (outcome: CellReceipt["outcome"]) => cells.filter((cell) => cell.outcome === outcome).length;
  return {
    ...EMPTY_RECEIPT,
    read: folded.records,
    bytes: bytesOf(batch),
    applied: count("applied"),
    alreadyApplied: count("already-applied"),
    superseded: count("superseded") + folded.superseded,
    deadLettered: folded.letters.length,
  };
}
