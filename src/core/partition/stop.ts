import type { Offset } from "../offset.ts";

/**
 * Every way in which the system halts one partition by itself. `commits` says whether work acknowledged before the stop
 * may still be committed: not where the group's committed offset itself is in doubt.
 */
export const STOPS = {
  BELOW_LOG_START: {
    commits: true,
    text: "the position is below the start of the log: records were deleted before they were read",
    remedy: "Decide what the lost range is worth, then resume from log-start accepting that loss.",
  },
  ABOVE_LOG_END: {
    commits: false,
    text: "the position is above the end of the log: the topic was truncated or re-created",
    remedy: "If the log comes back, resume from copy; if it was truncated or re-created, open a topic epoch.",
  },
  OFFSET_DISPUTED: {
    commits: true,
    text: "the broker keeps answering out of range for a position that its own bounds contain",
    remedy: "Check the partition's leader and replicas, then resume from committed.",
  },
  TOPIC_RECREATED: {
    commits: false,
    text: "the log is not the one that was read before",
    remedy: "If the topic was re-created, open a topic epoch; if it is still the same log, resume from copy.",
  },
  COMMIT_VANISHED: {
    commits: false,
    text: "the group's committed offset is gone: the topic was re-created, or the group deleted",
    remedy: "If the topic was re-created, open a topic epoch; if only the group was deleted, resume from copy.",
  },
  COMMIT_MOVED: {
    commits: false,
    text: "the group's committed offset is ahead of what was applied: somebody moved it",
    remedy: "Resume from copy to read what was skipped, or from committed accepting the loss.",
  },
  KV_COPY_MISSING: {
    commits: false,
    text: "the group has a committed offset, but the KV plane knows nothing of it",
    remedy: "Check kv.directories first; if the KV plane was replaced, resume from log-start to rebuild it.",
  },
  POISON: {
    commits: true,
    text: "a record cannot be applied and the source's policy is to stop",
    remedy: "Correct the descriptor or mapping and resume from committed; or resume with allowPoison.",
  },
  POISON_BREAKER: {
    commits: true,
    text: "too many records in a row, or too large a share of them, cannot be applied: a bad deploy, not bad records",
    remedy:
      "Correct the producer, the descriptor or the mapping and resume from committed; or resume with allowPoison.",
  },
  UNDECODABLE_BATCH: {
    commits: true,
    text: "a batch of records is damaged, or packed with a codec that this build does not have",
    remedy: "Check the broker's disks and the producers' compression, then resume from committed or past the batch.",
  },
  BATCH_TOO_LARGE: {
    commits: true,
    text: "a batch of records is larger in memory than limits.batchDecompressedBytes",
    remedy: "Raise the limit if the batch is wanted, then resume from committed.",
  },
  OFFSET_LIMIT: {
    commits: true,
    text: "the log has reached the largest offset that a version can carry",
    remedy: "Move the feed to a new topic under a new topic epoch.",
  },
  START_UNCOVERED: {
    commits: true,
    text: "a counting source would begin where no row of its ledger counts",
    remedy: "Resume from copy; what lies below it and was never counted is counted by a replay of its range.",
  },
  PARTITIONS_CHANGED: {
    commits: true,
    text: "the topic's partitions grew to a number that is no multiple of what it was, or shrank: keys moved between old partitions",
    remedy: "Quiet the producers, let the old partitions be read to their end, then open a topic epoch.",
  },
  IDENTITY_CHANGED: {
    commits: false,
    text: "the source is bound to another cluster or topic",
    remedy: "Point the configuration back and resume from committed, or open a topic epoch for the new topic.",
  },
  INVARIANT_BROKEN: {
    commits: false,
    text: "the service found itself in a state that it promises never to be in",
    remedy: "Report it with the log; nothing was committed. Resume from committed once it is understood.",
  },
} as const satisfies Record<string, { commits: boolean; text: string; remedy: string }>;

/** Stable code of a stop; operators and dashboards match on it. */
export type StopCode = keyof typeof STOPS;

/** The page of this repository that says what to do about a stop. */
export function pageOf(code: StopCode): string {
  return `docs/stops/${code}.md`;
}

/**
 * Stops after which the log itself is in doubt: the partition may only go on exactly where it was, with the log recognised, or
 * where the log begins behind that. Anything else would mix two logs under one topic epoch, in which versions of the second
 * may be below those of the first.
 */
const LOG_IN_DOUBT: ReadonlySet<StopCode> = new Set<StopCode>(["ABOVE_LOG_END", "TOPIC_RECREATED", "COMMIT_VANISHED"]);

/** Whether the log that was read before the stop may be another one now. */
export function doubtsLog(code: StopCode): boolean {
  return LOG_IN_DOUBT.has(code);
}

/** Whether a stop is one of the whole source: it holds for every owner, whatever was applied. */
export function isSourceWide({ code }: Stop): boolean {
  return code === "IDENTITY_CHANGED" || code === "PARTITIONS_CHANGED";
}

/** One halt of one partition, as it is stored (I13) and shown. */
export interface Stop {
  readonly code: StopCode;
  /** What happened here, in addition to the text of the code. */
  readonly detail: string;
  readonly wanted?: Offset;
  readonly bounds?: { readonly logStart: Offset; readonly end: Offset };
  /** `[from, to)` that cannot be read any more. */
  readonly lost?: { readonly from: Offset; readonly to: Offset };
}

/** Whether work acknowledged before this stop may be committed. */
export function mayCommit(stop: Stop): boolean {
  return STOPS[stop.code].commits;
}
