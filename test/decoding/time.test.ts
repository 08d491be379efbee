import * as fc from "fast-check";
import { expect, test } from "vitest";
import { timeFromText, timestampText } from "../../src/decoding/time.ts";

const FIRST = -62_135_596_800;
const LAST = 253_402_300_799;

test("dates are those of the engine's calendar", () => {
  const check = (seconds: number): void => {
    expect(timestampText(seconds, 0)).toBe(`${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`);
  };
  for (const seconds of [FIRST, -1, 0, 951_782_400, 951_868_800, 4_107_542_400, 1_709_164_800, LAST]) check(seconds);
  // Every day of 400 years that hold each kind of leap year, at another second each.
  for (let day = -140_000; day < 6_200; day += 1) check(day * 86_400 + ((((day * 37_691) % 86_400) + 86_400) % 86_400));
  fc.assert(fc.property(fc.integer({ min: FIRST, max: LAST }), check), { seed: 8, numRuns: 2_000 });
});

test("text is read back to the millisecond", () => {
  fc.assert(
    fc.property(fc.integer({ min: FIRST, max: LAST }), fc.integer({ min: 0, max: 999_999_999 }), (seconds, nanos) => {
      expect(timeFromText(timestampText(seconds, nanos))).toBe(seconds * 1_000 + Math.floor(nanos / 1_000_000));
    }),
    { seed: 9, numRuns: 1_000 },
  );
});
