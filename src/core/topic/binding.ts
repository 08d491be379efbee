import type { Offset } from "../offset.ts";
import type { StartFrom } from "../source.ts";
import { TOPIC_EPOCH_MAX } from "../version.ts";
import type { Stop } from "../partition/stop.ts";

/** What a source is bound to since its first start, stored as a control record. */
export interface Binding {
  readonly clusterId: string;
  readonly topic: string;
  /** Ascending; partition `p` belongs to the first entry with `p < partitions`. */
  readonly epochs: readonly { readonly epoch: number; readonly partitions: number }[];
  /** The one moment at which the whole source first started; `latest` has become a time. */
  readonly firstStart: "earliest" | { readonly timestampMs: number };
  /** A partition count that moved keys between old partitions; only a new topic epoch settles it, no later count does. */
  readonly refused?: number;
  /** First topic epoch of the present log, where an operator opened it. Stops, starts and ledgers belong to one log. */
  readonly log?: number;
  /** Where the old partitions go on in the present log, by their number: they were read to there under earlier epochs. */
  readonly goOnAt?: readonly Offset[];
  /** The call that opened the present log. */
  readonly opened?: LogOpening;
  /** Logs that were given up, oldest first. */
  readonly past?: readonly PastLog[];
}

/** A log that is read no more. */
export interface PastLog {
  readonly log: number;
  /** Under which epochs its partitions were read. */
  readonly epochs: Binding["epochs"];
  /** Counting kinds: its rows stay in the sums. Absent: they have left them, or the kind counts nothing. */
  readonly summed?: boolean;
}

/** The logs whose rows readers of counters sum, oldest first. */
export function summedLogs(binding: Pick<Binding, "log" | "past">): readonly number[] {
  const kept = (binding.past ?? []).filter(({ summed }) => summed === true);
  return [...kept.map(({ log }) => log), logOf(binding)];
}

/** Who opened a log, and what it gave up: kept with the binding until both are entered where people look for them. */
export interface LogOpening {
  readonly audit: string;
  readonly actor: string;
  readonly reason: string;
  readonly at: number;
  /** For counting kinds: whether the rows of earlier logs stay in the sums. */
  readonly counting?: "continues" | "replaces";
  /** What of the log before was never read: everything from there on. */
  readonly givenUp: readonly { readonly partition: number; readonly topicEpoch: number; readonly from: Offset }[];
  /** Set once the gap ledger and the audit log have it. No partition of the log is read before. */
  readonly entered: boolean;
}

/** Number of the log that a source reads now: 0 for its first, the first topic epoch of a later one. */
export function logOf(binding: Pick<Binding, "log">): number {
  return binding.log ?? 0;
}

/** What the broker says that a topic is. */
export interface Identity {
  readonly clusterId: string;
  readonly topic: string;
  readonly partitions: number;
}

/** The binding of a source that starts for the first time at `nowMs`. */
export function bind(identity: Identity, startFrom: StartFrom, nowMs: number): Binding {
  return {
    clusterId: identity.clusterId,
    topic: identity.topic,
    epochs: [{ epoch: 0, partitions: identity.partitions }],
    firstStart: startFrom === "latest" ? { timestampMs: nowMs } : startFrom,
  };
}

/** A binding checked against what the broker says now. */
export type Rebinding =
  | { readonly outcome: "unchanged" }
  /** The topic grew to a multiple: with hash modulo count a key moves only to a new partition. */
  | { readonly outcome: "grown"; readonly binding: Binding }
  /** `binding`: what to remember of it. */
  | { readonly outcome: "stop"; readonly stop: Stop; readonly binding: Binding };

/**
 * Compares identity and partition count with the binding (section 4 of the contract, growing partitions). `keysMayMove`: of
 * counting kinds, whose sums do not ask which partition a key's records came from.
 */
export function rebind(binding: Binding, identity: Identity, keysMayMove = false): Rebinding {
  if (binding.clusterId !== identity.clusterId || binding.topic !== identity.topic) {
    const detail = `bound to topic ${binding.topic} of cluster ${binding.clusterId}, found ${identity.topic} of ${identity.clusterId}`;
    return { outcome: "stop", stop: { code: "IDENTITY_CHANGED", detail }, binding };
  }
  const last = binding.epochs.at(-1);
  const known = last?.partitions ?? 0;
  if (binding.refused !== undefined) {
    const detail = `${known} partitions became ${binding.refused}, and are ${identity.partitions} now`;
    return { outcome: "stop", stop: { code: "PARTITIONS_CHANGED", detail }, binding };
  }
  if (identity.partitions === known) return { outcome: "unchanged" };
  const epoch = (last?.epoch ?? -1) + 1;
  const ordered = keysMayMove || identity.partitions % known === 0;
  if (identity.partitions < known || !ordered || epoch > TOPIC_EPOCH_MAX) {
    const detail = `${known} partitions became ${identity.partitions}`;
    const refused = { ...binding, refused: identity.partitions };
    return { outcome: "stop", stop: { code: "PARTITIONS_CHANGED", detail }, binding: refused };
  }
  const grown = { ...binding, epochs: [...binding.epochs, { epoch, partitions: identity.partitions }] };
  return { outcome: "grown", binding: grown };
}

/** The topic epoch of a partition; undefined for one that the binding does not know yet. */
export function topicEpochOf(binding: Binding, partition: number): number | undefined {
  return binding.epochs.find((entry) => partition < entry.partitions)?.epoch;
}

/**
 * Where a partition without any history starts: at the source's moment, or, for one that appeared later, at its log
 * start: nothing in it may be skipped. `timestamp` asks for the first offset at or after that time.
 */
export function firstStartOf(
  binding: Binding,
  partition: number,
  logStart: Offset,
): { readonly at: Offset } | { readonly timestampMs: number } {
  const goOnAt = binding.goOnAt?.[partition];
  if (goOnAt !== undefined) return { at: goOnAt };
  const original = binding.epochs[0];
  if (binding.firstStart === "earliest" || original === undefined || partition >= original.partitions) {
    return { at: logStart };
  }
  return { timestampMs: binding.firstStart.timestampMs };
}
