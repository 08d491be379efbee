import type descriptor from "protobufjs/ext/descriptor.js";
import { descriptorInvalid } from "./invalid.ts";
import type { OptionValue, ProtoOption } from "./model.ts";

/** A message of descriptor.proto as protobufjs decodes it. */
export type SetNode = Readonly<Record<string, unknown>>;

/**
 * The first number of custom options (google/protobuf/descriptor.proto: `extensions 1000 to max`), and of what tools add to
 * files: buf keeps its own notes in 8042.
 */
const FIRST_CUSTOM = 1000;

type SetType = typeof descriptor.FileDescriptorSet;

/**
 * Options of a node of a descriptor set, as text would have them: what is within a message has the whole name, as in `features.enum_type`.
 * @throws StreamsError `DESCRIPTOR_INVALID`: options that a parser left uninterpreted
 */
export function optionsOf(type: SetType, options: unknown, place: string): ProtoOption[] {
  const found: ProtoOption[] = [];
  if (isNode(options)) collect(type, options, "", found, place);
  return found;
}

function collect(type: SetType, node: SetNode, prefix: string, into: ProtoOption[], place: string): void {
  for (const field of type.fieldsArray) {
    if (!Object.hasOwn(node, field.name)) continue;
    const value = node[field.name];
    if (Array.isArray(value) && value.length === 0) continue;
    const name = prefix + snakeCase(field.name);
    if (name === "uninterpreted_option") throw descriptorInvalid(`${place}: it has options that are not interpreted`);
    const { resolvedType } = field.resolve();
    for (const one of Array.isArray(value) ? value : [value]) {
      if (resolvedType !== null && "fieldsArray" in resolvedType && isNode(one)) {
        collect(resolvedType, one, `${name}.`, into, place);
      } else into.push({ name, value: valueOf(one, resolvedType) });
    }
  }
}

function valueOf(value: unknown, type: unknown): OptionValue {
  if (typeof value === "boolean") return { is: "word", text: String(value) };
  if (typeof value === "string") return { is: "text", text: value };
  const name = typeof type === "object" && type !== null ? enumName(type, value) : undefined;
  return name === undefined ? { is: "number", text: String(value) } : { is: "word", text: name };
}

function enumName(type: object, value: unknown): string | undefined {
  const names: unknown = Reflect.get(type, "valuesById");
  const name: unknown = isNode(names) ? names[String(value)] : undefined;
  return typeof name === "string" ? name : undefined;
}

/**
 * Refuses what this build does not know of descriptors, at any depth: it may change how records are to be read. Custom
 * options, the features of single languages and what tools add do not.
 * @throws StreamsError `DESCRIPTOR_INVALID`: the detail names the type and the number
 */
export function refuseUnknown(type: SetType, node: SetNode, place: string): void {
  const unknown: unknown = node["$unknowns"];
  for (const raw of Array.isArray(unknown) ? unknown : []) {
    const number = raw instanceof Uint8Array ? fieldNumber(raw) : 0;
    if (number >= FIRST_CUSTOM) continue;
    throw descriptorInvalid(`${place}: ${type.name} has the field ${number}, or a value of it, that is not known here`);
  }
  for (const field of type.fieldsArray) {
    if (!Object.hasOwn(node, field.name)) continue;
    const { resolvedType } = field.resolve();
    if (resolvedType === null || !("fieldsArray" in resolvedType)) continue;
    const value = node[field.name];
    for (const one of Array.isArray(value) ? value : [value]) {
      if (isNode(one)) refuseUnknown(resolvedType, one, placeOf(place, one));
    }
  }
}

/** The innermost name that is known: an option has none of its own. */
function placeOf(outer: string, node: SetNode): string {
  const name = node["name"];
  if (typeof name !== "string" || name === "") return outer;
  return outer === "" ? name.slice(0, 256) : `${outer}: ${name.slice(0, 256)}`.slice(0, 512);
}

function fieldNumber(raw: Uint8Array): number {
  let number = 0;
  for (const [index, byte] of raw.subarray(0, 5).entries()) {
    number += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) break;
  }
  return Math.floor(number / 8);
}

/** Names of descriptor.proto as it declares them: protobufjs' copy has them in camel case. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Whether a value is a decoded message. */
export function isNode(value: unknown): value is SetNode {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
