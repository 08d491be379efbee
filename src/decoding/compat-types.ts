import { specialForm } from "./body-plan.ts";
import type { CompatibilityCode } from "../ports/descriptor-checks.ts";
import type { FieldSchema, ScalarType, ValueSchema } from "./schema.ts";

/** A change of type, if it is one. */
export interface TypeChange {
  readonly code: CompatibilityCode;
  readonly breaks: boolean;
}

/** Types with one wire format: https://protobuf.dev/programming-guides/proto3/#updating. */
const GROUPS: readonly ReadonlySet<ScalarType>[] = [
  new Set(["int32", "int64", "uint32", "uint64", "bool", "enum"]),
  new Set(["sint32", "sint64"]),
  new Set(["fixed32", "sfixed32"]),
  new Set(["fixed64", "sfixed64"]),
];

/** Smallest and largest value, as powers of two: `[31, 31]` is −2^31 to 2^31 − 1, `[0, 32]` is 0 to 2^32 − 1. */
function bitsOf(type: ScalarType): readonly [below: number, above: number] {
  if (type === "bool") return [0, 1];
  const unsigned = type.startsWith("u") || type.startsWith("fixed");
  const bits = type.endsWith("64") ? 64 : 32;
  return unsigned ? [0, bits] : [bits - 1, bits - 1];
}

/** What differs between the types of two values, without what is within messages and enums; undefined for nothing. */
export function valueChange(before: ValueSchema, after: ValueSchema): TypeChange | undefined {
  if (before.is === "message" || after.is === "message") return messageChange(before, after);
  if (before.type === after.type) return undefined;
  if (GROUPS.some((group) => group.has(before.type) && group.has(after.type))) {
    return { code: "TYPE_WIDTH", breaks: !holds(before, after) };
  }
  if (before.type === "string" && after.type === "bytes") return { code: "TYPE_BYTES", breaks: false };
  // Not all bytes are text.
  if (before.type === "bytes" && after.type === "string") return { code: "TYPE_BYTES", breaks: true };
  return { code: "TYPE_CHANGED", breaks: true };
}

/** Whether the new type has every value of the old one: otherwise numbers are cut off without a word. */
function holds(before: ValueSchema, after: ValueSchema): boolean {
  if (before.is === "message" || after.is === "message") return false;
  if (after.is === "enum" && after.enum.closed) return false;
  const [below, above] = bitsOf(before.type);
  const [newBelow, newAbove] = bitsOf(after.type);
  return below <= newBelow && above <= newAbove;
}

function messageChange(before: ValueSchema, after: ValueSchema): TypeChange | undefined {
  const changed: TypeChange = { code: "TYPE_CHANGED", breaks: true };
  if (before.is === "message" && after.is === "message") {
    if (before.delimited !== after.delimited) return changed;
    const [form, newForm] = [specialForm(before.message.fullName), specialForm(after.message.fullName)];
    if (form !== newForm || (form === "wrapper" && before.message.fullName !== after.message.fullName)) return changed;
    return undefined;
  }
  if (before.is === "message" && after.is === "scalar" && after.type === "bytes" && !before.delimited) {
    return { code: "TYPE_BYTES", breaks: false };
  }
  // Bytes may be anything, not only a message.
  const bytes = before.is === "scalar" && before.type === "bytes" && after.is === "message" && !after.delimited;
  return bytes ? { code: "TYPE_BYTES", breaks: true } : changed;
}

/** What differs between the keys of two maps. */
export function keyChange(before: FieldSchema, after: FieldSchema): TypeChange | undefined {
  if (before.mapKey === undefined || after.mapKey === undefined) return undefined;
  return valueChange({ is: "scalar", type: before.mapKey }, { is: "scalar", type: after.mapKey });
}

/** A field's type as a .proto file writes it, with its label. */
export function declaredType({ value, repeated, required, mapKey }: FieldSchema): string {
  const name = value.is === "message" ? value.message.fullName : value.is === "enum" ? value.enum.fullName : value.type;
  if (mapKey !== undefined) return `map<${mapKey}, ${name}>`;
  const group = value.is === "message" && value.delimited ? " (delimited)" : "";
  const label = repeated ? "repeated " : required ? "required " : "";
  return `${label}${name}${group}`;
}
