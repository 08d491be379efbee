import { describe, expect, it } from "vitest";
import { actionKey, type Rollup } from "../../../src/core/counting/keys.ts";
import {
  bucketOf,
  bucketValue,
  CLICK_SCORES,
  CLICKS,
  IMPRESSION_SCORES,
  IMPRESSIONS,
} from "../../../src/core/counting/shapes.ts";
import { count, counterOf, hex, NOW, type TestRecord } from "./counting.ts";
import { type Field, timestamp } from "./support.ts";

const HOUR = 3_600_000;
const counter = counterOf("ad_actions", "ysearch.ad_action", { scoreEdges: [0.1, 0.5] });
const IMPRESSION = 1n;
const CLICK = 2n;

interface Parts {
  readonly article?: string;
  readonly placement?: string;
  readonly site?: string;
  readonly publisher?: string;
  readonly score?: number;
  readonly at?: number;
}

function action(what: bigint, { article = "a", placement, site, publisher, score, at = NOW }: Parts = {}): TestRecord {
  const value: Field[] = [
    [1, "c"],
    [2, article],
    [6, what],
    [8, timestamp(at)],
  ];
  for (const [number, text] of [
    [3, placement],
    [4, site],
    [5, publisher],
  ] as const) {
    if (text !== undefined) value.push([number, text]);
  }
  if (score !== undefined) value.push([7, { double: score }]);
  return { key: "c", value };
}

function counters(slots: ReturnType<typeof count>["slots"], rollup: Rollup, member?: string | number) {
  return slots.get(hex(actionKey("space", "c", rollup, member)))?.counters;
}

describe("ad actions", () => {
  it("count into every rollup, what is not known under the empty name", () => {
    const { slots, faults } = count(counter, [
      action(IMPRESSION, { placement: "p", site: "s", publisher: "u" }),
      action(CLICK, { placement: "p", site: "s", publisher: "u" }),
      action(IMPRESSION, { article: "b", placement: "q", at: NOW - HOUR }),
      action(IMPRESSION),
    ]);
    expect(faults).toEqual([]);
    expect(counters(slots, "campaign")).toEqual([3n, 1n]);
    expect(counters(slots, "article", "a")?.slice(0, 2)).toEqual([2n, 1n]);
    expect(counters(slots, "article", "b")?.slice(0, 2)).toEqual([1n, 0n]);
    expect(["p", "q", ""].map((member) => counters(slots, "placement", member))).toEqual([
      [1n, 1n],
      [1n, 0n],
      [1n, 0n],
    ]);
    expect(["s", ""].map((member) => counters(slots, "site", member))).toEqual([
      [1n, 1n],
      [2n, 0n],
    ]);
    expect(counters(slots, "publisher", "u")).toEqual([1n, 1n]);
    const hour = Math.floor(NOW / HOUR) * HOUR;
    expect([counters(slots, "hour", hour), counters(slots, "hour", hour - HOUR)]).toEqual([
      [2n, 1n],
      [1n, 0n],
    ]);
    expect(slots.size).toBe(1 + 2 + 3 + 2 + 2 + 2);
  });

  it("hold in the pair what calibration needs: scores as billionths, by action and by bucket", () => {
    const { slots } = count(counter, [
      action(IMPRESSION, { score: 0 }),
      action(IMPRESSION, { score: 0.1 }),
      action(IMPRESSION, { score: 0.25 }),
      action(CLICK, { score: 0.25 }),
      action(IMPRESSION, { score: 1 }),
      action(IMPRESSION),
      action(CLICK),
    ]);
    const pair = counters(slots, "article", "a") ?? [];
    const bucket = (index: number) =>
      (["impressions", "clicks", "scores"] as const).map((value) => pair[bucketValue(index, value)]);
    expect([pair[IMPRESSIONS], pair[CLICKS]]).toEqual([5n, 2n]);
    expect([pair[IMPRESSION_SCORES], pair[CLICK_SCORES]]).toEqual([1_350_000_000n, 250_000_000n]);
    expect([bucket(0), bucket(1), bucket(2)]).toEqual([
      [1n, 0n, 0n],
      [2n, 1n, 350_000_000n],
      [1n, 0n, 1_000_000_000n],
    ]);
    expect(pair).toHaveLength(4 + 3 * 3);
    expect(counters(slots, "campaign")).toHaveLength(2);
  });

  it("put a score at an edge into the bucket that begins there", () => {
    expect([0, 0.099_99, 0.1, 0.499, 0.5, 1].map((score) => bucketOf(score, [0.1, 0.5]))).toEqual([0, 0, 1, 1, 2, 2]);
    expect(bucketOf(0.7, [])).toBe(0);
  });
});

describe("an ad action is refused", () => {
  it.each<[string, TestRecord, string]>([
    ["with the key of another campaign", { ...action(IMPRESSION), key: "d" }, "CONTRACT_KEY_MISMATCH"],
    ["without a key", { ...action(IMPRESSION), key: null }, "CONTRACT_KEY_MISSING"],
    ["without an article", action(IMPRESSION, { article: "" }), "CONTRACT_ARTICLE"],
    ["with a site of 513 bytes", action(IMPRESSION, { site: "s".repeat(513) }), "CONTRACT_MEMBER_TOO_LONG"],
    ["without an action", action(0n), "CONTRACT_ACTION"],
    ["with an action of a later contract", action(3n), "CONTRACT_ACTION"],
    ["with a negative action", action(-1n), "CONTRACT_ACTION"],
    ["with a score above 1", action(CLICK, { score: 1.000_000_1 }), "CONTRACT_SCORE"],
    ["with a score below 0", action(CLICK, { score: -0.1 }), "CONTRACT_SCORE"],
    ["with a score that is no number", action(CLICK, { score: Number.NaN }), "CONTRACT_SCORE"],
    ["too far ahead of its broker timestamp", action(CLICK, { at: NOW + 600_001 }), "CONTRACT_TIME_AHEAD"],
    [
      "without a time",
      {
        key: "c",
        value: [
          [1, "c"],
          [2, "a"],
          [6, CLICK],
        ],
      },
      "CONTRACT_TIME",
    ],
    ["without a value", { key: "c", value: null }, "CONTRACT_NULL_VALUE"],
  ])("%s", (_name, record, code) => {
    const { slots, faults } = count(counter, [record]);
    expect([faults.map(([, found]) => found), slots.size]).toEqual([[code], 0]);
  });

  it("but not with the scores 0 and 1, nor with names of 512 bytes", () => {
    const long = "x".repeat(512);
    const records = [
      action(CLICK, { score: 0 }),
      action(CLICK, { score: 1 }),
      action(CLICK, { article: long, placement: long, site: long, publisher: long }),
    ];
    expect(count(counter, records).faults).toEqual([]);
  });
});
