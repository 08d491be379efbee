import descriptor from "protobufjs/ext/descriptor.js";
import { descriptorInvalid } from "./invalid.ts";
import { lowerCamel } from "./json-name.ts";
import { readLiteral } from "./literals.ts";
import { hasEdition } from "./model.ts";
import type { OptionValue, ProtoField, ProtoOption } from "./model.ts";
import { within } from "./parse-fields.ts";
import { checkedPath, nameOf, nodesOf, numberOf, textOf } from "./set-node.ts";
import type { SetScope } from "./set-node.ts";
import { optionsOf } from "./set-options.ts";
import type { SetNode } from "./set-options.ts";

/** Messages of map entries by absolute name: a field of such a type is a map. */
export type FieldTypes = ReadonlyMap<string, SetNode>;

const TYPE_GROUP = 10;
const TYPE_BYTES = 12;

/** Numbers of FieldDescriptorProto.Type in google/protobuf/descriptor.proto. Groups, messages and enums have a name. */
const SCALARS: ReadonlyMap<number, string> = new Map([
  [1, "double"],
  [2, "float"],
  [3, "int64"],
  [4, "uint64"],
  [5, "int32"],
  [6, "fixed64"],
  [7, "fixed32"],
  [8, "bool"],
  [9, "string"],
  [TYPE_BYTES, "bytes"],
  [13, "uint32"],
  [15, "sfixed32"],
  [16, "sfixed64"],
  [17, "sint32"],
  [18, "sint64"],
]);

const LABELS: ReadonlyMap<number, "optional" | "required" | "repeated"> = new Map([
  [1, "optional"],
  [2, "required"],
  [3, "repeated"],
]);

/** A field or extension. `oneof`: its index in the message. @throws StreamsError `DESCRIPTOR_INVALID` */
export function fieldOf(node: SetNode, scope: SetScope, oneof: number | undefined, types: FieldTypes): ProtoField {
  const { file, name: outer } = scope;
  const name = nameOf(node, scope);
  const fullName = within(outer, name);
  const place = `${file}: ${fullName}`;
  const extendee = textOf(node, "extendee");
  const entry = types.get(textOf(node, "typeName"));
  const group = numberOf(node, "type") === TYPE_GROUP && scope.level === "proto2";
  const shape =
    entry === undefined ? { type: typeOf(node, group, scope, place), mapKey: undefined } : mapOf(entry, scope);
  return {
    file,
    fullName,
    name,
    options: fieldOptions(node, scope, place),
    label: entry === undefined && oneof === undefined ? labelOf(node, scope) : undefined,
    type: shape.type,
    group,
    mapKey: shape.mapKey,
    number: numberOf(node, "number") ?? 0,
    oneof,
    extendee: extendee === "" ? undefined : checkedPath(extendee, place),
    scope: outer,
  };
}

/** The label as text has it: proto3 and editions write none for a single field. */
function labelOf(node: SetNode, { level }: SetScope): ProtoField["label"] {
  const label = LABELS.get(numberOf(node, "label") ?? 1);
  if (label !== "optional" || level === "proto2") return label;
  return node["proto3Optional"] === true && level === "proto3" ? "optional" : undefined;
}

function typeOf(node: SetNode, group: boolean, scope: SetScope, place: string): string {
  const name = textOf(node, "typeName");
  const scalar = SCALARS.get(numberOf(node, "type") ?? 0);
  if (scalar !== undefined && name === "") return scalar;
  if (scalar !== undefined || name === "") throw descriptorInvalid(`${place}: its type is none, or two`);
  if (!group) return checkedPath(name, place);
  // The statement of a group declares its message, beside the field.
  const own = name.slice(name.lastIndexOf(".") + 1);
  if (name !== `.${within(scope.name, own)}` || own.toLowerCase() !== textOf(node, "name")) {
    throw descriptorInvalid(`${place}: a group must have a message of its name beside it`);
  }
  return own;
}

function mapOf(entry: SetNode, scope: SetScope): { readonly type: string; readonly mapKey: string } {
  const place = `${scope.file}: ${scope.name}.${textOf(entry, "name")}`;
  const [key, value] = nodesOf(entry, "field").toSorted(
    (a, b) => (numberOf(a, "number") ?? 0) - (numberOf(b, "number") ?? 0),
  );
  if (key === undefined || value === undefined || numberOf(key, "number") !== 1 || numberOf(value, "number") !== 2) {
    throw descriptorInvalid(`${place}: the entry of a map needs the fields 1 and 2`);
  }
  return { mapKey: typeOf(key, false, scope, place), type: typeOf(value, false, scope, place) };
}

/** Options, with default and JSON name, which text writes among them. */
function fieldOptions(node: SetNode, scope: SetScope, place: string): ProtoOption[] {
  const options = optionsOf(descriptor.FieldOptions, node["options"], place);
  if (hasEdition(scope.level) && numberOf(node, "type") === TYPE_GROUP) {
    const delimited = options.some(({ name }) => name === "features.message_encoding");
    if (!delimited) options.push({ name: "features.message_encoding", value: { is: "word", text: "DELIMITED" } });
  }
  if (Object.hasOwn(node, "defaultValue")) options.push({ name: "default", value: defaultOf(node, place) });
  const jsonName = textOf(node, "jsonName");
  const own = jsonName !== "" && jsonName !== lowerCamel(textOf(node, "name")) && textOf(node, "extendee") === "";
  if (own) options.push({ name: "json_name", value: { is: "text", text: jsonName } });
  return options;
}

/** Defaults are kept as text: of bytes with C escapes, of enums by name, of numbers in decimal. */
function defaultOf(node: SetNode, place: string): OptionValue {
  const text = textOf(node, "defaultValue");
  const scalar = SCALARS.get(numberOf(node, "type") ?? 0);
  if (scalar === "string") return { is: "text", text };
  if (scalar === "bytes") {
    const literal = readLiteral(`${text}"`, 0, '"');
    if (typeof literal === "string" || literal.end !== text.length + 1) {
      throw descriptorInvalid(`${place}: the default is no text with C escapes`);
    }
    return { is: "text", text: literal.text };
  }
  if (/^-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/.test(text)) return { is: "number", text };
  if (!/^-?[A-Za-z_][A-Za-z0-9_]*$/.test(text)) throw descriptorInvalid(`${place}: the default cannot be read`);
  return { is: "word", text };
}
