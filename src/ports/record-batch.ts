import type { LeaderEpochs } from "../core/partition/state.ts";
import type { Offset } from "../core/offset.ts";

/** One header as it stands on the wire: names may repeat and need not be UTF-8. */
export interface RecordHeader {
  readonly name: Uint8Array;
  readonly value: Uint8Array | null;
}

/**
 * Records of one partition from one fetch, in columns: no object, string or promise per record.
 *
 * Index `i` runs from 0 to `count − 1` over *delivered* records: control records, aborted transactions and compacted
 * holes are not among them, but `next` is past them. Buffers are slices of what was fetched: copy what outlives the batch.
 */
export interface RecordBatch {
  readonly partition: number;
  /** Grows at each group join; results of an older one are dropped. */
  readonly assignmentEpoch: number;
  /** Position that this batch was fetched at. Equal to the `next` of the batch before it, or to where reading began. */
  readonly fetchedAt: Offset;
  /** Position after it: one past the last offset that the fetch covered. */
  readonly next: Offset;
  /** Last stable offset at the time of the fetch: the end that a read_committed reader can reach. */
  readonly end: Offset;
  /** First offset of the log at the time of the fetch; undefined where the broker did not say. */
  readonly logStart: Offset | undefined;
  /** Under which leaders it was appended; absent where nothing was read, or the broker kept none. */
  readonly leaderEpochs?: LeaderEpochs | undefined;
  readonly count: number;
  /** Memory that the batch holds on to, in bytes. */
  readonly byteLength: number;
  offsetAt(index: number): Offset;
  /** Broker timestamp in milliseconds since 1970; −1 when the record has none. */
  timestampAt(index: number): number;
  keyAt(index: number): Uint8Array | null;
  valueAt(index: number): Uint8Array | null;
  headersAt(index: number): readonly RecordHeader[];
}
