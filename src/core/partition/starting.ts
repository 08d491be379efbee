import { decideStart, type StartDecision, type StartFacts, toleratedCommit } from "./start.ts";
import type { Cause, PartitionState, Step } from "./state.ts";
import type { Stop } from "./stop.ts";
import { halted, unchanged } from "./transition.ts";

/** Facts are complete: begin, stop, or record the first start. `stop`: the partition was stopped before and stays so (I13). */
export function onFacts(state: PartitionState, facts: StartFacts, stop: Stop | undefined): Step {
  if (state.phase.phase !== "starting") return unchanged(state);
  const { committed, copy, bounds } = facts;
  const known: PartitionState = {
    ...state,
    committed,
    copied: copy?.watermark,
    tolerated: toleratedCommit(facts),
    fingerprint: copy?.fingerprint,
    logStart: bounds.logStart,
    end: bounds.end,
    watermark: stop === undefined ? undefined : copy?.watermark,
  };
  if (stop !== undefined) return { state: { ...known, phase: { phase: "stopped", stop } }, effects: [] };
  const decision = decideStart(facts);
  if (decision.decision === "first-start") return { state: known, effects: [{ effect: "record-first-start" }] };
  if (decision.decision === "start") return begin(known, decision);
  const { disputes } = state.phase;
  if (disputes >= state.disputesMax || decision.stop.code !== "ABOVE_LOG_END") return halted(known, decision.stop);
  return again(known, { code: "OUT_OF_RANGE", text: decision.stop.detail }, disputes + 1);
}

/** Facts could not be gathered: tried again for as long as it takes, nothing is fetched meanwhile (I5). */
export function onFactsFailed(state: PartitionState, cause: Cause): Step {
  return state.phase.phase === "starting" ? again(state, cause, state.phase.disputes) : unchanged(state);
}

function again(state: PartitionState, cause: Cause, disputes: number): Step {
  const attempt = state.phase.phase === "starting" ? state.phase.attempts + 1 : 1;
  return {
    state: { ...state, phase: { phase: "starting", attempts: attempt, disputes, cause } },
    effects: [{ effect: "gather-facts", attempt }],
  };
}

function begin(state: PartitionState, decision: Extract<StartDecision, { decision: "start" }>): Step {
  const { at, verify } = decision;
  const position = verify === undefined ? at : verify.fingerprint.offset;
  const phase: PartitionState["phase"] =
    verify === undefined ? { phase: "running", disputes: 0 } : { phase: "verifying", verify, disputes: 0 };
  return {
    state: { ...state, phase, watermark: at, startedAt: at, position, fetching: true },
    effects: [{ effect: "begin", position }],
  };
}
