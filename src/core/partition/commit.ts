import { invariant } from "../invariant.ts";
import type { Offset } from "../offset.ts";
import type { Copy } from "./copy.ts";
import type { PartitionState, Step } from "./state.ts";
import { mayCommit } from "./stop.ts";
import { halted, unchanged } from "./transition.ts";

/**
 * The copy to write next: everything acknowledged so far. Undefined when there is nothing new, or when the partition is
 * in a state in which its commit is in doubt.
 */
export function copyDue(state: PartitionState): Copy | undefined {
  const { watermark, copied, committed, fingerprint, logStart, phase } = state;
  if (watermark === undefined || phase.phase === "verifying" || phase.phase === "starting" || phase.phase === "gone") {
    return undefined;
  }
  if (phase.phase === "stopped" && !mayCommit(phase.stop)) return undefined;
  const written = copied !== undefined && copied >= watermark;
  if (written && committed !== undefined && committed >= watermark) return undefined;
  return { watermark, fingerprint, logStartSeen: logStart };
}

/**
 * The offset to commit: the watermark, if the copy holds it already (the copy is written first, so a commit ahead of the
 * copy always means that somebody else moved it) and it is above what is committed (I2).
 */
export function commitDue(state: PartitionState): Offset | undefined {
  const due = copyDue(state);
  const { copied, committed } = state;
  if (due === undefined || copied === undefined || copied < due.watermark) return undefined;
  return committed === undefined || committed < due.watermark ? due.watermark : undefined;
}

/** W owners hold the copy. */
export function onCopied(state: PartitionState, watermark: Offset): Step {
  invariant(watermark <= (state.watermark ?? -1), "COPY_AHEAD", `copy ${watermark} ahead of ${state.watermark}`);
  return unchanged({ ...state, copied: Math.max(state.copied ?? 0, watermark) });
}

/** The committed offset as the broker holds it, read before every commit: the commit itself would hide what happened. */
export function onReadBack(state: PartitionState, committed: Offset | undefined): Step {
  if (state.phase.phase === "stopped" && !mayCommit(state.phase.stop)) return unchanged(state);
  if (committed === undefined) {
    return state.committed === undefined
      ? unchanged(state)
      : halted(state, { code: "COMMIT_VANISHED", detail: `${state.committed} was committed`, wanted: state.committed });
  }
  const applied = Math.max(state.copied ?? 0, state.committed ?? 0);
  if (committed > applied) {
    const detail = `committed offset ${committed}, applied up to ${applied}`;
    return halted(state, { code: "COMMIT_MOVED", detail, wanted: committed });
  }
  return unchanged({ ...state, committed });
}

/** The broker confirmed a commit. */
export function onCommitted(state: PartitionState, offset: Offset): Step {
  invariant(offset <= (state.copied ?? -1), "COMMIT_AHEAD", `commit ${offset} ahead of copy ${state.copied}`);
  return unchanged({ ...state, committed: offset });
}
