import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { calibrate } from "../../../src/core/counting/calibration.ts";
import { actionKey, slotKey, slotSuffix, trafficKey } from "../../../src/core/counting/keys.ts";
import { actionsBy, asOf, listedSlots, readSlotKey, trafficBy } from "../../../src/core/counting/reading.ts";
import { VisitorSketch } from "../../../src/core/counting/sketch.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const owner = { source: "s", partition: 3, log: 1, row: 7 };

function sketch(...visitors: number[]): VisitorSketch {
  const made = new VisitorSketch();
  for (const visitor of visitors) made.add(0, visitor);
  return made;
}

const slot = (startMs: number, count: bigint, visitors?: VisitorSketch) => ({ startMs, counters: [count], visitors });

describe("traffic", () => {
  const slots = [
    slot(DAY, 5n, sketch(1, 2)),
    slot(DAY, 3n, sketch(2, 3)),
    slot(DAY + HOUR / 2, 1n, sketch(1)),
    slot(DAY + 23 * HOUR, 2n, sketch(9)),
    slot(0, 7n, sketch(1)),
  ];

  it("is summed by slot, hour and day, with the visitors of the union", () => {
    const sums = (by: "slot" | "hour" | "day") =>
      trafficBy(by, slots).map(({ startMs, count, visitors }) => [startMs, count, visitors]);
    expect(sums("slot")).toEqual([
      [0, 7n, 1],
      [DAY, 8n, 3],
      [DAY + HOUR / 2, 1n, 1],
      [DAY + 23 * HOUR, 2n, 1],
    ]);
    expect(sums("hour")).toEqual([
      [0, 7n, 1],
      [DAY, 9n, 3],
      [DAY + 23 * HOUR, 2n, 1],
    ]);
    expect(sums("day")).toEqual([
      [0, 7n, 1],
      [DAY, 11n, 4],
    ]);
    expect(trafficBy("day", [slot(-1, 1n)]).map(({ startMs }) => startMs)).toEqual([-DAY]);
    expect(trafficBy("day", [])).toEqual([]);
  });

  it("says when only some of it knows its visitors", () => {
    const [mixed] = trafficBy("day", [slot(0, 1n), slot(HOUR, 1n, sketch(4))]);
    expect(mixed).toEqual({ startMs: 0, count: 2n, visitors: 1, visitorsPartial: true });
    expect(trafficBy("day", [slot(0, 1n)])).toEqual([
      { startMs: 0, count: 1n, visitors: undefined, visitorsPartial: false },
    ]);
  });

  it("is the same whatever order the slots come in, and adds up across spans", () => {
    const some = fc.array(fc.tuple(fc.integer({ min: -99, max: 99 }), fc.bigInt({ min: 0n, max: 2n ** 60n })), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(some, (list) => {
        const made = list.map(([hour, count]) => slot(hour * HOUR, count));
        const total = list.reduce((sum, [, count]) => sum + count, 0n);
        for (const by of ["slot", "hour", "day"] as const) {
          expect(trafficBy(by, made.toReversed())).toEqual(trafficBy(by, made));
          expect(trafficBy(by, made).reduce((sum, { count }) => sum + count, 0n)).toBe(total);
        }
      }),
    );
  });
});

describe("what a reader sums", () => {
  it("is the slots of listed rows: not those of a recount under way, nor of another log", () => {
    const at = (row: number, log = 0, partition = 0) => ({
      counters: [1n],
      visitors: undefined,
      owner: { source: "s", partition, log, row },
    });
    const all = [at(1), at(2), at(1, 1), at(1, 0, 4)];
    expect(
      listedSlots(all, [
        { partition: 0, log: 0, row: 1 },
        { partition: 4, log: 0, row: 1 },
      ]),
    ).toEqual([all[0], all[3]]);
  });

  it("is right when a key has moved to a new partition: nothing moves between slots", () => {
    const at = (partition: number, count: bigint) => ({
      startMs: 0,
      counters: [count],
      visitors: undefined,
      owner: { source: "s", partition, log: 0, row: 1 },
    });
    const rows = [1, 4].map((partition) => ({ partition, log: 0, row: 1 }));
    expect(trafficBy("slot", listedSlots([at(1, 7n), at(4, 2n)], rows))[0]?.count).toBe(9n);
  });

  it("reaches as far as the copies say, and says where that is not known", () => {
    expect(
      asOf(
        [0, 1, 2],
        new Map([
          [0, 42],
          [1, undefined],
        ]),
      ),
    ).toEqual([
      { partition: 0, known: true, offset: 42 },
      { partition: 1, known: false, cause: "nothing of the partition was applied yet" },
      { partition: 2, known: false, cause: "its copy could not be read" },
    ]);
  });

  it("of ad actions adds up by member, pairs of other buckets included", () => {
    const pair = (member: string | number, ...counters: bigint[]) => ({ member, counters });
    expect(actionsBy([pair("b", 1n, 0n), pair("", 2n, 1n), pair("b", 4n, 2n, 9n, 9n)])).toEqual([
      { member: "", impressions: 2n, clicks: 1n },
      { member: "b", impressions: 5n, clicks: 2n },
    ]);
    expect(actionsBy([pair(10 * HOUR, 1n, 0n), pair(9 * HOUR, 1n, 1n)]).map(({ member }) => member)).toEqual([
      9 * HOUR,
      10 * HOUR,
    ]);
  });
});

describe("the key of a slot", () => {
  const suffix = slotSuffix(owner);
  it.each([
    [trafficKey("n", "ä", "view", -HOUR), { kind: "traffic", article: "ä", metric: "view", startMs: -HOUR, owner }],
    [
      actionKey("n", "c", "campaign", undefined),
      { kind: "actions", campaign: "c", rollup: "campaign", member: undefined, owner },
    ],
    [actionKey("n", "c", "site", ""), { kind: "actions", campaign: "c", rollup: "site", member: "", owner }],
    [actionKey("n", "c", "hour", DAY), { kind: "actions", campaign: "c", rollup: "hour", member: DAY, owner }],
  ])("is read back", (counter, expected) => {
    const key = slotKey(counter, suffix);
    expect(readSlotKey(key)).toEqual(expected);
    for (let length = 0; length < key.length; length += 1) expect(() => readSlotKey(key.subarray(0, length))).toThrow();
    expect(() => readSlotKey(Uint8Array.of(...key, 0))).toThrow("left over");
  });
});

describe("calibration", () => {
  const edges = [0.1];
  /** Impressions, clicks, scores of both; then of each bucket impressions, clicks, scores. */
  const slots = [
    { edges, counters: [10n, 2n, 1_500_000_000n, 250_000_000n, 6n, 1n, 300_000_000n, 3n, 1n, 1_200_000_000n] },
    { edges, counters: [1n, 0n, 50_000_000n, 0n, 1n, 0n, 50_000_000n, 0n, 0n, 0n] },
  ];

  it("compares clicks with what was predicted, in all and by bucket", () => {
    expect(calibrate(slots)).toEqual({
      impressions: 11n,
      clicks: 2n,
      scoredImpressions: 10n,
      scoredClicks: 2n,
      impressionScores: 1_550_000_000n,
      clickScores: 250_000_000n,
      ratio: 2 / 1.55,
      tables: [
        {
          edges,
          buckets: [
            { from: 0, to: 0.1, impressions: 7n, clicks: 1n, predictedClicks: 350_000_000n, ratio: 1 / 0.35 },
            { from: 0.1, to: 1, impressions: 3n, clicks: 1n, predictedClicks: 1_200_000_000n, ratio: 1 / 1.2 },
          ],
        },
      ],
    });
  });

  it("keeps buckets of other edges apart, and adds up what does not depend on them", () => {
    const other = { edges: [], counters: [5n, 1n, 500_000_000n, 100_000_000n, 5n, 1n, 500_000_000n] };
    const all = calibrate([...slots, other]);
    expect([all.impressions, all.scoredImpressions, all.tables.map((table) => table.edges)]).toEqual([
      16n,
      15n,
      [edges, []],
    ]);
    expect(() => calibrate([{ edges: [0.1, 0.2], counters: other.counters }])).toThrow("SLOT_SHAPE");
  });

  it("of nothing is nothing", () => {
    expect(calibrate([])).toMatchObject({ impressions: 0n, ratio: undefined, tables: [] });
    expect(calibrate([{ edges: [], counters: [1n, 0n, 0n, 0n, 0n, 0n, 0n] }]).ratio).toBeUndefined();
  });

  it("is exact past 2^53", () => {
    const large = 2n ** 70n;
    const sums = calibrate([{ edges: [], counters: [large, 0n, large + 1n, 0n, large, 0n, large + 1n] }]);
    expect([sums.impressions, sums.scoredImpressions, sums.impressionScores]).toEqual([large, large, large + 1n]);
  });
});
