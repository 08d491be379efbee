import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareBytes } from "../../../src/core/cell.ts";
import {
  actionKey,
  articleRange,
  hourRange,
  type KeyRange,
  ROLLUPS,
  rollupRange,
  slotKey,
  slotRange,
  slotSuffix,
  trafficKey,
  trafficRange,
} from "../../../src/core/counting/keys.ts";
import { KEY_BYTES_MAX } from "../../../src/ports/kv-plane.ts";

const name = fc.string({ unit: "binary", maxLength: 4 });
const ms = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 });
const within = ({ from, to }: KeyRange, key: Uint8Array) => compareBytes(from, key) <= 0 && compareBytes(key, to) < 0;
const owner = { source: "s", partition: 3, log: 0, row: 7 };

const counter = fc.oneof(
  fc.tuple(name, name, name, ms).map((parts) => ({ parts: ["t", ...parts], key: trafficKey(...parts) })),
  fc
    .tuple(name, name, fc.constantFrom(...ROLLUPS.slice(1, 5)), name)
    .map((parts) => ({ parts: ["a", ...parts], key: actionKey(...parts) })),
  fc.tuple(name, name, ms).map(([space, campaign, hour]) => ({
    parts: ["a", space, campaign, "hour", hour],
    key: actionKey(space, campaign, "hour", hour),
  })),
  fc.tuple(name, name).map(([space, campaign]) => ({
    parts: ["a", space, campaign, "campaign"],
    key: actionKey(space, campaign, "campaign", undefined),
  })),
);

describe("counter keys", () => {
  it("are equal for equal counters only, and none begins another", () => {
    fc.assert(
      fc.property(counter, counter, (a, b) => {
        const same = JSON.stringify(a.parts) === JSON.stringify(b.parts);
        const begins = a.key.every((byte, index) => b.key[index] === byte);
        expect(begins).toBe(same);
      }),
    );
  });

  it("of one counter's slots are the range of that counter, and no other's are within", () => {
    const suffix = fc.record({ source: name, partition: fc.nat(), log: fc.nat(), row: fc.nat() }).map(slotSuffix);
    fc.assert(
      fc.property(counter, counter, suffix, (a, b, end) => {
        fc.pre(compareBytes(a.key, b.key) !== 0);
        expect(within(slotRange(a.key), slotKey(a.key, end))).toBe(true);
        expect(within(slotRange(a.key), slotKey(b.key, end))).toBe(false);
      }),
    );
  });

  it("of a span of time are one range, before 1970, too", () => {
    fc.assert(
      fc.property(name, name, ms, ms, ms, (article, metric, from, to, at) => {
        const inside = at >= from && at < to;
        const key = slotKey(trafficKey("n", article, metric, at), slotSuffix(owner));
        expect(within(trafficRange("n", article, metric, from, to), key)).toBe(inside);
        const hour = slotKey(actionKey("n", article, "hour", at), slotSuffix(owner));
        expect(within(hourRange("n", article, from, to), hour)).toBe(inside);
      }),
    );
  });

  it("of a rollup's members are one range, and those of other rollups and campaigns lie outside", () => {
    fc.assert(
      fc.property(name, name, name, (campaign, other, member) => {
        fc.pre(campaign !== other);
        const range = rollupRange("n", campaign, "site");
        const at = (of: string, rollup: "site" | "placement") =>
          within(range, slotKey(actionKey("n", of, rollup, member), slotSuffix(owner)));
        expect([at(campaign, "site"), at(campaign, "placement"), at(other, "site")]).toEqual([true, false, false]);
        expect(within(articleRange("n", campaign), trafficKey("n", campaign, "m", 5))).toBe(true);
        expect(within(articleRange("n", campaign), trafficKey("n", other, "m", 5))).toBe(false);
      }),
    );
  });

  it("fit every engine at their longest", () => {
    const long = "x".repeat(512);
    const pair = actionKey("n".repeat(249), long, "article", long);
    const suffix = slotSuffix({ source: "s".repeat(249), partition: 2 ** 32 - 1, log: 2 ** 32 - 1, row: 2 ** 32 - 1 });
    expect(slotKey(pair, suffix).length).toBeLessThan(KEY_BYTES_MAX);
  });

  it("tell rows of the same number in two logs apart", () => {
    expect(slotSuffix({ ...owner, log: 1 })).not.toEqual(slotSuffix(owner));
    expect(() => slotSuffix({ ...owner, row: -1 })).toThrow("KEY_NUMBER");
  });
});
