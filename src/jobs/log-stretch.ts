import { indexAtOrAbove } from "../core/counting/count-records.ts";
import { EMPTY_RECEIPT, type JobPartition, type JobStep } from "../core/job/job.ts";
import type { Offset } from "../core/offset.ts";
import type { RecordBatch } from "../ports/record-batch.ts";
import { type RecordRead, type RecordSource, SourceFault } from "../ports/record-source.ts";

/** Bytes that a job reads at once. */
const STRETCH_BYTES = 4 * 1024 * 1024;

/** Records of a job's range, none at or beyond its end; or the step that says why there are none. */
export type Stretch =
  | { readonly batch: RecordBatch; readonly next: Offset }
  | { readonly batch: undefined; readonly step: JobStep };

/**
 * Reads a job's ranges piece by piece, beside live reading: no group, no position but the job's own. While one piece is worked
 * on the next is fetched.
 */
export class LogStretches {
  readonly #source: RecordSource;
  #ahead: { readonly partition: number; readonly from: Offset; readonly read: Promise<RecordRead> } | undefined;

  constructor(source: RecordSource) {
    this.#source = source;
  }

  /** The next piece of an entry. @throws SourceFault */
  async next({ partition, next, to }: JobPartition): Promise<Stretch> {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    const known = ahead?.partition === partition && ahead.from === next;
    const read = await (known ? ahead.read : this.#source.read(partition, next, STRETCH_BYTES));
    if (read.read === "out-of-range") return { batch: undefined, step: await this.#lost(partition, next, to) };
    if (read.read === "fault") {
      const error = { code: `FETCH_${read.code.toUpperCase().replaceAll("-", "_")}`, text: `at ${next}: ${read.text}` };
      return { batch: undefined, step: { next, receipt: EMPTY_RECEIPT, error } };
    }
    const { batch } = read;
    const reached = Math.min(batch.next, to);
    // Nothing to read and not at the end: the log ends here for now, an open transaction perhaps.
    if (reached <= next) throw new SourceFault("timeout", `nothing to read at ${next} of partition ${partition} yet`);
    if (reached < to) this.#fetchAhead(partition, reached);
    return { batch: cut(batch, next, to), next: reached };
  }

  #fetchAhead(partition: number, from: Offset): void {
    const read = this.#source.read(partition, from, STRETCH_BYTES);
    // Whoever needs it meets its failure; nobody may.
    read.catch(() => undefined);
    this.#ahead = { partition, from, read };
  }

  /** Retention overtook the job, or the log is another one. @throws SourceFault */
  async #lost(partition: number, next: Offset, to: Offset): Promise<JobStep> {
    const answer = (await this.#source.bounds()).get(partition);
    if (answer?.known !== true) throw new SourceFault("unknown", `the bounds of partition ${partition} are not known`);
    if (answer.logStart > next) {
      return { next, receipt: EMPTY_RECEIPT, lost: { from: next, to: Math.min(answer.logStart, to) } };
    }
    if (answer.end < next) return { next, receipt: EMPTY_RECEIPT, lost: { from: next, to } };
    throw new SourceFault("timeout", `partition ${partition} is said to be out of range at ${next}, and is not`);
  }
}

/** The records of a batch within `[from, to)`. */
function cut(batch: RecordBatch, from: Offset, to: Offset): RecordBatch {
  const first = indexAtOrAbove(batch, from);
  const end = batch.next <= to ? batch.count : indexAtOrAbove(batch, to);
  if (first === 0 && end === batch.count) return batch;
  return {
    partition: batch.partition,
    assignmentEpoch: batch.assignmentEpoch,
    fetchedAt: from,
    next: Math.min(batch.next, to),
    end: batch.end,
    logStart: batch.logStart,
    count: Math.max(end - first, 0),
    byteLength: batch.byteLength,
    offsetAt: (index) => batch.offsetAt(first + index),
    timestampAt: (index) => batch.timestampAt(first + index),
    keyAt: (index) => batch.keyAt(first + index),
    valueAt: (index) => batch.valueAt(first + index),
    headersAt: (index) => batch.headersAt(first + index),
  };
}

/** Bytes of the keys and values of a batch. */
export function bytesOf(batch: RecordBatch): number {
  let bytes = 0;
  for (let index = 0; index < batch.count; index += 1) {
    bytes += (batch.keyAt(index)?.length ?? 0) + (batch.valueAt(index)?.length ?? 0);
  }
  return bytes;
}
