import type {
  CompatibilityReason,
  CompatibilityRequest,
  DescriptorChecks,
  MappedField,
} from "../ports/descriptor-checks.ts";
import { MessageComparer } from "./compat-messages.ts";
import { Reasons } from "./compat-reasons.ts";
import { declaredType, keyChange, valueChange } from "./compat-types.ts";
import { buildSchema } from "./schema-build.ts";
import { digestOf } from "./schema-digest.ts";
import type { FieldSchema, MessageSchema, Schema } from "./schema.ts";

/** Makes the checks of descriptors. */
export function createDescriptorChecks(): DescriptorChecks {
  return { digest: (files) => digestOf(buildSchema(files)), compatibility };
}

function compatibility({ before, after, roots, mapped = [] }: CompatibilityRequest): readonly CompatibilityReason[] {
  const reasons = new Reasons();
  const now = buildSchema(after);
  const since = new Map<string, Set<number>[]>();
  for (const [index, files] of [...before.entries()].toReversed()) {
    reasons.against = index;
    const old = buildSchema(files);
    const comparer = new MessageComparer(reasons, since);
    compareRoots(old, now, roots, comparer, reasons);
    for (const field of mapped) compareMapped(old, now, field, comparer.paired, reasons);
    for (const [fullName, newName] of comparer.paired) {
      const numbers = new Set(old.message(fullName)?.byNumber.keys());
      since.set(newName, [...(since.get(newName) ?? []), numbers]);
    }
  }
  return reasons.sorted();
}

/** Messages of equal names first; then those that are left, which may have moved or been renamed. */
function compareRoots(
  old: Schema,
  now: Schema,
  roots: readonly string[] | undefined,
  comparer: MessageComparer,
  reasons: Reasons,
): void {
  const messages = roots === undefined ? old.messages : roots.flatMap((name) => old.message(name) ?? []);
  for (const message of messages) {
    const same = now.message(message.fullName);
    if (same !== undefined) comparer.compare(message, same);
  }
  const taken = new Set(comparer.paired.values());
  const free = now.messages.filter(({ fullName }) => !taken.has(fullName) && old.message(fullName) === undefined);
  const byName = grouped(free, relativeName);
  const byNumbers = grouped(free, numbersOf);
  for (const message of messages) {
    if (comparer.paired.has(message.fullName)) continue;
    const [moved] = byName.get(relativeName(message)) ?? [];
    const renamed = moved ?? (byNumbers.get(numbersOf(message)) ?? []).find((other) => isAlike(message, other));
    if (renamed !== undefined) comparer.compare(message, renamed);
    else reasons.add("MESSAGE_REMOVED", { type: message.fullName, before: message.fullName });
  }
}

/** How many messages of the same numbers are looked at to find one under its new name. */
const MAX_CANDIDATES = 16;

function grouped(
  messages: readonly MessageSchema[],
  key: (message: MessageSchema) => string,
): ReadonlyMap<string, MessageSchema[]> {
  const groups = new Map<string, MessageSchema[]>();
  for (const message of messages) {
    const group = groups.get(key(message));
    if (group === undefined) groups.set(key(message), [message]);
    else if (group.length < MAX_CANDIDATES) group.push(message);
  }
  return groups;
}

/** The name within its package. */
function relativeName({ fullName, package: declared }: MessageSchema): string {
  return declared === "" ? fullName : fullName.slice(declared.length + 1);
}

function numbersOf({ fields }: MessageSchema): string {
  return fields.map(({ number }) => number).join(",");
}

/** Whether a message may be another one under a new name. One without fields tells nothing. */
function isAlike(before: MessageSchema, after: MessageSchema): boolean {
  const reasons = new Reasons();
  new MessageComparer(reasons, new Map()).compare(before, after);
  return before.fields.length > 0 && !reasons.breaking;
}

/** Compares a field that feeds an input, where the old version has it. */
function compareMapped(
  old: Schema,
  now: Schema,
  { message, path }: MappedField,
  paired: ReadonlyMap<string, string>,
  reasons: Reasons,
): void {
  const before = fieldAt(old.message(message), path);
  if (before === undefined) return;
  const after = fieldAt(now.message(paired.get(message) ?? message), path);
  const about = { type: message, number: path.at(-1) ?? 0, before: `${path.join(".")}: ${declaredType(before)}` };
  if (after === undefined) {
    reasons.add("MAPPED_GONE", about);
    return;
  }
  const change = valueChange(before.value, after.value) ?? keyChange(before, after);
  const shape = before.repeated !== after.repeated || before.mapKey !== after.mapKey;
  if (shape || change !== undefined) {
    const breaks = shape || change?.code !== "TYPE_WIDTH" || change.breaks;
    reasons.add("MAPPED_CHANGED", { ...about, after: `${path.join(".")}: ${declaredType(after)}`, breaks });
  }
}

function fieldAt(message: MessageSchema | undefined, path: readonly number[]): FieldSchema | undefined {
  let at = message;
  let field: FieldSchema | undefined;
  for (const number of path) {
    field = at?.byNumber.get(number);
    at = field?.value.is === "message" ? field.value.message : undefined;
  }
  return field;
}
