import type { Offset } from "../../../src/core/offset.ts";
import type { RecordBatch, RecordHeader } from "../../../src/ports/record-batch.ts";
import type { FetchedPartition } from "../guards/fetched-records.ts";
import type { LeaderEpochs } from "../../../src/core/partition/state.ts";
import type { RecordColumns } from "../records/columns.ts";
import type { DecodedFetch } from "../records/decode-fetch.ts";

/** The port's record batch over decoded columns. */
export class RecordView implements RecordBatch {
  readonly partition: number;
  readonly assignmentEpoch: number;
  readonly fetchedAt: Offset;
  readonly next: Offset;
  readonly end: Offset;
  readonly logStart: Offset | undefined;
  readonly leaderEpochs: LeaderEpochs | undefined;
  readonly #columns: RecordColumns;

  constructor(
    assignmentEpoch: number,
    fetched: FetchedPartition,
    { next, columns, leaderEpochs }: Pick<DecodedFetch, "next" | "columns" | "leaderEpochs">,
  ) {
    this.partition = fetched.partition;
    this.assignmentEpoch = assignmentEpoch;
    this.fetchedAt = fetched.position;
    this.next = next;
    this.end = fetched.lastStableOffset >= 0 ? fetched.lastStableOffset : fetched.highWatermark;
    this.logStart = fetched.logStart >= 0 ? fetched.logStart : undefined;
    this.leaderEpochs = leaderEpochs;
    this.#columns = columns;
  }

  get count(): number {
    return this.#columns.count;
  }

  get byteLength(): number {
    return this.#columns.byteLength;
  }

  offsetAt(index: number): Offset {
    return this.#columns.offsetAt(index);
  }

  timestampAt(index: number): number {
    return this.#columns.timestampAt(index);
  }

  keyAt(index: number): Uint8Array | null {
    return this.#columns.keyAt(index);
  }

  valueAt(index: number): Uint8Array | null {
    return this.#columns.valueAt(index);
  }

  headersAt(index: number): readonly RecordHeader[] {
    return this.#columns.headersAt(index);
  }
}
