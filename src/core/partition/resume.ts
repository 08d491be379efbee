import type { Offset } from "../offset.ts";
import { type StartFacts, type StartRecord, decideStart, outOfRange, startOf } from "./start.ts";
import { type Stop, doubtsLog, isSourceWide } from "./stop.ts";

/** Where an operator wants a stopped partition to go on. */
export type ResumeFrom = Offset | "log-start" | "copy" | "committed";

/** What an operator asks for. Ranges are `[from, to)`. */
export interface ResumeRequest {
  readonly from: ResumeFrom;
  /** The range whose loss is accepted. `toMax` may be above what is lost now: retention moves while people type. */
  readonly acceptLoss?: { readonly from: Offset; readonly toMax: Offset };
  /** Records below it that cannot be applied go to the dead letters, whatever the policy and the breaker say. */
  readonly allowPoison?: { readonly to: Offset };
}

/** What the decision looks at, all of it read now. */
export interface ResumeFacts {
  readonly stop: Stop;
  /** The furthest that the life that stopped can have applied. */
  readonly reach: Offset;
  readonly start: StartFacts;
  /** The stop of the whole source, when its binding does not fit what the broker says now. */
  readonly sourceStop: Stop | undefined;
  /** Whether the partition was there before the growth that `sourceStop` is about. */
  readonly old: boolean;
}

/** A range that is passed over, and whether the log still holds it. */
export interface PassedOver {
  readonly from: Offset;
  readonly to: Offset;
  readonly cause: "lost" | "skipped";
}

/** What becomes of the request. */
export type ResumeDecision =
  | {
      readonly decision: "resume";
      readonly start: StartRecord;
      readonly allowPoison: Offset | undefined;
      readonly passedOver: readonly PassedOver[];
    }
  /** Data would be passed over, and `acceptLoss` does not cover it. `lost` is the range as it is now. */
  | { readonly decision: "loss"; readonly lost: { readonly from: Offset; readonly to: Offset } }
  /** `from` or `allowPoison` is outside the log. */
  | { readonly decision: "outside"; readonly wanted: Offset; readonly what: "from" | "allowPoison.to" }
  /** There is no copy, or no commit, to resume from. */
  | { readonly decision: "no-such-point"; readonly point: "copy" | "committed" }
  /** The log is, or may be, another one: only a topic epoch helps. */
  | { readonly decision: "needs-epoch"; readonly text: string };

/** Decides a resumption from what is true now. Pure. */
export function decideResume(facts: ResumeFacts, request: ResumeRequest): ResumeDecision {
  const { stop, start } = facts;
  const { bounds } = start;
  if (facts.sourceStop !== undefined && !(facts.sourceStop.code === "PARTITIONS_CHANGED" && facts.old)) {
    return { decision: "needs-epoch", text: facts.sourceStop.detail };
  }
  const from = pointOf(request.from, start);
  if (from === undefined) return { decision: "no-such-point", point: request.from === "copy" ? "copy" : "committed" };
  const record = startRecordOf(facts, from);
  // A log that contradicts the copy cannot be read on from anywhere, whatever `from` is.
  const started = decideStart({ ...start, startRecord: record });
  if (started.decision === "stop" && outOfRange(from, bounds) === undefined) {
    return { decision: "needs-epoch", text: started.stop.detail };
  }
  if (outOfRange(from, bounds) !== undefined) return { decision: "outside", wanted: from, what: "from" };
  if (doubtsLog(stop.code) && !isSafe(from, start)) {
    const text = "after this stop the partition may go on exactly where its copy ends, or under a new topic epoch";
    return { decision: "needs-epoch", text };
  }
  const passed = passedOver(facts, from);
  const lost = wholeOf(passed);
  const { acceptLoss, allowPoison } = request;
  if (
    lost !== undefined &&
    !(acceptLoss !== undefined && acceptLoss.from <= lost.from && lost.to <= acceptLoss.toMax)
  ) {
    return { decision: "loss", lost };
  }
  if (allowPoison !== undefined && (allowPoison.to <= from || allowPoison.to > bounds.end)) {
    return { decision: "outside", wanted: allowPoison.to, what: "allowPoison.to" };
  }
  return { decision: "resume", start: record, allowPoison: allowPoison?.to, passedOver: passed };
}

/**
 * Whether a partition whose log is in doubt may go on there: at its copy, where the last applied record is looked at first;
 * or, when the log begins behind the copy, anywhere in it. Then nothing of another log lies below, to be passed over in
 * silence, and whatever is read is newer than all before.
 */
function isSafe(from: Offset, { copy, bounds }: StartFacts): boolean {
  if (copy === undefined) return false;
  return from === copy.watermark || copy.watermark <= bounds.logStart;
}

function pointOf(from: ResumeFrom, { bounds, copy, committed }: StartFacts): Offset | undefined {
  if (typeof from === "number") return from;
  if (from === "log-start") return bounds.logStart;
  return from === "copy" ? copy?.watermark : committed;
}

/** A stop of a whole source holds for every owner, so its reach says nothing of what was applied. */
function startRecordOf({ reach, start, stop }: ResumeFacts, from: Offset): StartRecord {
  const { committed, copy } = start;
  const known = Math.max(committed ?? 0, copy?.watermark ?? 0);
  return {
    from,
    before: committed ?? null,
    copyBefore: copy?.watermark ?? null,
    settled: false,
    reach: isSourceWide(stop) ? known : Math.max(reach, known),
  };
}

/**
 * What lies between all that is known to be applied and `from`: the part below the log's start is lost, the rest is
 * skipped. Without a copy and without a start record nothing is known to be applied, so everything that the log holds is.
 */
function passedOver({ start }: ResumeFacts, from: Offset): readonly PassedOver[] {
  const { copy, bounds } = start;
  // Without a copy nothing was applied since the start record, whatever somebody has committed meanwhile.
  const applied =
    copy === undefined ? (start.startRecord?.from ?? bounds.logStart) : Math.max(copy.watermark, startOf(start) ?? 0);
  if (from <= applied) return [];
  const middle = Math.min(Math.max(applied, bounds.logStart), from);
  const lost: PassedOver[] = middle > applied ? [{ from: applied, to: middle, cause: "lost" }] : [];
  return from > middle ? [...lost, { from: middle, to: from, cause: "skipped" }] : lost;
}

function wholeOf(passed: readonly PassedOver[]): { readonly from: Offset; readonly to: Offset } | undefined {
  const first = passed[0];
  const last = passed.at(-1);
  return first === undefined || last === undefined ? undefined : { from: first.from, to: last.to };
}
