import type { Offset } from "./offset.ts";

/** A measured number, or why there is none (I14: what is unknown says so). */
export type Measured =
  | { readonly known: true; readonly value: number }
  | { readonly known: false; readonly cause: string };

/** What a partition's lag is counted from. `start`: nothing is committed yet; it is where reading begins. */
export const LAG_BASES = ["watermark", "committed", "start", "none"] as const;
/** One of {@link LAG_BASES}. */
export type LagBasis = (typeof LAG_BASES)[number];

/** Next to be applied, and what that was taken from. */
export interface LagStanding {
  readonly at: Offset;
  readonly basis: Exclude<LagBasis, "none">;
}

/**
 * The oldest unprocessed record: its broker timestamp in milliseconds (negative: it has none), or that no record is
 * delivered below `upTo` (compacted holes and control records alone), or why it is unknown.
 */
export type Oldest =
  | { readonly oldest: "record"; readonly timestampMs: number }
  | { readonly oldest: "nothing"; readonly upTo: Offset }
  | { readonly oldest: "unknown"; readonly cause: string };

/** What lag is computed from; everything in it was read no earlier than the standing. */
export interface LagInputs {
  /** Read before the end was. Undefined: nothing is known of it. */
  readonly standing: LagStanding | undefined;
  /** The log's end, or why it is unknown. */
  readonly end: { readonly known: true; readonly offset: Offset } | { readonly known: false; readonly cause: string };
  readonly oldest: Oldest;
  readonly nowMs: number;
  /** Why neither the position nor the committed offset can be trusted, as a stable word; undefined when they can. */
  readonly doubt?: string | undefined;
}

/** Lag of one partition, in records and seconds, and what it was counted from. */
export interface Lag {
  readonly records: Measured;
  readonly seconds: Measured;
  readonly basis: LagBasis;
}

/** Lag of one partition. Never negative: an end below what was applied is another log, so the number is unknown. */
export function lagOf({ standing, end, oldest, nowMs, doubt }: LagInputs): Lag {
  const lost = end.known && standing !== undefined && end.offset < standing.at;
  const basis = doubt === undefined && !lost ? (standing?.basis ?? "none") : "none";
  const unknown = (cause: string): Lag => ({
    records: { known: false, cause },
    seconds: { known: false, cause },
    basis,
  });
  if (doubt !== undefined) return unknown(doubt);
  if (!end.known) return unknown(end.cause);
  if (standing === undefined) return unknown("never-committed");
  if (lost) return unknown("end-below-position");
  const records = oldest.oldest === "nothing" && oldest.upTo >= end.offset ? 0 : end.offset - standing.at;
  return { records: { known: true, value: records }, seconds: secondsOf(records, oldest, nowMs), basis };
}

/** A producer's clock may be ahead of ours: then the record has no age yet, it is not from the future. */
function secondsOf(records: number, oldest: Oldest, nowMs: number): Measured {
  if (records === 0) return { known: true, value: 0 };
  if (oldest.oldest === "unknown") return { known: false, cause: oldest.cause };
  if (oldest.oldest === "nothing") return { known: false, cause: "oldest-record-not-read" };
  if (oldest.timestampMs < 0) return { known: false, cause: "no-timestamp" };
  return { known: true, value: Math.max(nowMs - oldest.timestampMs, 0) / 1_000 };
}

/** Where everything ends that producers were told is in the log, what an open transaction holds back included. */
export function acknowledgedEnd({ end, highWatermark }: LogEnd): Offset {
  return Math.max(end, highWatermark ?? end);
}

/** Ends of a log: for readers of committed records, and for producers where that is further on. */
interface LogEnd {
  readonly end: Offset;
  readonly highWatermark?: Offset;
}
