import { BindingRecord, recordNames } from "../control/records.ts";
import { bindingRecord } from "../control/binding-record.ts";
import { updateRecord } from "../control/json-record.ts";
import type { Stop } from "../core/partition/stop.ts";
import { COUNTING_KINDS } from "../core/source.ts";
import { type Binding, bind, rebind } from "../core/topic/binding.ts";
import { type Assignment, SourceFault } from "../ports/record-source.ts";
import { enterOpening } from "./entering.ts";
import type { SourceParts } from "./source-service.ts";

/**
 * Reads what the source is bound to, binds it at its first start, and notices growth. A broker's metadata may lag behind:
 * fewer partitions than are bound or assigned are asked for again before they mean anything. @throws SourceFault, KvFault
 */
export async function bindTopic(
  parts: SourceParts,
  assignment: Assignment,
  attempt: number,
): Promise<{ readonly binding: Binding; readonly stop: Stop | undefined }> {
  const { source, plane, clock, inForce, disputesMax } = parts;
  const { name } = inForce.definition;
  const identity = await source.identity();
  const assigned = Math.max(-1, ...assignment.partitions) + 1;
  if (identity.partitions < assigned) throw stale(identity.partitions, assigned);
  let stop: Stop | undefined;
  const stored = await updateRecord(plane.control, recordNames.binding(name), BindingRecord, (present) => {
    stop = undefined;
    if (present === undefined) return bindingRecord(bind(identity, inForce.definition.startFrom, clock.now()));
    const bound = present.epochs.at(-1)?.partitions ?? 0;
    if (identity.partitions < bound && attempt <= disputesMax) throw stale(identity.partitions, bound);
    const result = rebind(present, identity, COUNTING_KINDS.has(inForce.definition.kind));
    if (result.outcome === "stop") stop = result.stop;
    if (result.outcome === "unchanged" || result.binding === present) return present;
    return bindingRecord(result.binding);
  });
  // Nothing of a log is read before what was given up for it is entered.
  return { binding: await enterOpening(parts, name, stored.value), stop };
}

function stale(found: number, expected: number): SourceFault {
  return new SourceFault(
    "unknown",
    `the topic's metadata names ${found} partitions, at least ${expected} are expected`,
  );
}
