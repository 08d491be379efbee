import type { TopicRetention } from "../../src/ports/record-source.ts";
import type { RecordBatch, RecordHeader } from "../../src/ports/record-batch.ts";

export interface FakeRecord {
  readonly offset: number;
  readonly timestampMs: number;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  /** Of the leader that appended it; a broker that keeps none has none. */
  readonly leaderEpoch?: number;
}

const encoder = new TextEncoder();

/** A topic and the group that reads it, as the broker holds them: outlives every fake source. */
export class FakeLog {
  clusterId = "cluster-1";
  retention: TopicRetention = { retentionMs: undefined, retentionBytes: undefined, compacted: false };
  readonly partitions: { records: FakeRecord[]; logStart: number; end: number }[] = [];
  readonly committed = new Map<number, number>();
  /** Epoch of the leader that appends now. */
  leaderEpoch: number | undefined;
  /** Every commit that the broker took, in order. */
  readonly commits: { readonly partition: number; readonly offset: number }[] = [];

  constructor(partitions: number) {
    this.grow(partitions);
  }

  grow(partitions: number): void {
    while (this.partitions.length < partitions) this.partitions.push({ records: [], logStart: 0, end: 0 });
  }

  append(partition: number, key: string | null, value: string | null, timestampMs = 1_000): number {
    const log = this.log(partition);
    const offset = log.end;
    const bytes = (text: string | null) => (text === null ? null : encoder.encode(text));
    const epoch = this.leaderEpoch === undefined ? {} : { leaderEpoch: this.leaderEpoch };
    log.records.push({ offset, timestampMs, key: bytes(key), value: bytes(value), ...epoch });
    log.end += 1;
    return offset;
  }

  /** A control record, or a hole: an offset that nobody delivers. */
  skip(partition: number, offsets = 1): void {
    this.log(partition).end += offsets;
  }

  deleteBelow(partition: number, offset: number): void {
    const log = this.log(partition);
    log.logStart = offset;
    log.records = log.records.filter((record) => record.offset >= offset);
  }

  /** A replica that ends at `offset` is elected: what was appended behind it is gone, and the next records take its place. */
  electUnclean(partition: number, offset: number): void {
    const log = this.log(partition);
    Object.assign(log, { records: log.records.filter((record) => record.offset < offset), end: offset });
    this.leaderEpoch = (this.leaderEpoch ?? 0) + 1;
  }

  /** Deletes the topic and creates it anew; Kafka deletes the group's offsets with it. */
  recreate(): void {
    for (const log of this.partitions) Object.assign(log, { records: [], logStart: 0, end: 0 });
    this.committed.clear();
  }

  log(partition: number) {
    const log = this.partitions[partition];
    if (log === undefined) throw new Error(`no partition ${partition}`);
    return log;
  }
}

/** A batch over fake records. */
export function batchOf(
  records: readonly FakeRecord[],
  more: Pick<RecordBatch, "partition" | "assignmentEpoch" | "fetchedAt" | "next" | "end" | "logStart">,
): RecordBatch {
  const at = (index: number) => {
    const record = records[index];
    if (record === undefined) throw new Error(`no record ${index}`);
    return record;
  };
  const [first, last] = [records.at(0)?.leaderEpoch, records.at(-1)?.leaderEpoch];
  const noHeaders: readonly RecordHeader[] = [];
  return {
    ...more,
    ...(first === undefined || last === undefined ? {} : { leaderEpochs: { first, last } }),
    count: records.length,
    byteLength: records.reduce((sum, record) => sum + (record.value?.length ?? 0) + 50, 0),
    offsetAt: (index) => at(index).offset,
    timestampAt: (index) => at(index).timestampMs,
    keyAt: (index) => at(index).key,
    valueAt: (index) => at(index).value,
    headersAt: () => noHeaders,
  };
}
