import { describe, expect, it } from "vitest";
import type { OrderedBytes } from "../../../src/core/cell.ts";
import { BatchCount } from "../../../src/core/counting/batch-count.ts";
import type { RowCounter } from "../../../src/core/counting/count-records.ts";
import type { SlotWrite } from "../../../src/core/counting/fold-tally.ts";
import { atOnce, type Steps } from "../../../src/core/steps.ts";
import { SlotCache } from "../../../src/core/counting/slot-cache.ts";
import { decodeSlot } from "../../../src/core/counting/slot.ts";
import { EMPTY_COUNTING_LEDGER } from "../../../src/core/ledger/counting-ledger.ts";

const prefix = { bytes: Uint8Array.of(7), hash: 7 };
const families = [{ name: "test", values: 1, wide: false, visitors: false }];
const view = {
  bytes: new Uint8Array(0),
  has: () => true,
  start: () => 0,
  end: () => 0,
  number: () => 0,
  high: () => 0,
  low: () => 0,
  negative: () => false,
};

/** Under revision r each record counts r; an empty value is a fault. */
function counterOf(revision: number): RowCounter {
  return {
    families,
    reader: { view, read: (value) => (value.length === 0 ? { code: "DECODE_TEST", text: "nothing" } : undefined) },
    count(_key, _timestampMs, _inputs, increments) {
      increments.open(prefix);
      increments.select(0);
      increments.add(0, revision);
      return undefined;
    },
  };
}

const row = (number: number, from: number, until: number, revision: number) => ({
  number,
  from,
  until,
  revision,
  openedAtMs: 0,
});
const ledger = {
  ...EMPTY_COUNTING_LEDGER,
  rows: [row(1, 0, 10, 1), row(2, 10, 20, 5), row(3, 30, 40, 5)],
  nextNumber: 4,
  listed: [1, 2, 3],
};

function columns(offsets: readonly number[], poison: readonly number[] = []) {
  return {
    count: offsets.length,
    offsetAt: (index: number) => offsets[index] ?? 0,
    timestampAt: () => 0,
    keyAt: () => null,
    valueAt: (index: number) => new Uint8Array(poison.includes(offsets[index] ?? 0) ? 0 : 1),
  };
}

function batchOf(offsets: readonly number[], poison: readonly number[] = [], then: "pass" | "stop" = "pass") {
  const faults: number[] = [];
  const steps = BatchCount.of(columns(offsets, poison), 0, {
    ledger,
    counterOf,
    suffixOf: (number) => Uint8Array.of(number),
    onFault: (index) => {
      faults.push(offsets[index] ?? -1);
      return then;
    },
  });
  return { batch: atOnce(steps), faults };
}

/** Row, total and offset of each write. */
function totals(writes: readonly SlotWrite[]) {
  return writes.map(({ key, ...cell }) => [key.at(-1), decodeSlot(cell).counters[0], decodeSlot(cell).offset]);
}

function fold(batch: BatchCount, cache: SlotCache, position: number, cells: readonly (OrderedBytes | undefined)[]) {
  const keys = atOnce(batch.bind(cache, position));
  const writes: SlotWrite[] = [];
  const counts = atOnce(batch.fold(cells, 1, writes));
  return { keys: keys.map((key) => [...key]), totals: totals(writes), ...counts };
}

describe("one batch", () => {
  it("counts each record under the row that covers it, and passes over what none does", () => {
    const { batch } = batchOf([8, 9, 10, 19, 25, 30]);
    expect([batch.end, batch.uncovered]).toEqual([6, 1]);
    expect(fold(batch, new SlotCache(1e6), 8, [undefined])).toEqual({
      keys: [[7, 1]],
      totals: [
        [1, 2n, 9],
        [2, 10n, 19],
        [3, 5n, 30],
      ],
      written: 3,
      skipped: 0,
    });
  });

  it("adds to what is stored, and to what the batch before has left in the cache", () => {
    const cache = new SlotCache(1e6);
    const writes: SlotWrite[] = [];
    const first = batchOf([8]).batch;
    atOnce(first.bind(cache, 8));
    atOnce(first.fold([undefined], 1, writes));
    const [{ order, bytes } = { order: 0, bytes: new Uint8Array(0) }] = writes;
    expect(fold(batchOf([9]).batch, cache, 9, []).totals).toEqual([[1, 2n, 9]]);
    expect(fold(batchOf([9]).batch, new SlotCache(1e6), 9, [{ order, bytes }]).totals).toEqual([[1, 2n, 9]]);
    const again = fold(batchOf([7, 8, 9]).batch, new SlotCache(1e6), 7, [{ order, bytes }]);
    expect([again.totals, again.skipped]).toEqual([[[1, 2n, 9]], 0]);
    expect(fold(batchOf([7, 8]).batch, new SlotCache(1e6), 7, [{ order, bytes }])).toMatchObject({
      written: 0,
      skipped: 1,
    });
  });

  it("stops before the record that it is told to, in whatever row", () => {
    const { batch, faults } = batchOf([9, 10, 11, 12, 30], [11, 30], "stop");
    expect([batch.end, faults]).toEqual([2, [11]]);
    expect(fold(batch, new SlotCache(1e6), 9, [undefined]).totals).toEqual([
      [1, 1n, 9],
      [2, 5n, 10],
    ]);
  });

  it("passes over dead letters, and is counted again without telling of them twice", () => {
    const { batch, faults } = batchOf([8, 9, 10], [9]);
    const stored = { order: 9, bytes: Uint8Array.of(1, 1, 1, 0) };
    expect(fold(batch, new SlotCache(1e6), 8, [stored])).toMatchObject({ skipped: 1, totals: [[2, 5n, 10]] });
    expect([batch.end, faults]).toEqual([3, [9]]);
  });

  it("may be bound again after a restore that failed, and is folded once", () => {
    const cache = new SlotCache(1e6);
    const { batch } = batchOf([8]);
    expect([atOnce(batch.bind(cache, 8)).length, atOnce(batch.bind(cache, 8)).length]).toEqual([1, 1]);
    atOnce(batch.fold([undefined], 1, []));
    expect(() => atOnce(batch.fold([undefined], 1, []))).toThrow("BATCH_UNBOUND");
  });

  it("of no records does nothing", () => {
    const { batch } = batchOf([]);
    expect([batch.end, fold(batch, new SlotCache(1e6), 8, [])]).toMatchObject([0, { keys: [], written: 0 }]);
  });

  it("whose record nobody has reserved is refused", () => {
    expect(() => batchOf([39, 40])).toThrow("LEDGER_UNCOVERED");
  });

  it("is done in pieces, whatever its size, and comes to the same", () => {
    const offsets = Array.from({ length: 10_000 }, (_, index) => index);
    const key = { bytes: Uint8Array.of(7), hash: 7 };
    const records = { ...columns(offsets), keyAt: (index: number) => Buffer.from(String(index)) };
    const steps = BatchCount.of(records, 0, {
      ledger: { ...ledger, rows: [row(1, 0, 10_000, 1)] },
      counterOf: (revision) => ({
        ...counterOf(revision),
        count(recordKey, _timestampMs, _inputs, increments) {
          increments.open(key);
          increments.part(recordKey ?? new Uint8Array(0), 0, recordKey?.length ?? 0);
          increments.select(0);
          increments.add(0, 1);
          return undefined;
        },
      }),
      suffixOf: () => Uint8Array.of(1),
      onFault: () => "stop",
    });
    const counted = pieces(steps);
    const cache = new SlotCache(1e9);
    const bound = pieces(counted.result.bind(cache, 5));
    const writes: SlotWrite[] = [];
    const folded = pieces(counted.result.fold(Array.from({ length: 10_000 }), 1, writes));
    expect([counted.count, bound.count, folded.count].every((count) => count >= 3)).toBe(true);
    expect([bound.result.length, writes.length, cache.size]).toEqual([10_000, 10_000, 10_000]);
    expect(totals(writes).every(([, total], index) => total === 1n && writes[index]?.order === index + 1)).toBe(true);
  });
});

function pieces<Result>(steps: Steps<Result>): { readonly result: Result; readonly count: number } {
  for (let count = 1; ; count += 1) {
    const step = steps.next();
    if (step.done === true) return { result: step.value, count };
  }
}
