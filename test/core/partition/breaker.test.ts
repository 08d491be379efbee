import { describe, expect, it } from "vitest";
import { PoisonBreaker } from "../../../src/core/partition/breaker.ts";

const limits = { run: 4, sharePercent: 50, window: 10 };

/** Feeds a log of good (.) and bad (x) records; the offset at which it trips, undefined when it does not. */
function trip(log: string, breaker = new PoisonBreaker(limits), from = 0): number | undefined {
  for (let offset = from; offset < log.length; offset += 1) {
    if (log[offset] === ".") breaker.applied(offset);
    else if (breaker.poison(offset) !== undefined) return offset;
  }
  return undefined;
}

describe("the poison breaker", () => {
  it("trips at the last of a run, and a good record ends a run", () => {
    expect(trip("..xxxx")).toBe(5);
    expect(trip("..xxx.xxx.")).toBeUndefined();
  });

  it("trips when the share of a full window is reached, and not before the window is full", () => {
    expect(trip("x.x.x.x.x")).toBeUndefined();
    expect(trip("x.x.x.x..x")).toBe(9);
    expect(trip("..........x.x.x.x.x")).toBe(18);
  });

  it("counts what slides out of the window no longer", () => {
    expect(trip("xxx.......xx.x....x")).toBeUndefined();
  });

  it("does not depend on what is read again: a hold that re-reads a batch counts it once", () => {
    const breaker = new PoisonBreaker(limits);
    expect(trip("..xx", breaker)).toBeUndefined();
    expect(trip("..xxx", breaker, 0)).toBeUndefined();
    expect(trip("..xxxx", breaker, 1)).toBe(5);
  });
});
