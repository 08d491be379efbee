import { mayCommit, type Stop } from "../core/partition/stop.ts";
import type { SourceService } from "./source-service.ts";

/** Why the log of a partition may be another one than what was applied of it came from. */
export interface LogDoubt {
  /** `hold`: it is settled by itself, with a stop at the latest when the log contradicts for longer than limits.disputeFor. */
  readonly by: "stop" | "hold";
  /** Code of the stop or of the hold. */
  readonly code: string;
  readonly text: string;
}

/**
 * Whether a stop leaves open if what was applied is of the log that is there now. A topic whose partitions became fewer, or
 * no multiple, may have been re-created with another number of them.
 */
export function leavesLogOpen(stop: Stop): boolean {
  return !mayCommit(stop) || stop.code === "PARTITIONS_CHANGED";
}

/** What puts a partition's log in doubt, as far as this process knows; undefined when nothing does. */
export function logDoubtOf(service: SourceService, partition: number): LogDoubt | undefined {
  const stop = service.stopOf(partition)?.stop;
  if (stop !== undefined) return leavesLogOpen(stop) ? { by: "stop", code: stop.code, text: stop.detail } : undefined;
  return holdOf(service, partition);
}

/** The part of {@link logDoubtOf} that no stop says: a dispute about the log's bounds, or a log that is still to be recognised. */
export function holdOf(service: SourceService, partition: number): LogDoubt | undefined {
  const phase = service.runners.get(partition)?.state.phase;
  if (phase?.phase === "holding" && phase.on.hold === "bounds") return { by: "hold", ...phase.cause };
  if (phase?.phase === "starting" && phase.disputes > 0) {
    const { code, text } = phase.cause ?? { code: "OUT_OF_RANGE", text: "the log contradicts what was applied" };
    return { by: "hold", code, text };
  }
  if (phase?.phase !== "verifying") return undefined;
  return { by: "hold", code: "LOG_NOT_RECOGNISED", text: "the last applied record is looked for in the log first" };
}
