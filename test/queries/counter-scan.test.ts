import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { slotKey, slotSuffix, trafficKey } from "../../src/core/counting/keys.ts";
import { encodeSlot } from "../../src/core/counting/slot.ts";
import { counterCursor, readCounterCursor } from "../../src/queries/counter-cursor.ts";
import { trafficQuestion } from "../../src/queries/counter-questions.ts";
import { type CounterScan, scanGroups } from "../../src/queries/counter-scan.ts";
import { MemoryPlane } from "../support/memory-plane.ts";

const HOUR = 3_600_000;
const counted = { source: "s", namespace: "n" };
const ask = {
  article: "a",
  metric: undefined,
  by: "slot",
  breakdown: false,
  fromMs: undefined,
  toMs: undefined,
} as const;
/** Rows 1 and 2 are summed. */
const rows: CounterScan<never>["rows"] = {
  learned: 1,
  knew: () => true,
  learn: () => Promise.resolve(),
  rowOf: ({ row: number, partition, log }) =>
    number > 2 ? undefined : { partition, log, number, from: 0, until: 100, revision: 1, openedAtMs: 0 },
};

interface Share {
  readonly metric: string;
  readonly hour: number;
  readonly row: number;
  readonly count: bigint;
}

/** A plane whose pages have few cells. */
async function planeOf(shares: readonly Share[], pageCells: number): Promise<MemoryPlane> {
  const plane = new MemoryPlane();
  await plane.write(
    shares.map(({ metric, hour, row, count }) => ({
      space: "slot",
      key: slotKey(trafficKey("n", "a", metric, hour * HOUR), slotSuffix({ source: "s", partition: 0, log: 0, row })),
      ...encodeSlot({ offset: 1, counters: [count], visitors: undefined }),
    })),
  );
  const scan = plane.scan.bind(plane);
  plane.scan = (range) => scan({ ...range, limit: Math.min(range.limit, pageCells) });
  return plane;
}

describe("a scan", () => {
  const share = fc.record({
    metric: fc.constantFrom("a", "b", "cc"),
    hour: fc.integer({ min: -30, max: 60 }),
    row: fc.constantFrom(1, 2, 3),
    count: fc.bigInt({ min: 1n, max: 9n }),
  });
  const shares = fc.uniqueArray(share, {
    maxLength: 40,
    selector: ({ metric, hour, row }) => `${metric} ${hour} ${row}`,
  });
  const hours = fc.integer({ min: -40, max: 70 });

  it("answers every group once and undivided, however its work is bounded", async () => {
    const bounds = fc.record({
      pageCells: fc.integer({ min: 1, max: 7 }),
      groupsMax: fc.integer({ min: 1, max: 5 }),
      cells: fc.integer({ min: 1, max: 12 }),
    });
    const span = fc.record({ from: hours, to: hours, by: fc.constantFrom("slot" as const, "day" as const) });
    await fc.assert(
      fc.asyncProperty(shares, bounds, span, async (all, { pageCells, groupsMax, cells }, { from, to, by }) => {
        const plane = await planeOf(all, pageCells);
        const { scan } = trafficQuestion(counted, { ...ask, by, fromMs: from * HOUR, toMs: to * HOUR });
        const found: string[] = [];
        let start: Uint8Array | undefined;
        let pages = 0;
        do {
          const page = await scanGroups(plane, { ...scan, rows, start, groupsMax, budget: { cells } });
          expect(page.items.length).toBeLessThanOrEqual(groupsMax);
          found.push(...page.items.map(({ metric, startMs, count }) => `${metric} ${startMs} ${count}`));
          if (start !== undefined && page.next !== undefined) expect(Buffer.compare(page.next, start)).toBe(1);
          start = page.next;
          pages += 1;
        } while (start !== undefined && pages < 200);
        const width = by === "slot" ? HOUR : 24 * HOUR;
        const sums = new Map<string, bigint>();
        for (const { metric, hour, row, count } of all) {
          if (row === 3 || hour < from || hour >= to) continue;
          const name = `${metric} ${Math.floor((hour * HOUR) / width) * width}`;
          sums.set(name, (sums.get(name) ?? 0n) + count);
        }
        expect(found.toSorted()).toEqual([...sums].map(([name, sum]) => `${name} ${sum}`).toSorted());
      }),
      { numRuns: 300 },
    );
  }, 20_000);

  it("that ends for its work goes on at the beginning of the group that it was in", async () => {
    const hours24 = Array.from({ length: 24 }, (_, hour) => ({ metric: "b", hour, row: 1, count: 1n }));
    const plane = await planeOf([{ metric: "a", hour: 0, row: 1, count: 5n }, ...hours24], 4);
    const { scan } = trafficQuestion(counted, { ...ask, by: "day" });
    const first = await scanGroups(plane, { ...scan, rows, start: undefined, groupsMax: 9, budget: { cells: 6 } });
    expect(first.items.map(({ metric, count }) => [metric, count])).toEqual([["a", 5n]]);
    const second = await scanGroups(plane, { ...scan, rows, start: first.next, groupsMax: 9, budget: { cells: 6 } });
    expect(second.items.map(({ metric, count }) => [metric, count])).toEqual([["b", 24n]]);
  });

  it("jumps over what lies outside of the span, metric by metric", async () => {
    const metrics = Array.from({ length: 10 }, (_, index) => `m${index}`);
    const all = metrics.flatMap((metric) =>
      Array.from({ length: 100 }, (_, hour) => ({ metric, hour, row: 1, count: 1n })),
    );
    const plane = await planeOf(all, 5);
    const { scan } = trafficQuestion(counted, { ...ask, fromMs: 50 * HOUR, toMs: 52 * HOUR });
    const budget = { cells: 1_000 };
    const { items, next } = await scanGroups(plane, { ...scan, rows, start: undefined, groupsMax: 1_000, budget });
    expect([items.length, next]).toEqual([20, undefined]);
    // Of each metric a page before the span and one within it.
    expect(1_000 - budget.cells).toBeLessThanOrEqual(100);
  });

  it("that has used up what it shares with others reads nothing, and can be gone on with", async () => {
    const plane = await planeOf([{ metric: "a", hour: 1, row: 1, count: 3n }], 5);
    const { scan } = trafficQuestion(counted, ask);
    plane.away = true;
    const { items, next } = await scanGroups(plane, {
      ...scan,
      rows,
      start: undefined,
      groupsMax: 9,
      budget: { cells: 0 },
    });
    expect([items, next]).toEqual([[], scan.range.from]);
    plane.away = false;
    const rest = await scanGroups(plane, { ...scan, rows, start: next, groupsMax: 9, budget: { cells: 1 } });
    expect(rest.items.map(({ count }) => count)).toEqual([3n]);
  });
});

it("a cursor is of its question alone", () => {
  const day = trafficQuestion(counted, { ...ask, by: "day" });
  const hour = trafficQuestion(counted, { ...ask, by: "hour" });
  const key = trafficKey("n", "a", "view", 5 * HOUR);
  const cursor = counterCursor(hour.text, key);
  expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
  expect([...readCounterCursor(hour.text, cursor, hour.scan.range)]).toEqual([...key]);
  const other = trafficQuestion(counted, { ...ask, by: "hour", article: "b" });
  for (const [text, range] of [
    [day.text, day.scan.range],
    [hour.text, other.scan.range],
  ] as const) {
    expect(() => readCounterCursor(text, cursor, range)).toThrow(expect.objectContaining({ code: "CURSOR_UNKNOWN" }));
  }
  expect(() => readCounterCursor(hour.text, "AAA", hour.scan.range)).toThrow("no cursor");
});
