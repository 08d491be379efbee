import type { Offset } from "../core/offset.ts";
import { commitDue, copyDue } from "../core/partition/commit.ts";
import type { PartitionRunner } from "./partition-runner.ts";
import type { SourceService } from "./source-service.ts";

interface Standing {
  readonly at: Offset;
  readonly basis: "watermark" | "committed";
}

/** Where a partition stands for its readers: its watermark, or what the group has committed where no runner of ours knows more. */
export function standing(service: SourceService, partition: number): Standing | undefined {
  const watermark = service.runners.get(partition)?.state.watermark;
  if (watermark !== undefined) return { at: watermark, basis: "watermark" };
  const committed = service.committedOf(partition);
  return committed === undefined ? undefined : { at: committed, basis: "committed" };
}

/** Whether what was acknowledged is ahead of what the group holds; also of a partition that was lost meanwhile. */
export function uncommitted({ state: { watermark, startedAt, committed } }: PartitionRunner): boolean {
  if (watermark === undefined || startedAt === undefined || watermark <= startedAt) return false;
  return committed === undefined || committed < watermark;
}

/** Whether something acknowledged is not committed yet. */
export function outstanding(runner: PartitionRunner): boolean {
  return copyDue(runner.state) !== undefined || commitDue(runner.state) !== undefined;
}
