import type { Lag, Measured, Oldest } from "./lag.ts";
import type { Offset } from "./offset.ts";
import type { RetentionFacts } from "./retention.ts";

/** A reading of where a partition's log starts. Times are milliseconds that only grow. */
export interface StartReading {
  readonly atMs: number;
  readonly logStart: Offset;
}

/** The log start moves by whole segments: its rate is taken over this long. */
export const RATE_WINDOW_MS = 3_600_000;

/** Readings are kept this far apart: about sixty of one partition. */
const SPACING_MS = 60_000;

/** Adds a reading; of several within a minute the newest is kept. Pure. */
export function withStart(readings: readonly StartReading[], reading: StartReading): readonly StartReading[] {
  const last = readings.at(-1);
  // A start that fell is another log.
  if (last !== undefined && reading.logStart < last.logStart) return [reading];
  const before = readings.at(-2);
  const kept = before !== undefined && reading.atMs - before.atMs < SPACING_MS ? readings.slice(0, -1) : readings;
  const recent = kept.findLastIndex(({ atMs }) => atMs <= reading.atMs - RATE_WINDOW_MS);
  return [...kept.slice(Math.max(recent, 0)), reading];
}

/** Offsets a millisecond by which the log start moves; 0 when it stood still; undefined before a second reading. */
export function rateOfStart(readings: readonly StartReading[]): number | undefined {
  const [first] = readings;
  const last = readings.at(-1);
  if (first === undefined || last === undefined || last.atMs <= first.atMs) return undefined;
  return (last.logStart - first.logStart) / (last.atMs - first.atMs);
}

/** What time to loss is computed from. */
export interface LossInputs {
  readonly lag: Lag;
  /** Next to be applied. */
  readonly at: Offset | undefined;
  readonly logStart: Offset | undefined;
  readonly oldest: Oldest;
  readonly retention: RetentionFacts | { readonly unknown: string };
  readonly rate: number | undefined;
  readonly nowMs: number;
}

/**
 * Seconds until retention reaches the oldest unprocessed record (I15): by `retention.ms` from its timestamp, by
 * `retention.bytes` from the rate at which the log start has moved; the less of both. A lower bound where a segment is kept
 * until its newest record has expired. 0: what was not processed is, or may be, deleted already.
 */
export function timeToLossOf({ lag, at, logStart, oldest, retention, rate, nowMs }: LossInputs): Measured {
  const unknown = (cause: string): Measured => ({ known: false, cause });
  if (!lag.records.known) return unknown(lag.records.cause);
  if (lag.records.value === 0) return unknown("nothing-unprocessed");
  if (at !== undefined && logStart !== undefined && logStart > at) return { known: true, value: 0 };
  if ("unknown" in retention) return unknown(retention.unknown);
  const { retentionMs, retentionBytes } = retention;
  const byTime = retentionMs === undefined ? undefined : leftByTime(oldest, retentionMs, nowMs);
  const byBytes = retentionBytes === undefined ? undefined : leftByRate(at, logStart, rate);
  if (byTime?.known === false) return byTime;
  if (byTime === undefined) return byBytes ?? unknown("no-retention");
  return byBytes?.known === true && byBytes.value < byTime.value ? byBytes : byTime;
}

/** A timestamp ahead of our clock counts as now: nothing is kept longer than its retention by our reckoning. */
function leftByTime(oldest: Oldest, retentionMs: number, nowMs: number): Measured {
  if (oldest.oldest === "unknown") return { known: false, cause: oldest.cause };
  if (oldest.oldest === "nothing") return { known: false, cause: "oldest-record-not-read" };
  if (oldest.timestampMs < 0) return { known: false, cause: "no-timestamp" };
  return { known: true, value: Math.max(Math.min(oldest.timestampMs, nowMs) + retentionMs - nowMs, 0) / 1_000 };
}

/** Without any move of the log start there is nothing to reckon with: the size limit is not reached. */
function leftByRate(at: Offset | undefined, logStart: Offset | undefined, rate: number | undefined): Measured {
  if (at === undefined || logStart === undefined || rate === undefined || rate <= 0) {
    return { known: false, cause: "log-start-not-moving" };
  }
  return { known: true, value: (at - logStart) / rate / 1_000 };
}
