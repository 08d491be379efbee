import { unreachable } from "../invariant.ts";
import { onCommitted, onCopied, onReadBack } from "./commit.ts";
import { onAcknowledged, onBatch, onPoison, onRetry, onWriteFailed } from "./flow.ts";
import { onBounds, onBoundsFailed, onFetchFault } from "./range.ts";
import { onFacts, onFactsFailed } from "./starting.ts";
import type { PartitionEvent, PartitionState, Step } from "./state.ts";
import { halted } from "./transition.ts";

/**
 * The partition machine: one event, one new state, the effects to carry out in order. Pure: time and randomness arrive
 * in events. Late or foreign results change nothing; a result of another assignment epoch is never handed in.
 *
 * @throws InvariantViolation when a promise of ours is broken; the runner answers with `halt`.
 */
export function step(state: PartitionState, event: PartitionEvent): Step {
  return withoutFetching(decide(state, event));
}

/**
 * A paused partition does everything but fetch, in whatever phase it is. Checked in one place and last, so that no way
 * into `running` can forget it: a start that was decided while the pause came, a hold that ended, a dispute that was settled.
 */
function withoutFetching({ state, effects }: Step): Step {
  if (!state.paused) return { state, effects };
  const allowed = effects.filter(({ effect }) => effect !== "begin" && effect !== "resume");
  return { state: state.fetching ? { ...state, fetching: false } : state, effects: allowed };
}

function decide(state: PartitionState, event: PartitionEvent): Step {
  if (state.phase.phase === "gone") return { state, effects: [] };
  switch (event.event) {
    case "facts":
      return onFacts(state, event.facts, event.stop);
    case "facts-failed":
      return onFactsFailed(state, event.cause);
    case "batch":
      return onBatch(state, event.batch);
    case "acknowledged":
      return onAcknowledged(state, event.seq, event.fingerprint);
    case "write-failed":
      return onWriteFailed(state, event.seq, event.cause);
    case "retry":
      return onRetry(state, event.seq, event.attempt);
    case "poison":
      return onPoison(state, event);
    case "fetch-fault":
      return onFetchFault(state, event.position, event.fault, event.detail);
    case "bounds":
      return onBounds(state, event);
    case "bounds-failed":
      return onBoundsFailed(state, event.cause);
    case "copied":
      return onCopied(state, event.watermark);
    case "read-back":
      return onReadBack(state, event.committed, event.copy);
    case "committed":
      return onCommitted(state, event.offset);
    case "halt":
      return halted(state, event.stop);
    case "pause":
      return onPause(state, event.paused);
    case "drain":
      return onDrain(state);
    case "revoked":
      return { state: { ...state, phase: { phase: "gone" }, inFlight: [], fetching: false }, effects: dropAll(state) };
    default:
      return unreachable(event);
  }
}

/** What was fetched before is still applied and committed; reading goes on from the position when the pause ends. */
function onPause(state: PartitionState, paused: boolean): Step {
  if (state.paused === paused) return { state, effects: [] };
  if (paused) return { state: { ...state, paused, fetching: false }, effects: [{ effect: "pause" }] };
  const { phase } = state.phase;
  const flows = (phase === "running" || phase === "verifying") && state.position !== undefined;
  if (!flows) return { state: { ...state, paused }, effects: [] };
  return { state: { ...state, paused, fetching: true }, effects: [{ effect: "begin", position: state.position }] };
}

function onDrain(state: PartitionState): Step {
  if (state.phase.phase === "stopped" || state.phase.phase === "draining") return { state, effects: [] };
  return { state: { ...state, phase: { phase: "draining" }, fetching: false }, effects: [{ effect: "pause" }] };
}

function dropAll(state: PartitionState): Step["effects"] {
  return state.inFlight.length === 0 ? [] : [{ effect: "drop", seqs: state.inFlight.map((batch) => batch.seq) }];
}
