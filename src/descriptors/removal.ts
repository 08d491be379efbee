import type { AuditLog } from "../audit/audit-log.ts";
import { updateRecord } from "../control/json-record.ts";
import { DescriptorRecord, recordNames } from "../control/records.ts";
import { StreamsError } from "../errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { DescriptorVersionView } from "../ports/descriptors.ts";
import type { Order } from "../ports/operators.ts";
import { viewOf } from "./registry.ts";
import { type UsesParts, usesOf } from "./uses.ts";

export interface RemovalParts extends UsesParts {
  readonly audit: AuditLog;
  readonly clock: Clock;
}

/**
 * Removes the text of a version that nothing needs; its number stays taken. Against an activation that comes at the same time:
 *
 * 1. the version is marked, so that no activation that begins now can be finished;
 * 2. uses are looked for; an activation that began before has stored the revision that names the version, or meets the mark;
 * 3. the text goes where the mark is still this call's, or the mark goes.
 *
 * A mark that a crash leaves keeps new uses away until somebody removes again.
 * @throws StreamsError DESCRIPTOR_NOT_FOUND, DESCRIPTOR_IN_USE; KvFault
 */
export async function removeVersion(
  parts: RemovalParts,
  subject: string,
  version: number,
  order: Order,
): Promise<DescriptorVersionView> {
  const call = { ...order, action: "remove-descriptor", source: "", partition: null } as const;
  return parts.audit.around({ ...call, detail: `subject ${subject}, version ${version}` }, async (id) => {
    const view = await remove(parts, subject, version, order, id);
    await parts.audit.finish(id, []);
    return view;
  });
}

async function remove(
  parts: RemovalParts,
  subject: string,
  version: number,
  { actor, reason }: Order,
  mark: string,
): Promise<DescriptorVersionView> {
  const marked = await change(parts, subject, version, (record) =>
    record.removed === undefined ? { ...record, removing: mark } : record,
  );
  if (marked.removed !== undefined) return viewOf(subject, { version, record: marked });
  const uses = await usesOf(parts, subject, version);
  const at = parts.clock.now();
  const after = await change(parts, subject, version, (record) => {
    if (record.removing !== mark) return record;
    const { removing: _mark, ...unmarked } = record;
    return uses.length > 0 ? unmarked : { ...unmarked, files: {}, removed: { actor, reason, at } };
  });
  if (uses.length > 0) {
    const texts = Object.fromEntries(uses.map(({ place, text }, index) => [`use ${index + 1}`, `${place}: ${text}`]));
    const [first] = uses;
    const where = first === undefined ? "" : `: ${first.place}, ${first.text}`;
    throw new StreamsError("DESCRIPTOR_IN_USE", `version ${version} of subject ${subject} is in use${where}`, texts);
  }
  if (after.removed === undefined) {
    throw new StreamsError("DESCRIPTOR_IN_USE", "somebody else removes it at the same time; their call decides");
  }
  return viewOf(subject, { version, record: after });
}

async function change(
  { control }: RemovalParts,
  subject: string,
  version: number,
  make: (record: DescriptorRecord) => DescriptorRecord,
): Promise<DescriptorRecord> {
  const name = recordNames.descriptor(subject, version);
  const stored = await updateRecord(control, name, DescriptorRecord, (present) => {
    if (present === undefined) {
      throw new StreamsError("DESCRIPTOR_NOT_FOUND", `subject ${subject} has no version ${version}`);
    }
    return make(present);
  });
  return stored.value;
}
