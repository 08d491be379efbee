import type { Offset } from "../offset.ts";
import type { InFlight, PartitionEffect, PartitionState, Step } from "./state.ts";
import type { Stop } from "./stop.ts";

/** Nothing changes. */
export function unchanged(state: PartitionState): Step {
  return { state, effects: [] };
}

/** The system halts the partition: no more fetching; what was delivered before may still be acknowledged. */
export function halted(state: PartitionState, stop: Stop): Step {
  const { phase } = state;
  if (phase.phase === "stopped") return unchanged(state);
  // A held batch is not tried again once the partition is stopped: it would keep its memory for nothing.
  const held = phase.phase === "holding" && phase.on.hold === "write" ? phase.on.seq : undefined;
  const from = state.inFlight.find((batch) => batch.seq === held)?.from;
  const kept: Step =
    held === undefined || from === undefined ? { state, effects: [] } : truncateAfter(state, held - 1, from);
  return {
    state: { ...kept.state, phase: { phase: "stopped", stop }, fetching: false },
    effects: [...kept.effects, { effect: "pause" }, { effect: "persist-stop", stop }],
  };
}

/** Keeps the batches up to `seq` and forgets the later ones: they will be read again from `position`. */
export function truncateAfter(state: PartitionState, seq: number, position: Offset): Step {
  const kept = state.inFlight.filter((batch) => batch.seq <= seq);
  const dropped = state.inFlight.filter((batch) => batch.seq > seq).map((batch) => batch.seq);
  const effects: PartitionEffect[] = dropped.length === 0 ? [] : [{ effect: "drop", seqs: dropped }];
  return { state: { ...state, inFlight: kept, position }, effects };
}

/** Passes the watermark over the acknowledged prefix (I1: never past a gap). */
export function advance(state: PartitionState, inFlight: readonly InFlight[]): PartitionState {
  const firstOpen = inFlight.findIndex((batch) => !batch.acknowledged);
  const passed = firstOpen === -1 ? inFlight : inFlight.slice(0, firstOpen);
  const last = passed.at(-1);
  if (last === undefined) return { ...state, inFlight };
  const fingerprint = passed.findLast((batch) => batch.fingerprint !== undefined)?.fingerprint;
  return {
    ...state,
    inFlight: inFlight.slice(passed.length),
    watermark: last.next,
    fingerprint: fingerprint ?? state.fingerprint,
    leaderEpoch: acknowledgedUnder(
      state.leaderEpoch,
      passed.findLast((batch) => batch.leaderEpoch !== undefined),
    ),
  };
}

function acknowledgedUnder(
  before: PartitionState["leaderEpoch"],
  last: Pick<InFlight, "leaderEpoch"> | undefined,
): PartitionState["leaderEpoch"] {
  const acknowledged = last?.leaderEpoch;
  return before === undefined || acknowledged === undefined ? before : { ...before, acknowledged };
}
