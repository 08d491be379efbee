import type { Offset } from "../offset.ts";
import { outOfRange, type Verification } from "./start.ts";
import type { BoundsReading, Cause, FetchFaultCode, PartitionState, Step } from "./state.ts";
import { halted, truncateAfter, unchanged } from "./transition.ts";

/** The broker edge could not turn a fetch into records; it has paused the partition already. */
export function onFetchFault(state: PartitionState, position: Offset, fault: FetchFaultCode, detail: string): Step {
  const { phase } = state;
  if (phase.phase !== "running" && phase.phase !== "verifying") return unchanged(state);
  if (fault === "undecodable") return halted(state, { code: "UNDECODABLE_BATCH", detail, wanted: position });
  if (fault === "batch-too-large") return halted(state, { code: "BATCH_TOO_LARGE", detail, wanted: position });
  const verify = phase.phase === "verifying" ? phase.verify : undefined;
  return dispute(state, phase.disputes + 1, { code: "OUT_OF_RANGE", text: detail }, verify);
}

/** Waits for the log's bounds: only they decide whether an out-of-range answer is true (I4). */
function dispute(state: PartitionState, attempts: number, cause: Cause, verify: Verification | undefined): Step {
  return {
    state: { ...state, phase: { phase: "holding", on: { hold: "bounds", verify }, cause, attempts }, fetching: false },
    effects: [{ effect: "pause" }, { effect: "read-bounds", attempt: attempts }],
  };
}

/** What the partition knows of its log's two ends, to be handed back with the bounds that are read next. */
export function knownBounds(state: PartitionState): BoundsReading["before"] {
  return { reached: reachedBy(state), logStart: state.logStart ?? 0 };
}

/** Next to be applied: who looks for the last applied record reads elsewhere. */
export function wantedOf({ phase, position, watermark }: PartitionState): Offset | undefined {
  return phase.phase === "verifying" ? watermark : position;
}

/** What the log has held for certain: what was read of it, and what was applied, by whomever. */
function reachedBy({ position, watermark, copied }: PartitionState): Offset {
  return Math.max(position ?? 0, watermark ?? 0, copied ?? 0);
}

/** Bounds as the broker says now: settles a dispute, and notices a log that shrank at either end. */
export function onBounds(state: PartitionState, reading: BoundsReading): Step {
  const { phase } = state;
  const { logStart, end, before } = reading;
  const shrank = end < before.reached;
  const seen: PartitionState = {
    ...state,
    logStart: Math.max(state.logStart ?? 0, logStart),
    end: shrank ? end : Math.max(end, state.position ?? 0),
  };
  if (phase.phase === "holding" && phase.on.hold === "bounds") {
    return reading.asked ? settle(seen, { ...phase, verify: phase.on.verify }, reading) : unchanged(seen);
  }
  if (phase.phase !== "running" && phase.phase !== "verifying") return unchanged(seen);
  if (logStart < before.logStart) {
    const detail = `the log began at ${before.logStart} and now begins at ${logStart}`;
    return halted(state, { code: "TOPIC_RECREATED", detail, bounds: { logStart, end } });
  }
  return shrank
    ? dispute(
        seen,
        1,
        { code: "OUT_OF_RANGE", text: `the log ends at ${end}, below the position ${before.reached}` },
        phase.phase === "verifying" ? phase.verify : undefined,
      )
    : unchanged(seen);
}

/** An open dispute: how often it was tried, why, and whether the log still has to be recognised. */
interface Dispute {
  readonly attempts: number;
  readonly cause: Cause;
  readonly verify: Verification | undefined;
}

function settle(state: PartitionState, { attempts, cause, verify }: Dispute, reading: BoundsReading): Step {
  const bounds = { logStart: reading.logStart, end: reading.end };
  // A reader that looks for the last acknowledged record stands there; what is wanted is what comes next.
  const position = (verify === undefined ? state.position : state.watermark) ?? 0;
  const stop = position < bounds.logStart ? outOfRange(position, bounds) : outOfRange(reachedBy(state), bounds);
  if (stop?.code === "BELOW_LOG_START") return halted(state, stop);
  if (attempts >= state.disputesMax) {
    return halted(state, stop ?? { code: "OFFSET_DISPUTED", detail: cause.text, wanted: position, bounds });
  }
  if (stop !== undefined) return dispute(state, attempts + 1, cause, verify);
  const wanted = verify ?? recognisable(state, bounds.logStart);
  if (wanted === undefined || wanted.fingerprint.offset >= bounds.logStart) {
    return resume(state, attempts, wanted, position);
  }
  // Retention took the record meanwhile.
  if (wanted.ifAbsent === "go-on") return resume(state, attempts, undefined, position);
  return halted(state, {
    code: "TOPIC_RECREATED",
    detail: "no commit, and no record left to recognise the log by",
    wanted: position,
    bounds,
  });
}

/**
 * An end that was below us and is not any more: an election, or another log that has grown past us meanwhile. The last
 * acknowledged record tells which; what is in flight is read again.
 */
function recognisable({ fingerprint }: PartitionState, logStart: Offset): Verification | undefined {
  if (fingerprint === undefined || fingerprint.offset < logStart) return undefined;
  return { fingerprint, ifAbsent: "go-on" };
}

function resume(state: PartitionState, disputes: number, verify: Verification | undefined, position: Offset): Step {
  if (verify === undefined) {
    const running: PartitionState = { ...state, phase: { phase: "running", disputes }, position, fetching: true };
    return { state: running, effects: [{ effect: "begin", position }] };
  }
  const from = verify.fingerprint.offset;
  const kept = truncateAfter(state, 0, from);
  return {
    state: { ...kept.state, phase: { phase: "verifying", verify, disputes }, fetching: true },
    effects: [...kept.effects, { effect: "begin", position: from }],
  };
}

/** Bounds could not be read: the dispute stays open, without counting against the position. */
export function onBoundsFailed(state: PartitionState, cause: Cause): Step {
  const { phase } = state;
  if (phase.phase !== "holding" || phase.on.hold !== "bounds") return unchanged(state);
  return {
    state: { ...state, phase: { ...phase, cause } },
    effects: [{ effect: "read-bounds", attempt: phase.attempts }],
  };
}
