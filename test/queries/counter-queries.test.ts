import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRecord, updateRecord } from "../../src/control/json-record.ts";
import { BindingRecord, recordNames, RevisionRecord } from "../../src/control/records.ts";
import { actionKey, slotKey, slotSuffix, trafficKey } from "../../src/core/counting/keys.ts";
import { VisitorSketch } from "../../src/core/counting/sketch.ts";
import { encodeSlot } from "../../src/core/counting/slot.ts";
import { copyKey } from "../../src/core/keys.ts";
import { encodeCopy } from "../../src/core/partition/copy.ts";
import { DEFAULT_COUNTING_OF_SOURCE, type SourceDefinition } from "../../src/core/source.ts";
import { CountingLedgers } from "../../src/ledgers/counting-ledgers.ts";
import { CountedRows } from "../../src/queries/counted-rows.ts";
import { trafficQuestion } from "../../src/queries/counter-questions.ts";
import { scanGroups } from "../../src/queries/counter-scan.ts";
import { COUNTERS_KEY_PAGE_MAX, CounterReader } from "../../src/queries/counter-queries.ts";
import { definition } from "../support/fleet-world.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { MemoryPlane } from "../support/memory-plane.ts";

const HOUR = 3_600_000;

interface Share {
  readonly key: Uint8Array;
  readonly partition?: number;
  readonly row?: number;
  readonly offset?: number;
  readonly counters: readonly bigint[];
  readonly visitors?: VisitorSketch;
}

/** Two counting sources of two partitions each, whose ledgers and slots a test writes. */
class CounterWorld {
  readonly plane = new MemoryPlane();
  readonly ledgers = new CountingLedgers(this.plane.control);
  readonly sources: SourceDefinition[] = [
    { ...definition, name: "beacons", namespace: "seen", kind: "traffic" },
    { ...definition, name: "ads", namespace: "ads", kind: "ad_actions" },
  ];
  readonly reader: CounterReader;

  constructor() {
    const services = () => this.sources.map((entry) => ({ parts: { inForce: { definition: entry } } })) as never;
    this.reader = new CounterReader({ phase: "serving", services }, this.plane, new ManualClock());
  }

  async bind(source: string): Promise<void> {
    const epochs = [{ epoch: 0, partitions: 2 }];
    const record = { clusterId: "c", topic: "t", epochs, firstStart: "earliest" as const };
    await createRecord(this.plane.control, recordNames.binding(source), BindingRecord, record);
  }

  /** Rows of partitions 0 and 1, all of them closed but the last; `listed` is what readers sum. */
  async rows(source: string, partition: number, listed: readonly number[], revisions = [1, 1, 1]): Promise<void> {
    await this.ledgers.update({ source, partition, log: 0 }, (ledger) => ({
      ...ledger,
      rows: revisions.map((revision, index) => ({
        number: index + 1,
        from: index * 100,
        until: (index + 1) * 100,
        revision,
        openedAtMs: 0,
      })),
      nextNumber: revisions.length + 1,
      listed: [...listed],
    }));
  }

  async put(source: string, shares: readonly Share[]): Promise<void> {
    await this.plane.write(
      shares.map(({ key, partition = 0, row = 1, offset = 5, counters, visitors }) => ({
        space: "slot",
        key: slotKey(key, slotSuffix({ source, partition, log: 0, row })),
        ...encodeSlot({ offset, counters, visitors }),
      })),
    );
  }
}

async function newWorld(): Promise<CounterWorld> {
  const world = new CounterWorld();
  for (const source of ["beacons", "ads"]) {
    await world.bind(source);
    for (const partition of [0, 1]) await world.rows(source, partition, [1, 2, 3]);
  }
  return world;
}

const ask = {
  article: "a",
  namespace: undefined,
  metric: undefined,
  fromMs: undefined,
  toMs: undefined,
  by: "slot",
  breakdown: false,
} as const;
const view = (article: string, hour: number, metric = "view") => trafficKey("seen", article, metric, hour * HOUR);

function sketchOf(...hashes: readonly number[]): VisitorSketch {
  const sketch = new VisitorSketch();
  for (const hash of hashes) sketch.add(hash, hash);
  return sketch;
}

describe("traffic", () => {
  it("sums the slots of listed rows over partitions, by span, and unites visitors", async () => {
    const world = await newWorld();
    await world.rows("beacons", 1, [2]);
    await world.put("beacons", [
      { key: view("a", 0), counters: [5n], visitors: sketchOf(1 << 8, 2 << 8) },
      { key: view("a", 0), row: 2, counters: [1n], visitors: sketchOf(2 << 8) },
      { key: view("a", 0), partition: 1, row: 1, counters: [100n] },
      { key: view("a", 0), partition: 1, row: 2, counters: [2n ** 60n], visitors: sketchOf(3 << 8) },
      { key: view("a", 1), counters: [7n] },
      { key: view("a", 25, "click"), counters: [3n] },
      { key: view("ab", 0), counters: [1_000n] },
    ]);
    const { items, source, namespace, next } = await world.reader.traffic(ask);
    expect([source, namespace, next]).toEqual(["beacons", "seen", undefined]);
    expect(items.map(({ metric, startMs, count }) => [metric, startMs / HOUR, count])).toEqual([
      ["view", 0, 2n ** 60n + 6n],
      ["view", 1, 7n],
      ["click", 25, 3n],
    ]);
    expect(Math.round(items[0]?.visitors ?? 0)).toBe(3);
    const days = await world.reader.traffic({ ...ask, by: "day", metric: "view" });
    expect(days.items.map(({ count }) => count)).toEqual([2n ** 60n + 13n]);
    const hour = await world.reader.traffic({ ...ask, metric: "view", fromMs: HOUR, toMs: 2 * HOUR });
    expect(hour.items.map(({ count }) => count)).toEqual([7n]);
    const sameWithout = await world.reader.traffic({ ...ask, fromMs: HOUR, toMs: 2 * HOUR });
    expect(sameWithout.items.map(({ count }) => count)).toEqual([7n]);
  });

  it("says how far it goes, and shows each row's share", async () => {
    const world = await newWorld();
    const copy = encodeCopy({ watermark: 77, fingerprint: undefined, logStartSeen: 0 });
    await world.plane.write([{ space: "copy", key: copyKey("beacons", 0, 1), ...copy }]);
    await world.put("beacons", [{ key: view("a", 0), partition: 1, row: 2, offset: 140, counters: [4n] }]);
    const { items, asOf } = await world.reader.traffic({ ...ask, breakdown: true });
    expect(asOf).toEqual([
      { partition: 0, known: false, cause: "nothing of the partition was applied yet" },
      { partition: 1, known: true, offset: 77 },
    ]);
    expect(items[0]?.slots).toEqual([
      { partition: 1, log: 0, row: 2, from: 100, until: 200, revision: 1, offset: 140, startMs: 0, counters: [4n] },
    ]);
  });

  it("never adds rows of before and after an exchange", async () => {
    const world = await newWorld();
    await world.put("beacons", [
      { key: view("a", 0), row: 1, counters: [10n] },
      { key: view("a", 0), row: 2, counters: [11n] },
    ]);
    await world.rows("beacons", 0, [1]);
    let exchanged = false;
    const scan = world.plane.scan.bind(world.plane);
    world.plane.scan = async (range) => {
      const page = await scan(range);
      if (!exchanged) {
        exchanged = true;
        await world.rows("beacons", 0, [2]);
      }
      return page;
    };
    expect((await world.reader.traffic(ask)).items.map(({ count }) => count)).toEqual([11n]);
    world.plane.scan = async (range) => {
      const page = await scan(range);
      await world.rows("beacons", 0, [exchanged ? 1 : 2]);
      exchanged = !exchanged;
      return page;
    };
    await expect(world.reader.traffic(ask)).rejects.toMatchObject({ code: "COUNTERS_CHANGING" });
  });

  it("counts slots only that were read after it was known which rows are summed, though another read learned that", async () => {
    const world = await newWorld();
    await world.put("beacons", [{ key: view("a", 0), row: 1, counters: [10n] }]);
    const rows = await CountedRows.open(world.plane, "beacons");
    const before = rows.learned;
    await rows.learn([0]);
    expect([rows.knew(0, before), rows.knew(0, rows.learned), rows.knew(1, rows.learned)]).toEqual([
      false,
      true,
      false,
    ]);
    let pages = 0;
    const scan = world.plane.scan.bind(world.plane);
    world.plane.scan = async (range) => {
      pages += 1;
      const page = await scan(range);
      await fresh.learn([0]);
      return page;
    };
    const fresh = await CountedRows.open(world.plane, "beacons");
    const question = trafficQuestion({ source: "beacons", namespace: "seen" }, ask);
    const bounds = { rows: fresh, start: undefined, groupsMax: 9, budget: { cells: 99 } };
    const { items } = await scanGroups(world.plane, { ...question.scan, ...bounds });
    expect([items.map(({ count }) => count), pages]).toEqual([[10n], 2]);
  });

  it("is paged by whole spans, each once, whatever the page", async () => {
    const world = await newWorld();
    const hours = Array.from({ length: 2 * COUNTERS_KEY_PAGE_MAX + 50 }, (_, hour) => hour);
    for (const partition of [0, 1]) {
      await world.put(
        "beacons",
        hours.map((hour) => ({ key: view("a", hour), partition, counters: [BigInt(hour + partition)] })),
      );
    }
    const { items } = await world.reader.trafficOf(["a", "none"], ask);
    expect(items.map(({ key, items: found, next }) => [key, found.length, next === undefined])).toEqual([
      ["a", COUNTERS_KEY_PAGE_MAX, false],
      ["none", 0, true],
    ]);
    const rest = await world.reader.traffic({ ...ask, cursor: items[0]?.next });
    const all = [...(items[0]?.items ?? []), ...rest.items];
    expect(all.map(({ count }) => count)).toEqual(hours.map((hour) => BigInt(2 * hour + 1)));
    for (const cursor of ["AAAA", items[0]?.next ?? ""]) {
      await expect(world.reader.traffic({ ...ask, article: "z", cursor })).rejects.toMatchObject({
        code: "CURSOR_UNKNOWN",
      });
    }
  });

  it("is that of the one source, or of the namespace that is named", async () => {
    const world = await newWorld();
    world.sources.push({ ...definition, name: "more", namespace: "more", kind: "traffic" });
    await expect(world.reader.traffic(ask)).rejects.toMatchObject({ code: "NAMESPACE_NEEDED" });
    expect((await world.reader.traffic({ ...ask, namespace: "seen" })).source).toBe("beacons");
    await expect(world.reader.traffic({ ...ask, namespace: "ads" })).rejects.toMatchObject({
      code: "NAMESPACE_UNKNOWN",
    });
  });

  it("is the sum over the events of listed rows, however they are spread", async () => {
    const slot = fc.record({
      article: fc.constantFrom("a", "b"),
      hour: fc.integer({ min: 0, max: 3 }),
      partition: fc.constantFrom(0, 1),
      row: fc.constantFrom(1, 2, 3),
      count: fc.bigInt({ min: 0n, max: 2n ** 70n }),
    });
    const uniqueSlots = fc.uniqueArray(slot, {
      maxLength: 20,
      selector: ({ article, hour, partition, row }) => `${article}/${hour}/${partition}/${row}`,
    });
    await fc.assert(
      fc.asyncProperty(uniqueSlots, fc.subarray([1, 2, 3]), async (slots, listed) => {
        const world = await newWorld();
        for (const partition of [0, 1]) await world.rows("beacons", partition, listed);
        await world.put(
          "beacons",
          slots.map(({ article, hour, count, ...owner }) => ({
            ...owner,
            key: view(article, hour),
            counters: [count],
          })),
        );
        const { items } = await world.reader.traffic({ ...ask, by: "day" });
        const sum = slots
          .filter(({ article, row }) => article === "a" && listed.includes(row))
          .reduce((all, { count }) => all + count, 0n);
        expect(items.reduce((all, { count }) => all + count, 0n)).toBe(sum);
      }),
      { numRuns: 50 },
    );
  });
});

const campaign = { campaign: "c", namespace: undefined, fromMs: undefined, toMs: undefined, breakdown: false } as const;

describe("ad actions", () => {
  it("are summed by member, by hour, and for the campaign itself", async () => {
    const world = await newWorld();
    await world.put("ads", [
      { key: actionKey("ads", "c", "campaign", undefined), counters: [9n, 4n] },
      { key: actionKey("ads", "c", "site", ""), counters: [1n, 0n] },
      { key: actionKey("ads", "c", "site", "s"), counters: [2n, 1n] },
      { key: actionKey("ads", "c", "site", "s"), partition: 1, counters: [3n, 1n] },
      { key: actionKey("ads", "c", "hour", HOUR), counters: [1n, 1n] },
      { key: actionKey("ads", "c", "hour", 2 * HOUR), counters: [8n, 3n] },
      { key: actionKey("ads", "c2", "site", "s"), counters: [99n, 9n] },
    ]);
    const read = async (by: "campaign" | "site" | "hour" | "article", more: object = {}) =>
      (await world.reader.actions({ ...campaign, by, ...more })).items.map(({ member, impressions, clicks }) => [
        member,
        impressions,
        clicks,
      ]);
    expect(await read("campaign")).toEqual([[undefined, 9n, 4n]]);
    expect(await read("site")).toEqual([
      ["", 1n, 0n],
      ["s", 5n, 2n],
    ]);
    expect(await read("hour", { fromMs: 2 * HOUR })).toEqual([[2 * HOUR, 8n, 3n]]);
    expect(await read("article")).toEqual([]);
    const { items } = await world.reader.actionsOf(["c2", "c"], { ...campaign, by: "site" });
    expect(items.map(({ key, items: found }) => [key, found.length])).toEqual([
      ["c2", 1],
      ["c", 2],
    ]);
  });

  it("calibrate by the edges of the rows that they were counted in", async () => {
    const world = await newWorld();
    await world.rows("ads", 0, [1, 2], [1, 2]);
    for (const [revision, scoreEdges] of [
      [1, [0.1]],
      [2, []],
    ] as const) {
      const counting = { ...DEFAULT_COUNTING_OF_SOURCE, scoreEdges };
      const record = { definition: { ...definition, counting }, verdict: "" };
      await updateRecord(
        world.plane.control,
        recordNames.revision("ads", revision),
        RevisionRecord,
        () => record as never,
      );
    }
    const pair = actionKey("ads", "c", "article", "a");
    await world.put("ads", [
      { key: pair, row: 1, counters: [2n, 1n, 500_000_000n, 400_000_000n, 0n, 0n, 0n, 2n, 1n, 500_000_000n] },
      { key: pair, row: 2, counters: [4n, 1n, 1_000_000_000n, 0n, 4n, 1n, 1_000_000_000n] },
      { key: actionKey("ads", "c", "article", "b"), row: 2, counters: [1n, 0n, 0n, 0n, 1n, 0n, 0n] },
    ]);
    const whole = (await world.reader.calibration("c", undefined, undefined)).calibration;
    expect([whole.impressions, whole.clicks, whole.impressionScores]).toEqual([7n, 2n, 1_500_000_000n]);
    expect(whole.tables.map(({ edges }) => edges)).toEqual([[0.1], []]);
    const one = (await world.reader.calibration("c", "a", undefined)).calibration;
    expect(one.impressions).toBe(6n);
  });
});
