import { expect, onTestFinished, vi } from "vitest";

import { createRecordSource, type RecordSourceOptions } from "../../../../consumers/kafka/index.ts";
import { systemClock } from "../../../../src/clock.ts";
import type { RecordBatch } from "../../../../src/ports/record-batch.ts";
import type {
  Assignment,
  FetchFault,
  RecordSource,
  SourceEvents,
  SourceState,
} from "../../../../src/ports/record-source.ts";
import { keepingLogger } from "./keeping-logger.ts";

const STOP_MS = 15_000;

/** One record as a test looks at it. */
export interface SeenRecord {
  readonly partition: number;
  readonly offset: number;
  readonly key: string | null;
  readonly value: string | null;
}

export type Start = (partition: number) => number | undefined;

/** A record source under test: begins every partition by itself and keeps everything that it is told. */
export class SourceProbe implements SourceEvents {
  readonly source: RecordSource;
  readonly logger = keepingLogger();
  readonly assignments: Assignment[] = [];
  readonly revokedEpochs: number[] = [];
  readonly rebalancings: number[] = [];
  readonly faults: FetchFault[] = [];
  readonly states: SourceState[] = [];
  readonly batches: RecordBatch[] = [];
  readonly records: SeenRecord[] = [];
  readonly #start: Start;
  /** Position by partition: what the next batch has to be fetched at. */
  readonly positions = new Map<number, number>();
  onBatch: (batch: RecordBatch) => void = () => undefined;
  onRebalancing: (epoch: number) => void = () => undefined;
  keepRecords = true;

  constructor(
    options: Pick<RecordSourceOptions, "brokers" | "topic" | "group"> & Partial<RecordSourceOptions>,
    start: Start = () => 0,
  ) {
    this.#start = start;
    const timings = { sessionTimeoutMs: 6_000, heartbeatMs: 500, metadataMaxAgeMs: 1_000, ...options.timings };
    const base = { clientId: "ysearch-test", clock: systemClock, logger: this.logger };
    this.source = createRecordSource({ ...base, ...options, timings });
    onTestFinished(async () => this.source.stop(STOP_MS));
  }

  get assignment(): Assignment | undefined {
    return this.assignments.at(-1);
  }

  get epoch(): number {
    return this.assignment?.epoch ?? -1;
  }

  run(): this {
    this.source.start(this);
    return this;
  }

  assigned(assignment: Assignment): void {
    this.assignments.push(assignment);
    this.positions.clear();
    for (const partition of assignment.partitions) {
      const at = this.#start(partition);
      if (at !== undefined) this.begin(partition, at);
    }
  }

  begin(partition: number, at: number): void {
    this.positions.set(partition, at);
    this.source.begin(this.epoch, partition, at);
  }

  revoked(epoch: number): void {
    this.revokedEpochs.push(epoch);
  }

  rebalancing(epoch: number): void {
    this.rebalancings.push(epoch);
    this.onRebalancing(epoch);
  }

  batch(batch: RecordBatch): void {
    expect(batch.assignmentEpoch).toBe(this.epoch);
    expect(batch.fetchedAt).toBe(this.positions.get(batch.partition));
    expect(batch.next).toBeGreaterThan(batch.fetchedAt);
    this.positions.set(batch.partition, batch.next);
    this.batches.push(batch);
    if (this.keepRecords) this.records.push(...recordsOf(batch));
    this.onBatch(batch);
  }

  fault(fault: FetchFault): void {
    this.faults.push(fault);
  }

  state(state: SourceState): void {
    this.states.push(state);
  }

  offsets(partition: number): number[] {
    return this.records.filter((record) => record.partition === partition).map((record) => record.offset);
  }

  async until(what: string, condition: () => boolean, timeout = 20_000): Promise<void> {
    await vi.waitFor(
      () => {
        if (condition()) return;
        const last = JSON.stringify({
          states: this.states.slice(-4),
          faults: this.faults,
          positions: [...this.positions],
        });
        throw new Error(`not yet: ${what}; ${last}; ${this.logger.lines.slice(-5).join(" | ")}`);
      },
      { timeout, interval: 20 },
    );
  }
}

export function recordsOf(batch: RecordBatch): SeenRecord[] {
  const text = (bytes: Uint8Array | null): string | null => (bytes === null ? null : Buffer.from(bytes).toString());
  return Array.from({ length: batch.count }, (_, index) => ({
    partition: batch.partition,
    offset: batch.offsetAt(index),
    key: text(batch.keyAt(index)),
    value: text(batch.valueAt(index)),
  }));
}

/** `[from, to)` as an array. */
export function span(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
}
