import { describe, expect, it } from "vitest";
import { trafficKey } from "../../../src/core/counting/keys.ts";
import { count, counterOf, hex, NOW, type TestRecord } from "./counting.ts";
import { type Field, timestamp } from "./support.ts";

const HOUR = 3_600_000;
const SLOT = Math.floor(NOW / HOUR) * HOUR;
const counter = counterOf("traffic", "ysearch.beacon");

function beacon(article: string, fields: readonly Field[] = [], at = NOW, metric = "view"): TestRecord {
  return { key: article, value: [[1, article], [2, metric], [3, timestamp(at)], ...fields] };
}

const visitor = (hash: bigint): Field => [4, { fixed64: hash }];

function value(slots: ReturnType<typeof count>["slots"], article: string, at = SLOT, metric = "view") {
  const slot = slots.get(hex(trafficKey("space", article, metric, at)));
  return slot && { count: slot.counters[0], visitors: slot.visitors?.estimate(), offset: slot.offset };
}

describe("traffic", () => {
  it("counts events and distinct visitors per article, metric and slot", () => {
    const { slots, faults } = count(counter, [
      beacon("a", [visitor(1n)]),
      beacon("a", [visitor(2n), [5, 4n]]),
      beacon("b", [visitor(1n)]),
      beacon("a", [visitor(1n)]),
      beacon("a", [visitor(9n)], NOW - HOUR),
      beacon("a", [], NOW, "read_10s"),
    ]);
    expect(faults).toEqual([]);
    expect(value(slots, "a")).toEqual({ count: 6n, visitors: 2, offset: 3 });
    expect(value(slots, "b")).toEqual({ count: 1n, visitors: 1, offset: 2 });
    expect(value(slots, "a", SLOT - HOUR)).toEqual({ count: 1n, visitors: 1, offset: 4 });
    expect(value(slots, "a", SLOT, "read_10s")).toEqual({ count: 1n, visitors: 0, offset: 5 });
    expect(slots.size).toBe(4);
  });

  it("is exact past 2^53, record by record and in sum", () => {
    const most = 2n ** 63n - 1n;
    const { slots } = count(counter, [
      beacon("a", [[5, 9_007_199_254_740_993n]]),
      beacon("a", [[5, most]]),
      beacon("a", [[5, most]]),
      beacon("b", [[5, 9_007_199_254_740_991n]]),
      beacon("b"),
      beacon("b"),
    ]);
    expect(value(slots, "a")?.count).toBe(9_007_199_254_740_993n + 2n * most);
    expect(value(slots, "b")?.count).toBe(9_007_199_254_740_993n);
  });

  it("takes an unset count for 1, and a count of 0 for no event and no visitor", () => {
    const { slots, faults } = count(counter, [beacon("a", [[5, 0n], visitor(1n)]), beacon("b")]);
    expect([faults, value(slots, "a"), value(slots, "b")?.count]).toEqual([[], undefined, 1n]);
  });

  it("takes visitor hash 0 for nobody, and can leave visitors alone", () => {
    expect(value(count(counter, [beacon("a", [visitor(0n)])]).slots, "a")?.visitors).toBe(0);
    const without = counterOf("traffic", "ysearch.beacon", { visitors: false });
    expect(value(count(without, [beacon("a", [visitor(7n)])]).slots, "a")).toMatchObject({ visitors: undefined });
  });

  it("cuts slots of the configured width, before 1970, too", () => {
    const minutes = counterOf("traffic", "ysearch.beacon", { slotWidthMs: 60_000 });
    const { slots } = count(minutes, [beacon("a", [], -1), beacon("a", [], 0), beacon("a", [], 59_999)]);
    expect(value(slots, "a", -60_000)?.count).toBe(1n);
    expect(value(slots, "a", 0)?.count).toBe(2n);
  });

  it("passes over faults and counts what lies around them", () => {
    const { slots, faults } = count(counter, [beacon("a"), { ...beacon("a"), key: "b" }, beacon("a")]);
    expect([faults, value(slots, "a")]).toEqual([
      [[1, "CONTRACT_KEY_MISMATCH"]],
      { count: 2n, visitors: 0, offset: 2 },
    ]);
  });

  it("counts JSON records alike", () => {
    const json = counterOf("traffic", "ysearch.beacon", {}, { format: "json" });
    const record = (member: object): TestRecord => ({
      key: "ä",
      value: Buffer.from(
        JSON.stringify({ articleId: "ä", metric: "view", occurredAt: new Date(NOW).toISOString(), ...member }),
      ),
    });
    const { slots, faults } = count(json, [
      record({}),
      record({ count: "9007199254740993", visitorHash: "5" }),
      record({ count: -1 }),
    ]);
    expect(faults).toEqual([[2, "CONTRACT_COUNT"]]);
    expect(value(slots, "ä")).toEqual({ count: 9_007_199_254_740_994n, visitors: 1, offset: 1 });
  });
});

describe("a beacon is refused", () => {
  const good = beacon("a");
  const fields = (...parts: Field[]): TestRecord => ({ key: "a", value: parts });
  const named: Field[] = [
    [1, "a"],
    [2, "view"],
  ];
  it.each<[string, TestRecord, string]>([
    ["without a key", { ...good, key: null }, "CONTRACT_KEY_MISSING"],
    ["with an empty key", { ...good, key: "" }, "CONTRACT_KEY_EMPTY"],
    ["with a key of 513 bytes", beacon("k".repeat(513)), "CONTRACT_KEY_TOO_LONG"],
    ["with the key of another", { ...good, key: "b" }, "CONTRACT_KEY_MISMATCH"],
    ["with a key that goes on", { ...good, key: "ab" }, "CONTRACT_KEY_MISMATCH"],
    ["without a value", { key: "a", value: null }, "CONTRACT_NULL_VALUE"],
    ["of zero bytes", { key: "a", value: [] }, "CONTRACT_ENTITY"],
    ["without a metric", fields([1, "a"], [3, timestamp(NOW)]), "CONTRACT_METRIC"],
    ["with an odd metric", beacon("a", [], NOW, "View"), "CONTRACT_METRIC"],
    ["with a metric of 65 bytes", beacon("a", [], NOW, "m".repeat(65)), "CONTRACT_METRIC"],
    ["without a time", fields(...named), "CONTRACT_TIME"],
    ["too far ahead of its broker timestamp", beacon("a", [], NOW + 600_001), "CONTRACT_TIME_AHEAD"],
    ["with a negative count", beacon("a", [[5, -1n]]), "CONTRACT_COUNT"],
    ["with a timestamp beyond all time", { ...good, timestampMs: 2 ** 60 }, "CONTRACT_TIMESTAMP"],
    ["when it is no message", { key: "a", value: Uint8Array.of(0x0a, 9) }, "DECODE_TRUNCATED"],
  ])("%s", (_name, record, code) => {
    const { slots, faults } = count(counter, [record]);
    expect([faults.map(([, found]) => found), slots.size]).toEqual([[code], 0]);
  });

  it.each<[string, TestRecord]>([
    ["ten minutes ahead", beacon("a", [], NOW + 600_000)],
    ["long ago", beacon("a", [], 0)],
    ["ahead where the broker has no time", { ...beacon("a", [], NOW * 2), timestampMs: -1 }],
    ["with a key of 512 bytes and a metric of 64", beacon("k".repeat(512), [], NOW, "m".repeat(64))],
  ])("but not %s", (_name, record) => {
    expect(count(counter, [record]).faults).toEqual([]);
  });
});
