import type { SourceService } from "../fleet/source-service.ts";
import type { PartitionView } from "../ports/control-plane.ts";

/** Why this process does not run a partition now, for people. */
export function whyUnassigned(service: SourceService, partition: number): string {
  const { consumer } = service;
  if (service.draining) return "this process drains: whoever comes next takes the partition";
  if (service.refusal !== undefined) return `${service.refusal.code}: ${service.refusal.text}`;
  switch (consumer.state) {
    case "backing-off":
      return `the consumer is not in the group and tries again: ${consumer.text ?? consumer.cause ?? "unknown"}`;
    case "idle":
    case "joining":
      return `the consumer is joining the group${because(consumer.text)}`;
    case "joined":
      return service.assignedHere.has(partition)
        ? `the partition was assigned to this process and cannot be taken yet${because(service.takeFailure)}`
        : "another member of the group has it, or nobody yet: the group did not assign it to this process";
    default:
      return "the consumer has ended";
  }
}

function because(failure: string | undefined): string {
  return failure === undefined ? "" : `: ${failure}`;
}

/** The group's committed offset, or, while it cannot be asked, the copy that was written before it. */
export function committedElsewhere(
  service: SourceService,
  partition: number,
): Pick<PartitionView, "committed" | "committedFrom"> {
  const committed = service.committedOf(partition);
  if (committed !== undefined) return { committed, committedFrom: { basis: "group", at: service.committedAt } };
  const copy = service.parts.survey.copyOf(partition);
  if (copy === undefined) return {};
  return { committed: copy.watermark, committedFrom: { basis: "copy", at: copy.readAt } };
}
