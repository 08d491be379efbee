import type { Offset } from "../offset.ts";
import type { Copy, Fingerprint } from "./copy.ts";
import type { Stop } from "./stop.ts";

/** Where a partition begins, written before its first fetch. It decides until a later commit is confirmed. */
export interface StartRecord {
  readonly from: Offset;
  /** The group's committed offset when it was written, null where there was none. */
  readonly before: Offset | null;
  /** The copy when it was written, null where there was none. */
  readonly copyBefore: Offset | null;
  /** Set after a later commit was confirmed. A crash may come between the two: see {@link stillDecides}. */
  readonly settled: boolean;
  /**
   * Of an operator's start: the furthest that the life before it can have copied or committed, also after the record was
   * written (what was in flight when it stopped). Absent for first starts, which nothing came before.
   */
  readonly reach?: Offset;
}

/**
 * Whether nothing later than the start record is known. A committed offset or a copy that the life before it cannot have
 * left is later, also when the process died before it could settle the record. Otherwise a start of weeks ago would decide
 * again: below the log's start by then, or, where the topic was re-created meanwhile, within a log that nobody recognised.
 *
 * What the life before may still leave (`reach`) is not later:
 *
 * 1. the partition stops at 100 with [80, 100) in flight and 80 committed; the log begins at 500;
 * 2. an operator resumes from log-start: start record {from 500, before 80, reach 100};
 * 3. what was in flight is acknowledged, and 100 is copied and committed by the life that stopped;
 * 4. the next life reads 100. Taken for a later commit it would overrule the operator, and stop again below the log start.
 */
function stillDecides({ startRecord, committed, copy }: StartFacts): boolean {
  if (startRecord === undefined || startRecord.settled || isLater(committed, startRecord.before, startRecord))
    return false;
  // A copy without a fingerprint says that no record was ever applied, only holes were passed.
  return !isLater(copy?.watermark, startRecord.copyBefore, startRecord) || copy?.fingerprint === undefined;
}

/** Whether a commit or a copy is neither what stood when the record was written nor what the life before may still leave. */
function isLater(value: Offset | undefined, then: Offset | null, { reach }: StartRecord): boolean {
  return (value ?? null) !== then && (value === undefined || reach === undefined || value > reach);
}

/**
 * Whether the only thing later than an operator's start record is a copy: the process died between the first copy and the
 * first commit. The commit is still that of before, which may be below the log's start or ahead of the copy, so the copy
 * tells how far the partition came.
 */
function onlyCopyIsLater({ startRecord, committed, copy }: StartFacts): boolean {
  if (startRecord === undefined || startRecord.settled || startRecord.reach === undefined) return false;
  const lone = !isLater(committed, startRecord.before, startRecord);
  return lone && copy !== undefined && copy.watermark > startRecord.reach;
}

/**
 * The commit that an operator's start record knows of and goes back behind. It is not a commit that somebody moved; the
 * first commit after such a start lowers it (the one exception of I2). Undefined when there is none.
 */
export function toleratedCommit(facts: StartFacts): Offset | undefined {
  const { startRecord, committed } = facts;
  if (committed === undefined || startRecord?.reach === undefined || startRecord.before !== committed) return undefined;
  return stillDecides(facts) || onlyCopyIsLater(facts) ? committed : undefined;
}

/** Where the start record says that the partition begins, while nothing later is known. */
export function startOf(facts: StartFacts): Offset | undefined {
  return stillDecides(facts) ? facts.startRecord?.from : undefined;
}

/** All that the decision at I5 looks at. */
export interface StartFacts {
  readonly startRecord: StartRecord | undefined;
  /** The group's committed offset; a negative one has been turned into undefined. */
  readonly committed: Offset | undefined;
  readonly copy: Copy | undefined;
  readonly bounds: { readonly logStart: Offset; readonly end: Offset };
  /** An operator opened this log, and nobody has begun to read the partition in it: a commit is that of an earlier log. */
  readonly unread?: boolean;
}

/** What follows from the facts. */
export type StartDecision =
  /** No commit, no copy, no start record: the source's `startFrom` is resolved and recorded, then facts are read again. */
  | { readonly decision: "first-start" }
  | {
      readonly decision: "start";
      readonly at: Offset;
      /** Read this record first; if it is another one, the log is another log. */
      readonly verify?: Verification;
    }
  | { readonly decision: "stop"; readonly stop: Stop };

/** A record by which the log is recognised before anything new is read. */
export interface Verification {
  readonly fingerprint: Fingerprint;
  /** What to do when the record is no longer in the log (compacted): a known commit vouches for it, nothing else does. */
  readonly ifAbsent: "go-on" | "stop";
}

/** The table at I5, then I4. Pure. */
export function decideStart(facts: StartFacts): StartDecision {
  const { startRecord, committed, copy, bounds } = facts;
  const anotherLog = contradiction(facts);
  if (anotherLog !== undefined) return { decision: "stop", stop: anotherLog };
  if (startRecord !== undefined && stillDecides(facts)) return recognised(startRecord.from, copy, bounds);
  if (copy !== undefined && onlyCopyIsLater(facts)) return fromCopy(copy, bounds);
  if (facts.unread === true) return { decision: "first-start" };
  // The commit that the record knew of has vanished, and nothing was applied since: the record is the start, not the source's
  // first moment, which was recorded long ago and would be asked for again and again.
  if (committed === undefined && copy === undefined && startRecord !== undefined) {
    return within(startRecord.from, bounds);
  }
  if (committed === undefined) return copy === undefined ? { decision: "first-start" } : fromCopy(copy, bounds);
  // Nothing was ever applied, and the plane remembers where this partition begins: a reset of the group to there, or to
  // before, moved nothing that was applied.
  if (copy === undefined && startRecord !== undefined && committed <= startRecord.from)
    return within(committed, bounds);
  if (copy === undefined) {
    return halt("KV_COPY_MISSING", `committed offset ${committed} without a copy`, committed, bounds);
  }
  if (committed > copy.watermark) {
    return halt("COMMIT_MOVED", `committed offset ${committed}, applied up to ${copy.watermark}`, committed, bounds);
  }
  return recognised(committed, copy, bounds);
}

/**
 * A start where the copy ends, or before that, is preceded by a look at the last acknowledged record, where the log still has
 * it. Before that, too: a process that dies between a copy and its commit leaves the commit behind, and an election that cut
 * what was applied in between would not be noticed.
 */
function recognised(at: Offset, copy: Copy | undefined, bounds: StartFacts["bounds"]): StartDecision {
  const start = within(at, bounds);
  const fingerprint = copy !== undefined && at <= copy.watermark ? copy.fingerprint : undefined;
  if (start.decision !== "start" || fingerprint === undefined || fingerprint.offset < bounds.logStart) return start;
  return { ...start, verify: { fingerprint, ifAbsent: "go-on" } };
}

/** What the copy remembers of the log and the log now denies. */
function contradiction({ copy, bounds }: StartFacts): Stop | undefined {
  if (copy === undefined) return undefined;
  if (bounds.end < copy.watermark) {
    const detail = `applied up to ${copy.watermark}, but the log ends at ${bounds.end}`;
    return { code: "ABOVE_LOG_END", detail, wanted: copy.watermark, bounds };
  }
  if (copy.logStartSeen !== undefined && bounds.logStart < copy.logStartSeen) {
    const detail = `the log began at ${copy.logStartSeen} and now begins at ${bounds.logStart}`;
    return { code: "TOPIC_RECREATED", detail, wanted: copy.watermark, bounds };
  }
  return undefined;
}

/** No commit, a copy. */
function fromCopy(copy: Copy, bounds: StartFacts["bounds"]): StartDecision {
  if (bounds.logStart >= copy.watermark) return within(copy.watermark, bounds);
  if (copy.fingerprint === undefined || copy.fingerprint.offset < bounds.logStart) {
    return halt("TOPIC_RECREATED", "no commit, and no record left to recognise the log by", copy.watermark, bounds);
  }
  return {
    decision: "start",
    at: copy.watermark,
    verify: { fingerprint: copy.fingerprint, ifAbsent: "stop" },
  };
}

/** I4: a start outside the bounds is a stop, never a correction. */
function within(at: Offset, bounds: StartFacts["bounds"]): StartDecision {
  const stop = outOfRange(at, bounds);
  return stop === undefined ? { decision: "start", at } : { decision: "stop", stop };
}

/** The stop for a position outside `[logStart, end]`, undefined inside; the end itself is legal (nothing there yet). */
export function outOfRange(
  position: Offset,
  bounds: { readonly logStart: Offset; readonly end: Offset },
): Stop | undefined {
  if (position < bounds.logStart) {
    return {
      code: "BELOW_LOG_START",
      detail: `wanted ${position}, the log begins at ${bounds.logStart}`,
      wanted: position,
      bounds,
      lost: { from: position, to: bounds.logStart },
    };
  }
  if (position > bounds.end) {
    return {
      code: "ABOVE_LOG_END",
      detail: `wanted ${position}, the log ends at ${bounds.end}`,
      wanted: position,
      bounds,
    };
  }
  return undefined;
}

function halt(code: Stop["code"], detail: string, wanted: Offset, bounds: StartFacts["bounds"]): StartDecision {
  return { decision: "stop", stop: { code, detail, wanted, bounds } };
}
