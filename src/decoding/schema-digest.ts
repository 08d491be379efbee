import { createHash } from "node:crypto";
import type { DescriptorDigest } from "../ports/descriptor-checks.ts";
import { declaredType } from "./compat-types.ts";
import type { EnumSchema, FieldSchema, MessageSchema, Reserved, Schema } from "./schema.ts";

/** Stands in front of what is hashed: another form of it would give other digests for the same content. */
const FORM = "descriptor 1";

/**
 * Digests of a schema, from what is compiled and not from the text: of the given files only, since what is known anyway is
 * the same for all.
 */
export function digestOf(schema: Schema): DescriptorDigest {
  const messages = schema.messages.toSorted(byName);
  const content = [messages.map(messageForm), schema.enums.toSorted(byName).map(enumForm)];
  const layout = messages.map(({ fullName }) => [fullName, schema.indexPath(fullName)]);
  return { content: sha256([FORM, content]), layout: sha256([FORM, layout]) };
}

function sha256(form: unknown): string {
  return createHash("sha256").update(JSON.stringify(form)).digest("hex");
}

function byName(a: { readonly fullName: string }, b: { readonly fullName: string }): number {
  if (a.fullName === b.fullName) return 0;
  return a.fullName < b.fullName ? -1 : 1;
}

function messageForm(message: MessageSchema): unknown {
  const firstOfOneof = new Map<number, number>();
  for (const { oneof, number } of message.fields) {
    if (oneof !== undefined && !firstOfOneof.has(oneof)) firstOfOneof.set(oneof, number);
  }
  // A oneof is its smallest number: its index depends on the order of declarations.
  const fields = message.fields.map((field) => fieldForm(field, firstOfOneof.get(field.oneof ?? -1)));
  return [message.fullName, fields, reservedForm(message.reserved)];
}

function fieldForm(field: FieldSchema, oneof: number | undefined): unknown {
  const { number, name, jsonName, presence, required } = field;
  return [number, name, jsonName, declaredType(field), presence, required, oneof ?? 0];
}

function enumForm({ fullName, numbers, first, closed, reserved, names }: EnumSchema): unknown {
  // With aliases the first declared name is what JSON shows.
  const values = [...numbers].map(([name, number]) => ({ fullName: name, number, shown: names.get(number) === name }));
  return [fullName, values.toSorted(byName), first, closed, reservedForm(reserved)];
}

function reservedForm({ numbers, names }: Reserved): unknown {
  return [numbers.toSorted(([a], [b]) => a - b), names.toSorted()];
}
