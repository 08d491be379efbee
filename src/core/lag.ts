import type { Offset } from "./offset.ts";

/** A measured number, or why there is none (I14: what is unknown says so). */
export type Measured =
  | { readonly known: true; readonly value: number }
  | { readonly known: false; readonly cause: string };

/** What lag is computed from; everything in it was read no earlier than the standing. */
export interface LagInputs {
  /** Next to be applied, and what it was taken from; read before the end was. Undefined: nothing is known of it. */
  readonly standing: { readonly at: Offset; readonly basis: "watermark" | "committed" } | undefined;
  /** The log's end, or why it is unknown. */
  readonly end: { readonly known: true; readonly offset: Offset } | { readonly known: false; readonly cause: string };
  /** Broker timestamp of the oldest record in flight; undefined when nothing is in flight or it has none. */
  readonly oldestInFlightMs: number | undefined;
  readonly nowMs: number;
  /** Why neither the position nor the committed offset can be trusted, as a stable word; undefined when they can. */
  readonly doubt?: string | undefined;
}

/** Lag of one partition, in records and seconds, and what it was counted from. */
export interface Lag {
  readonly records: Measured;
  readonly seconds: Measured;
  readonly basis: "watermark" | "committed" | "none";
}

/** Lag of one partition. Never negative: an end below what was applied is another log, so the number is unknown. */
export function lagOf({ standing, end, oldestInFlightMs, nowMs, doubt }: LagInputs): Lag {
  const basis = doubt === undefined ? (standing?.basis ?? "none") : "none";
  const unknown = (cause: string): Lag => ({
    records: { known: false, cause },
    seconds: { known: false, cause },
    basis,
  });
  if (doubt !== undefined) return unknown(doubt);
  if (!end.known) return unknown(end.cause);
  if (standing === undefined) return unknown("never-committed");
  if (end.offset < standing.at) return unknown("end-below-position");
  const records = end.offset - standing.at;
  return { records: { known: true, value: records }, seconds: secondsOf(records, oldestInFlightMs, nowMs), basis };
}

/** A producer's clock may be ahead of ours: then the record has no age yet, it is not from the future. */
function secondsOf(records: number, oldestInFlightMs: number | undefined, nowMs: number): Measured {
  if (records === 0) return { known: true, value: 0 };
  if (oldestInFlightMs === undefined || oldestInFlightMs < 0) return { known: false, cause: "oldest-record-not-read" };
  return { known: true, value: Math.max(nowMs - oldestInFlightMs, 0) / 1_000 };
}
