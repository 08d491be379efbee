import { describe, expect, it } from "vitest";
import { lagOf, type Oldest } from "../../src/core/lag.ts";
import { rateOfStart, type StartReading, timeToLossOf, withStart } from "../../src/core/time-to-loss.ts";

const record = (timestampMs: number): Oldest => ({ oldest: "record", timestampMs });
const NOT_READ: Oldest = { oldest: "unknown", cause: "oldest-record-not-read" };

describe("I14: lag", () => {
  const base = {
    standing: { at: 10, basis: "watermark" },
    end: { known: true, offset: 30 },
    oldest: NOT_READ,
    nowMs: 5_000,
  } as const;

  it("counts offsets and seconds from the same reading", () => {
    expect(lagOf({ ...base, oldest: record(2_000) })).toEqual({
      records: { known: true, value: 20 },
      seconds: { known: true, value: 3 },
      basis: "watermark",
    });
  });

  it("is zero, not unknown, when everything is applied, or only holes and control records are left", () => {
    const zero = { known: true, value: 0 };
    expect(lagOf({ ...base, end: { known: true, offset: 10 } }).seconds).toEqual(zero);
    const holes = lagOf({ ...base, oldest: { oldest: "nothing", upTo: 30 } });
    expect([holes.records, holes.seconds]).toEqual([zero, zero]);
    const grown = lagOf({ ...base, oldest: { oldest: "nothing", upTo: 29 } });
    expect(grown.records).toEqual({ known: true, value: 20 });
    expect(grown.seconds).toEqual({ known: false, cause: "oldest-record-not-read" });
  });

  it("is never negative: a producer's clock an hour ahead of ours, an end below the position", () => {
    expect(lagOf({ ...base, oldest: record(3_605_000) }).seconds).toEqual({ known: true, value: 0 });
    const other = lagOf({ ...base, end: { known: true, offset: 9 } });
    expect(other.records).toEqual({ known: false, cause: "end-below-position" });
  });

  it("says why it is unknown", () => {
    const cause = (change: object) => {
      const { records, seconds } = lagOf({ ...base, ...change });
      return [records, seconds].map((measured) => (measured.known ? measured.value : measured.cause));
    };
    expect(cause({ standing: undefined })).toEqual(["never-committed", "never-committed"]);
    expect(cause({ end: { known: false, cause: "leaderless" } })).toEqual(["leaderless", "leaderless"]);
    expect(cause({ doubt: "stopped-commit-moved" })).toEqual(["stopped-commit-moved", "stopped-commit-moved"]);
    expect(cause({})).toEqual([20, "oldest-record-not-read"]);
    expect(cause({ oldest: record(-1) })).toEqual([20, "no-timestamp"]);
  });
});

describe("I15: time to loss", () => {
  const HOUR = 3_600_000;
  const lag = lagOf({
    standing: { at: 100, basis: "committed" },
    end: { known: true, offset: 200 },
    oldest: record(0),
    nowMs: HOUR,
  });
  const retention = { retentionMs: undefined, retentionBytes: undefined, compacted: false };
  const base = { lag, at: 100, logStart: 40, oldest: record(0), retention, rate: undefined, nowMs: HOUR };

  it("by time: from the oldest unprocessed record; never negative; a clock that is ahead does not lengthen it", () => {
    const byTime = { ...retention, retentionMs: 3 * HOUR };
    expect(timeToLossOf({ ...base, retention: byTime })).toEqual({ known: true, value: 7_200 });
    expect(timeToLossOf({ ...base, retention: byTime, nowMs: 9 * HOUR })).toEqual({ known: true, value: 0 });
    expect(timeToLossOf({ ...base, retention: byTime, oldest: record(2 * HOUR) })).toEqual({
      known: true,
      value: 10_800,
    });
  });

  it("by size: from the rate of the log start; the less of both", () => {
    const both = { ...retention, retentionMs: 3 * HOUR, retentionBytes: 1 };
    expect(timeToLossOf({ ...base, retention: both, rate: 60 / HOUR })).toEqual({ known: true, value: 3_600 });
    expect(timeToLossOf({ ...base, retention: both, rate: 6 / HOUR })).toEqual({ known: true, value: 7_200 });
    expect(timeToLossOf({ ...base, retention: both })).toEqual({ known: true, value: 7_200 });
    const bySize = { ...retention, retentionBytes: 1 };
    expect(timeToLossOf({ ...base, retention: bySize, rate: 0 })).toEqual({
      known: false,
      cause: "log-start-not-moving",
    });
  });

  it("is 0 once the log start has passed what is not processed, whatever retention says", () => {
    expect(timeToLossOf({ ...base, logStart: 101 })).toEqual({ known: true, value: 0 });
  });

  it("says why it is unknown", () => {
    const cause = (change: object) => {
      const loss = timeToLossOf({ ...base, ...change });
      return loss.known ? loss.value : loss.cause;
    };
    const none = lagOf({
      standing: { at: 7, basis: "start" },
      end: { known: true, offset: 7 },
      oldest: NOT_READ,
      nowMs: 0,
    });
    const away = lagOf({ standing: undefined, end: { known: false, cause: "leaderless" }, oldest: NOT_READ, nowMs: 0 });
    const byTime = { ...retention, retentionMs: HOUR };
    expect(cause({ lag: none })).toBe("nothing-unprocessed");
    expect(cause({ lag: away })).toBe("leaderless");
    expect(cause({})).toBe("no-retention");
    expect(cause({ retention: { unknown: "retention-timeout" } })).toBe("retention-timeout");
    expect(cause({ retention: byTime, oldest: NOT_READ })).toBe("oldest-record-not-read");
    expect(cause({ retention: byTime, oldest: record(-1) })).toBe("no-timestamp");
  });

  it("the rate is taken over an hour of readings a minute apart; a start that falls begins anew", () => {
    const take = (starts: readonly (readonly [number, number])[]) =>
      starts.reduce<readonly StartReading[]>((kept, [atMs, logStart]) => withStart(kept, { atMs, logStart }), []);
    expect(rateOfStart(take([[0, 5]]))).toBeUndefined();
    const still = take(Array.from({ length: 1_000 }, (_unused, index) => [index * 10_000, 5] as const));
    expect(rateOfStart(still)).toBe(0);
    const moving = take(Array.from({ length: 1_000 }, (_unused, index) => [index * 10_000, index * 20] as const));
    expect(moving.length).toBeLessThanOrEqual(80);
    expect(rateOfStart(moving)).toBeCloseTo(0.002, 9);
    const stopped = [...moving, { atMs: 9_990_000 + 2 * HOUR, logStart: 19_980 }].reduce<readonly StartReading[]>(
      withStart,
      [],
    );
    expect(rateOfStart(withStart(stopped, { atMs: 9_990_000 + 4 * HOUR, logStart: 19_980 }))).toBe(0);
    expect(
      rateOfStart(
        take([
          [0, 5],
          [10, 9],
          [20, 3],
        ]),
      ),
    ).toBeUndefined();
  });
});
