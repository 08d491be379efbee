import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OrderedBytes } from "../../../src/core/cell.ts";
import { HASH_SEED, hashByte } from "../../../src/core/counting/byte-table.ts";
import { countAgain, countRecords, indexAtOrAbove, type RowCounter } from "../../../src/core/counting/count-records.ts";
import { atOnce } from "../../../src/core/steps.ts";
import { TallyFold, type SlotWrite } from "../../../src/core/counting/fold-tally.ts";
import { segmentsOf } from "../../../src/core/counting/segments.ts";
import { SlotCache } from "../../../src/core/counting/slot-cache.ts";
import { decodeSlot } from "../../../src/core/counting/slot.ts";
import { Tally } from "../../../src/core/counting/tally.ts";
import { EMPTY_COUNTING_LEDGER } from "../../../src/core/ledger/counting-ledger.ts";

/** A record: its offset, and what it counts under which keys. Value bytes are the keys; the visitor is the offset. */
interface Event {
  readonly offset: number;
  readonly keys: readonly number[];
}

const families = [{ name: "test", values: 1, wide: false, visitors: true }];
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

/** Counts each byte of the value; byte 0 is a fault. The record's timestamp is its offset. */
function counter(): RowCounter {
  let value = new Uint8Array(0);
  return {
    families,
    reader: {
      view,
      read(given) {
        value = Uint8Array.from(given);
        return value.includes(0) ? { code: "DECODE_TEST", text: "a zero" } : undefined;
      },
    },
    count(_key, timestampMs, _inputs, increments) {
      for (const byte of value) {
        increments.open({ bytes: Uint8Array.of(byte), hash: hashByte(HASH_SEED, byte) });
        increments.select(0);
        increments.add(0, 1);
        increments.visitor(0, timestampMs);
      }
      return undefined;
    },
  };
}

function columns(events: readonly Event[]) {
  return {
    count: events.length,
    offsetAt: (index: number) => events[index]?.offset ?? 0,
    timestampAt: (index: number) => events[index]?.offset ?? 0,
    keyAt: () => null,
    valueAt: (index: number) => Uint8Array.from(events[index]?.keys ?? []),
  };
}

/** A store and a runner's cache before it. */
class Store {
  readonly cells = new Map<string, OrderedBytes>();
  cache: SlotCache;
  seq = 0;
  skipped = 0;
  again = 0;
  restored = 0;

  constructor(maxBytes = 1e6) {
    this.cache = new SlotCache(maxBytes);
  }

  count(events: readonly Event[], row = 1): void {
    const records = columns(events);
    const rules = counter();
    const tally = new Tally(families);
    countRecords(records, 0, records.count, rules, tally, () => "pass");
    const fold = new TallyFold(tally, row, Uint8Array.of(row), this.cache);
    const keys: Uint8Array[] = [];
    atOnce(fold.find(keys));
    const unknown = keys.map((key) => Buffer.from(key).toString("hex"));
    this.restored += unknown.length;
    const cells = unknown.map((key) => this.cells.get(key));
    fold.restored(cells, 0);
    const after = fold.behind();
    if (after !== undefined) {
      this.again += 1;
      countAgain(records, { from: 0, to: records.count }, rules, tally, after);
    }
    this.seq += 1;
    const writes: SlotWrite[] = [];
    this.skipped += atOnce(fold.fold(this.seq, writes)).skipped;
    for (const { key, order, bytes } of writes) this.cells.set(Buffer.from(key).toString("hex"), { order, bytes });
    this.cache.acked(this.seq);
    this.cache.trim();
  }

  /** By key: total, distinct visitors, offset. */
  slots(row = 1): Record<number, readonly [number, number, number]> {
    const slots: Record<number, readonly [number, number, number]> = {};
    for (const [key, cell] of this.cells) {
      const [byte = 0, of] = Buffer.from(key, "hex");
      if (of !== row) continue;
      const { counters, visitors, offset } = decodeSlot(cell);
      slots[byte] = [Number(counters[0]), visitors?.estimate() ?? -1, offset];
    }
    return slots;
  }
}

const events = fc
  .array(
    fc.record({
      gap: fc.integer({ min: 1, max: 3 }),
      keys: fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 3 }),
    }),
    {
      maxLength: 40,
    },
  )
  .map((list) => {
    let offset = -1;
    return list.map(({ gap, keys }): Event => ({ offset: (offset += gap), keys }));
  });

function cut(list: readonly Event[], sizes: readonly number[]): Event[][] {
  const batches: Event[][] = [];
  let at = 0;
  for (const size of [...sizes, list.length]) {
    batches.push(list.slice(at, at + size));
    at += size;
  }
  return batches;
}

const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 9 });

describe("counting a log", () => {
  it("gives the same bytes however it is cut into batches and whatever is evicted", () => {
    fc.assert(
      fc.property(events, sizes, fc.constantFrom(0, 400, 1e6), (list, at, maxBytes) => {
        const whole = new Store();
        whole.count(list);
        const pieces = new Store(maxBytes);
        for (const batch of cut(list, at)) pieces.count(batch);
        expect(pieces.cells).toEqual(whole.cells);
      }),
    );
  });

  it("again, from anywhere and cut otherwise, changes nothing", () => {
    fc.assert(
      fc.property(events, sizes, sizes, fc.nat({ max: 40 }), (list, at, otherwise, from) => {
        const store = new Store();
        for (const batch of cut(list, at)) store.count(batch);
        const before = new Map(store.cells);
        store.cache.drop();
        for (const batch of cut(list.slice(from), otherwise)) store.count(batch);
        expect(store.cells).toEqual(before);
      }),
    );
  });

  it("goes on in the middle of a batch after a crash between the writes of two slots", () => {
    fc.assert(
      fc.property(events, fc.nat({ max: 40 }), fc.array(fc.boolean(), { maxLength: 8 }), (list, half, lost) => {
        const whole = new Store();
        whole.count(list);
        const torn = new Store();
        torn.count(list.slice(0, half));
        const cells = [...torn.cells];
        for (const [index, [key]] of cells.entries()) if (lost[index] === true) torn.cells.delete(key);
        torn.cache.drop();
        torn.count(list);
        expect(torn.cells).toEqual(whole.cells);
      }),
    );
  });

  it("counts a record once under each key, adds visitors once, and nothing of a fault", () => {
    const store = new Store();
    store.count([
      { offset: 3, keys: [1, 2] },
      { offset: 5, keys: [1, 0] },
      { offset: 9, keys: [1, 1] },
    ]);
    expect(store.slots()).toEqual({ 1: [3, 2, 9], 2: [1, 1, 3] });
  });

  it("counts again only for a slot that holds some of a batch", () => {
    const store = new Store();
    const list = [1, 2, 3, 4].map((offset): Event => ({ offset, keys: offset === 4 ? [1, 2] : [1] }));
    store.count(list.slice(0, 2));
    store.cache.drop();
    store.count(list);
    expect([store.again, store.slots()]).toEqual([1, { 1: [4, 4, 4], 2: [1, 1, 4] }]);
    store.cache.drop();
    store.count(list);
    expect([store.again, store.skipped]).toEqual([1, 2]);
  });
});

describe("the cache", () => {
  const event = (offset: number, ...keys: number[]): Event => ({ offset, keys });

  it("restores nothing of a row that is counted from its first record on, until something of it is evicted", () => {
    const store = new Store();
    store.cache.meet({ number: 1, from: 10 }, 10);
    store.count([event(10, 1, 2)]);
    store.count([event(11, 1, 3)]);
    expect(store.restored).toBe(0);
    store.cache.trim(0);
    store.cache.trim(0);
    expect(store.cache.size).toBe(0);
    store.count([event(12, 1, 4)]);
    expect([store.restored, store.slots()[1]]).toEqual([2, [3, 3, 12]]);
  });

  it("restores all of a row that it meets half way, also when it read below the row before", () => {
    const store = new Store();
    store.count([event(10, 1)]);
    store.cache.drop();
    store.cache.meet({ number: 1, from: 10 }, 11);
    store.cache.meet({ number: 1, from: 10 }, 10);
    store.count([event(11, 1)]);
    expect([store.restored, store.slots()]).toEqual([2, { 1: [2, 2, 11] }]);
  });

  it("keeps what is not at W, whatever is asked of it, and counts its bytes", () => {
    const cache = new SlotCache(0);
    const rules = counter();
    const tally = new Tally(families);
    countRecords(columns([event(1, 1), event(2, 2)]), 0, 2, rules, tally, () => "pass");
    const fold = new TallyFold(tally, 1, Uint8Array.of(1), cache);
    atOnce(fold.find([]));
    fold.restored([undefined, undefined], 0);
    const before = cache.byteLength;
    atOnce(fold.fold(7, []));
    expect(cache.byteLength).toBeGreaterThan(before + 2 * 40);
    for (let round = 0; round < 5; round += 1) cache.trim();
    expect(cache.size).toBe(2);
    cache.acked(6);
    cache.trim();
    expect(cache.size).toBe(2);
    cache.acked(7);
    for (let round = 0; round < 2; round += 1) cache.trim();
    expect(cache.size).toBe(0);
  });

  it("stays within its bounds", () => {
    const store = new Store(20_000);
    for (let offset = 0; offset < 3_000; offset += 1) {
      store.count([event(offset, 1 + (offset % 5), 10 + (offset % 240))]);
      expect(store.cache.byteLength).toBeLessThan(25_000);
    }
    expect(store.slots()[1]?.[0]).toBe(600);
    expect(store.restored).toBeGreaterThan(240);
  });

  it("tells the slots of two rows apart", () => {
    const store = new Store();
    store.count([event(1, 1)], 1);
    store.count([event(2, 1)], 2);
    expect([store.slots(1), store.slots(2)]).toEqual([{ 1: [1, 1, 1] }, { 1: [1, 1, 2] }]);
  });
});

describe("a batch", () => {
  const row = (number: number, from: number, until: number) => ({ number, from, until, revision: 1, openedAtMs: 0 });
  const ledger = { ...EMPTY_COUNTING_LEDGER, rows: [row(1, 0, 10), row(2, 10, 20), row(3, 30, 40)], nextNumber: 4 };
  const list = [8, 9, 10, 19, 20, 29, 30].map((offset): Event => ({ offset, keys: [] }));

  it("is cut where rows end; what no row covers is passed over", () => {
    const found = segmentsOf(ledger, columns(list), 1);
    expect(found.map(({ row: of, from, to }) => [of?.number, from, to])).toEqual([
      [1, 1, 2],
      [2, 2, 4],
      [undefined, 4, 6],
      [3, 6, 7],
    ]);
    expect(segmentsOf(ledger, columns(list), 7)).toEqual([]);
    expect(() => segmentsOf(ledger, columns([{ offset: 40, keys: [] }]), 0)).toThrow("LEDGER_UNCOVERED");
  });

  it("begins at an offset or behind a hole", () => {
    expect([0, 9, 11, 30, 31].map((offset) => indexAtOrAbove(columns(list), offset))).toEqual([0, 1, 3, 6, 7]);
  });

  it("ends before the record that it is to stop at", () => {
    const tally = new Tally(families);
    const faults: number[] = [];
    const records = columns([8, 9, 10].map((offset) => ({ offset, keys: offset === 9 ? [0] : [1] })));
    const ended = countRecords(records, 0, 3, counter(), tally, (index) => {
      faults.push(index);
      return "stop";
    });
    expect([ended, faults, tally.size, tally.sum(0, 0)]).toEqual([1, [1], 1, 1]);
  });
});
