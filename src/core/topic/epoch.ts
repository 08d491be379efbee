import type { Offset } from "../offset.ts";
import type { Copy } from "../partition/copy.ts";
import type { ResumeFrom } from "../partition/resume.ts";
import { type Stop, doubtsLog } from "../partition/stop.ts";
import { TOPIC_EPOCH_MAX } from "../version.ts";
import { type Binding, type Identity, type LogOpening, logOf, topicEpochOf } from "./binding.ts";

/** One partition when a topic epoch is asked for, everything read now. */
export interface EpochPartition {
  readonly partition: number;
  readonly stop: Stop | undefined;
  readonly copy: Copy | undefined;
  /** Where its start record says that it begins; undefined when it was never begun. */
  readonly startsAt: Offset | undefined;
  readonly bounds: { readonly logStart: Offset; readonly end: Offset };
}

/** What becomes of the request for a topic epoch. */
export type EpochDecision =
  | { readonly decision: "open"; readonly binding: Binding; readonly epoch: number }
  /** The source reads the log that it is bound to, and nothing says otherwise. */
  | { readonly decision: "not-needed" }
  /** Partitions grew, and some old ones still hold records that must be applied under the old epoch first. */
  | { readonly decision: "not-read"; readonly behind: readonly BehindPartition[] }
  /** Epochs are numbered up to {@link TOPIC_EPOCH_MAX}. */
  | { readonly decision: "exhausted" };

/** An old partition that is not read to its end. */
export interface BehindPartition {
  readonly partition: number;
  readonly applied: Offset | undefined;
  readonly end: Offset;
  /** `from` of the resumption that reads it to its end: the copy, or where it was to begin while nothing was applied. */
  readonly resumeFrom: ResumeFrom;
}

/** What the caller adds to an opening. */
export type Opener = Omit<LogOpening, "givenUp" | "entered">;

/**
 * Decides whether a topic epoch may be opened, and what the source is bound to from then on. Pure.
 *
 * Another log (re-created, truncated, another cluster): all partitions begin anew at the log's start under new epochs, in
 * the order in which the partitions grew, so that a key that moved stays newer in its new place when all is read again.
 *
 * A growth that moved keys between old partitions: the old ones go on where they were read to, the new ones begin at their
 * start, all under one new epoch: whatever is read from then on is newer than all before. That is only right when the old
 * partitions were read to their end, so nothing that was written before the growth may be left.
 */
export function decideEpoch(
  binding: Binding,
  identity: Identity,
  partitions: readonly EpochPartition[],
  opener: Opener,
): EpochDecision {
  const known = binding.epochs.at(-1)?.partitions ?? 0;
  const old = partitions.filter(({ partition }) => partition < known);
  const next = Math.max(...binding.epochs.map(({ epoch }) => epoch)) + 1;
  if (isAnotherLog(binding, identity, known, old)) {
    const epochs = mirrored(binding, identity.partitions, next);
    const last = epochs.at(-1)?.epoch ?? next;
    if (last > TOPIC_EPOCH_MAX) return { decision: "exhausted" };
    const givenUp = old.flatMap((entry) => unreadOf(binding, entry));
    return opened(binding, identity, { epochs, log: next, opened: { ...opener, givenUp, entered: false } });
  }
  if (binding.refused === undefined && identity.partitions % known === 0) return { decision: "not-needed" };
  if (next > TOPIC_EPOCH_MAX) return { decision: "exhausted" };
  const behind = old.filter(({ copy, bounds }) => appliedOf(copy, bounds) !== bounds.end);
  if (behind.length > 0) return { decision: "not-read", behind: behind.map(behindOf) };
  return opened(binding, identity, {
    epochs: [{ epoch: next, partitions: identity.partitions }],
    log: next,
    goOnAt: old.toSorted((a, b) => a.partition - b.partition).map(({ bounds }) => bounds.end),
    opened: { ...opener, givenUp: [], entered: false },
  });
}

function isAnotherLog(binding: Binding, identity: Identity, known: number, old: readonly EpochPartition[]): boolean {
  if (binding.clusterId !== identity.clusterId || binding.topic !== identity.topic) return true;
  return identity.partitions < known || old.some(doubted);
}

function doubted({ stop, copy, bounds }: EpochPartition): boolean {
  if (stop !== undefined && (doubtsLog(stop.code) || stop.code === "OFFSET_LIMIT")) return true;
  return copy !== undefined && (bounds.end < copy.watermark || bounds.logStart < (copy.logStartSeen ?? 0));
}

/** A partition in which nothing was ever written has no copy, and is read to its end. */
function appliedOf(copy: Copy | undefined, bounds: EpochPartition["bounds"]): Offset | undefined {
  return copy?.watermark ?? (bounds.end === bounds.logStart ? bounds.end : undefined);
}

function behindOf({ partition, copy, startsAt, bounds }: EpochPartition): BehindPartition {
  const resumeFrom = copy === undefined ? (startsAt ?? "log-start") : "copy";
  return { partition, applied: copy?.watermark, end: bounds.end, resumeFrom };
}

function unreadOf(binding: Binding, { partition, copy }: EpochPartition): LogOpening["givenUp"] {
  return [{ partition, topicEpoch: topicEpochOf(binding, partition) ?? 0, from: copy?.watermark ?? 0 }];
}

/** The growth of the log before, under new numbers, as far as the topic still has the partitions. */
function mirrored({ epochs }: Binding, partitions: number, next: number): Binding["epochs"] {
  const steps = epochs.map((entry) => entry.partitions).filter((count) => count < partitions);
  return [...steps, partitions].map((count, index) => ({ epoch: next + index, partitions: count }));
}

function opened(
  binding: Binding,
  { clusterId, topic }: Identity,
  log: Pick<Binding, "epochs" | "goOnAt"> & { readonly log: number; readonly opened: LogOpening },
): EpochDecision {
  // What leaves the sums, and what stays, changes in the one write that opens the log.
  const keep = log.opened.counting === "continues";
  const past = [...(binding.past ?? []), { log: logOf(binding), epochs: binding.epochs, summed: true }].map(
    ({ summed, ...rest }) => (keep && summed === true ? { ...rest, summed } : rest),
  );
  return { decision: "open", epoch: log.log, binding: { clusterId, topic, firstStart: "earliest", past, ...log } };
}
