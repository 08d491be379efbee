import { invariant } from "../invariant.ts";
import type { Offset } from "../offset.ts";
import type { Copy } from "./copy.ts";
import type { PartitionState, Step } from "./state.ts";
import { mayCommit } from "./stop.ts";
import { halted, unchanged } from "./transition.ts";

/**
 * The copy to write next: everything acknowledged so far, once anything was (a start is a record of its own, not a commit). Undefined when there is nothing new, or when the partition is
 * in a state in which its commit is in doubt.
 */
export function copyDue(state: PartitionState): Copy | undefined {
  const { watermark, startedAt, copied, fingerprint, logStart, phase } = state;
  if (watermark === undefined || startedAt === undefined || watermark <= startedAt || !commits(phase)) return undefined;
  if (copied !== undefined && copied >= watermark) return undefined;
  return { watermark, fingerprint, logStartSeen: logStart };
}

/**
 * The offset to commit: as far as the copy holds what is acknowledged (the copy is written first, so a commit ahead of the
 * copy always means that somebody else moved it), if that is above what is committed (I2), or if an operator's start goes
 * back behind what is committed: the first commit after it lowers it. Not only when the copy has reached the watermark:
 * under load the watermark has always moved on meanwhile.
 */
export function commitDue(state: PartitionState): Offset | undefined {
  const { watermark, startedAt, copied, committed, tolerated, phase } = state;
  if (watermark === undefined || startedAt === undefined || copied === undefined || !commits(phase)) return undefined;
  const due = Math.min(copied, watermark);
  const lowers = committed !== undefined && committed === tolerated && committed !== due;
  return due > startedAt && (committed === undefined || committed < due || lowers) ? due : undefined;
}

/** Whether the phase lets what was acknowledged be copied and committed. */
function commits(phase: PartitionState["phase"]): boolean {
  if (phase.phase === "verifying" || phase.phase === "starting" || phase.phase === "gone") return false;
  return phase.phase !== "stopped" || mayCommit(phase.stop);
}

/** W owners hold the copy. */
export function onCopied(state: PartitionState, watermark: Offset): Step {
  invariant(watermark <= (state.watermark ?? -1), "COPY_AHEAD", `copy ${watermark} ahead of ${state.watermark}`);
  return unchanged({ ...state, copied: Math.max(state.copied ?? 0, watermark) });
}

/**
 * The committed offset as the broker holds it, read before every commit (the commit itself would hide what happened), and
 * the copy as the plane holds it, read after that. The stored copy is the judge, not our memory of it:
 *
 * 1. this process freezes, the group gives the partition away, the new owner applies and commits further;
 * 2. this process wakes up and reads the new owner's commit, far ahead of all that it remembers;
 * 3. judged by its memory it would stop a healthy partition for good; judged by the stored copy nothing was moved.
 */
export function onReadBack(state: PartitionState, committed: Offset | undefined, copy: Offset | undefined): Step {
  if (state.phase.phase === "stopped" && !mayCommit(state.phase.stop)) return unchanged(state);
  if (committed === undefined) {
    return state.committed === undefined
      ? unchanged(state)
      : halted(state, { code: "COMMIT_VANISHED", detail: `${state.committed} was committed`, wanted: state.committed });
  }
  const copied = Math.max(state.copied ?? 0, copy ?? 0);
  if (committed > copied && committed !== state.tolerated) {
    const detail = `committed offset ${committed}, applied up to ${copied}`;
    return halted(state, { code: "COMMIT_MOVED", detail, wanted: committed });
  }
  return unchanged({ ...state, committed, copied });
}

/**
 * The furthest that this life of the partition can have applied when it stops. A stop is void once the copy is beyond it:
 * then somebody else went on, and the stop came from a process that did not know that it had lost the partition.
 */
export function reachOf({ copied, position, watermark }: PartitionState): Offset {
  return Math.max(copied ?? 0, position ?? 0, watermark ?? 0);
}

/** The broker confirmed a commit. */
export function onCommitted(state: PartitionState, offset: Offset): Step {
  invariant(offset <= (state.copied ?? -1), "COMMIT_AHEAD", `commit ${offset} ahead of copy ${state.copied}`);
  return unchanged({ ...state, committed: offset, tolerated: undefined });
}
