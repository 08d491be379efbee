import type { Offset } from "../../src/core/offset.ts";
import {
  type BoundsAnswer,
  type CommitOutcome,
  type RecordRead,
  type RecordSource,
  type SourceEvents,
  SourceFault,
  type TopicIdentity,
  type TopicRetention,
} from "../../src/ports/record-source.ts";
import { batchOf, type FakeLog } from "./fake-log.ts";

/** The record source port over a {@link FakeLog}, with faults as verbs. Delivers in microtasks, `batchRecords` at a time. */
export class FakeRecordSource implements RecordSource {
  readonly #log: FakeLog;
  readonly #batchRecords: number;
  readonly #positions = new Map<number, { position: Offset; flowing: boolean }>();
  #events: SourceEvents | undefined;
  #epoch = 0;
  away = false;
  failCommits = 0;
  stopped = false;
  /** Partitions that the metadata names, when they lag behind the log. */
  metadataPartitions: number | undefined;
  /** Called before a partition begins; a fault may be raised from here instead. Returning true swallows the call. */
  onBegin: (epoch: number, partition: number, position: Offset) => boolean = () => false;

  constructor(log: FakeLog, batchRecords = 3) {
    this.#log = log;
    this.#batchRecords = batchRecords;
  }

  start(events: SourceEvents): void {
    this.#events = events;
    this.rejoin();
  }

  /** The group joins anew: every partition is assigned, paused, under the next epoch. */
  rejoin(): void {
    if (this.#epoch > 0) this.#events?.revoked(this.#epoch);
    this.#epoch += 1;
    this.#positions.clear();
    this.#events?.state({ state: "joined", rebuilds: 0 });
    this.#events?.assigned({ epoch: this.#epoch, partitions: this.#log.partitions.map((_log, index) => index) });
  }

  begin(epoch: number, partition: number, position: Offset): void {
    if (epoch !== this.#epoch || this.onBegin(epoch, partition, position)) return;
    this.#positions.set(partition, { position, flowing: true });
    this.#fetch(partition);
  }

  pause(epoch: number, partition: number): void {
    const state = this.#positions.get(partition);
    if (epoch === this.#epoch && state !== undefined) state.flowing = false;
  }

  resume(epoch: number, partition: number): void {
    const state = this.#positions.get(partition);
    if (epoch !== this.#epoch || state === undefined) return;
    state.flowing = true;
    this.#fetch(partition);
  }

  /** Fetches every flowing partition once more: what the fetch loop does after its wait. */
  poll(): void {
    for (const partition of this.#positions.keys()) this.#fetch(partition);
  }

  commit(epoch: number, watermarks: ReadonlyMap<number, Offset>): Promise<CommitOutcome> {
    if (epoch !== this.#epoch) return Promise.resolve({ outcome: "fenced" });
    if (this.away || this.failCommits > 0) {
      this.failCommits -= 1;
      return Promise.resolve({ outcome: "failed", cause: "timeout", text: "no answer" });
    }
    for (const [partition, offset] of watermarks) {
      this.#log.committed.set(partition, offset);
      this.#log.commits.push({ partition, offset });
    }
    return Promise.resolve({ outcome: "committed" });
  }

  committed(): Promise<ReadonlyMap<number, Offset | undefined>> {
    return this.#answer(
      () => new Map(this.#log.partitions.map((_log, index) => [index, this.#log.committed.get(index)])),
    );
  }

  bounds(): Promise<ReadonlyMap<number, BoundsAnswer>> {
    return this.#answer(
      () =>
        new Map(
          this.#log.partitions.map(({ logStart, end }, index) => [index, { known: true, logStart, end } as const]),
        ),
    );
  }

  offsetsAt(timestampMs: number): Promise<ReadonlyMap<number, Offset>> {
    return this.#answer(
      () =>
        new Map(
          this.#log.partitions.map(({ records, end }, index) => [
            index,
            records.find((record) => record.timestampMs >= timestampMs)?.offset ?? end,
          ]),
        ),
    );
  }

  identity(): Promise<TopicIdentity> {
    return this.#answer(() => {
      const { clusterId, partitions } = this.#log;
      return { clusterId, topic: "articles", partitions: this.metadataPartitions ?? partitions.length };
    });
  }

  retention(): Promise<TopicRetention> {
    return this.#answer(() => this.#log.retention);
  }

  /** Reads that were asked for, in order. */
  readonly reads: { readonly partition: number; readonly from: Offset }[] = [];

  read(partition: number, from: Offset): Promise<RecordRead> {
    this.reads.push({ partition, from });
    return this.#answer(() => {
      const { records, logStart, end } = this.#log.log(partition);
      if (from < logStart || from > end) return { read: "out-of-range" };
      const page = records.filter((record) => record.offset >= from).slice(0, this.#batchRecords);
      const last = page.at(-1);
      const more = last !== undefined && records.some((record) => record.offset > last.offset);
      const next = more ? last.offset + 1 : end;
      const at = { partition, assignmentEpoch: -1, fetchedAt: from, next, end, logStart };
      return { read: "records", batch: batchOf(page, at) };
    });
  }

  stop(): Promise<void> {
    this.stopped = true;
    this.#epoch += 1;
    return Promise.resolve();
  }

  #fetch(partition: number): void {
    const epoch = this.#epoch;
    queueMicrotask(() => {
      const state = this.#positions.get(partition);
      if (epoch !== this.#epoch || this.away || state?.flowing !== true) return;
      const { records, logStart, end } = this.#log.log(partition);
      const { position } = state;
      if (position < logStart || position > end) {
        state.flowing = false;
        this.#events?.fault({
          partition,
          assignmentEpoch: epoch,
          position,
          code: "out-of-range",
          text: "out of range",
        });
        return;
      }
      if (position === end) return;
      const page = records.filter((record) => record.offset >= position).slice(0, this.#batchRecords);
      const last = page.at(-1);
      const more = last !== undefined && records.some((record) => record.offset > last.offset);
      const next = more ? last.offset + 1 : end;
      state.position = next;
      const at = { partition, assignmentEpoch: epoch, fetchedAt: position, next, end, logStart };
      this.#events?.batch(batchOf(page, at));
      this.#fetch(partition);
    });
  }

  async #answer<T>(answer: () => T): Promise<T> {
    await Promise.resolve();
    if (this.away) throw new SourceFault("broker-unreachable", "connection refused");
    return answer();
  }
}
