import type { ScalarType } from "../../../src/decoding/schema.ts";

/** A generator of numbers from 0 to below the limit. */
export type Below = (limit: number) => number;

/** A field of a generated message. */
export interface GeneratedField {
  readonly number: number;
  readonly name: string;
  readonly type: ScalarType | "message";
  /** Index of the message that it holds. */
  readonly message: number;
  readonly shape: "single" | "repeated" | "map" | "group";
  readonly mapKey: ScalarType;
  readonly delimited: boolean;
  /** Whether it stands in the message's oneof. */
  readonly member: boolean;
}

/** A generated file: its text and what is in it. */
export interface GeneratedSchema {
  readonly source: string;
  readonly level: string;
  readonly messages: readonly (readonly GeneratedField[])[];
}

const SCALARS: readonly ScalarType[] = [
  ...(["double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64"] as const),
  ...(["sfixed32", "sfixed64", "bool", "string", "bytes", "enum"] as const),
];
const MAP_KEYS: readonly ScalarType[] = [
  "int32",
  "int64",
  "uint32",
  "uint64",
  "sint32",
  "sint64",
  "fixed32",
  "bool",
  "string",
];
const NUMBERS = [15, 16, 63, 64, 100, 2047, 2048, 18_999, 20_000, 536_870_911];

/** Values of the enum that every generated file has. */
export const ENUM_NUMBERS = [0, 1, 2, 300, -1];

/** Chooses one of several. */
export function oneOf<Value>(below: Below, values: readonly Value[]): Value {
  const value = values[below(values.length)];
  if (value === undefined) throw new Error("nothing to choose from");
  return value;
}

/** A file with one to four messages, which may hold one another, under one of the levels. The first one is the record's. */
export function generateSchema(below: Below): GeneratedSchema {
  const level = oneOf(below, ["proto2", "proto3", "2023"]);
  const count = 1 + below(4);
  const texts: string[] = [];
  const messages: GeneratedField[][] = [];
  for (let index = 0; index < count; index += 1) {
    const { text, fields } = generateMessage(below, level, index, count);
    texts.push(text);
    messages.push(fields);
  }
  const head = level.startsWith("proto") ? `syntax = "${level}";` : `edition = "${level}";`;
  const feature = level === "2023" && below(3) === 0 ? "option features.enum_type = CLOSED;" : "";
  const values = ENUM_NUMBERS.map((number, index) => `V${index} = ${number};`).join(" ");
  return { source: `${head} package f; ${feature} ${texts.join(" ")} enum E { ${values} }`, level, messages };
}

function generateMessage(
  below: Below,
  level: string,
  index: number,
  count: number,
): { text: string; fields: GeneratedField[] } {
  const fields: GeneratedField[] = [];
  const lines: string[] = [];
  const members: string[] = [];
  for (let left = 1 + below(8); left > 0; left -= 1) {
    const number = below(3) === 0 ? oneOf(below, NUMBERS) : 1 + below(14);
    if (fields.some((field) => field.number === number)) continue;
    const field = generateField(below, level, number, count);
    fields.push(field);
    (field.member ? members : lines).push(line(below, field, level));
  }
  if (members.length > 0) lines.push(`oneof pick { ${members.join(" ")} }`);
  return { text: `message M${index} { ${lines.join(" ")} }`, fields };
}

function generateField(below: Below, level: string, number: number, count: number): GeneratedField {
  const type = below(4) === 0 ? "message" : oneOf(below, SCALARS);
  const shapes = ["single", "single", "repeated", "map"] as const;
  const shape = level === "proto2" && below(12) === 0 ? "group" : oneOf(below, shapes);
  // Floats are told by their names: protobufjs writes them with the digits of a double.
  const name = shape === "group" ? `grp${number}` : `${type}_${number}`;
  const delimited = level === "2023" && type === "message" && shape !== "map" && below(3) === 0;
  const member = shape === "single" && below(4) === 0;
  return { number, name, type, message: below(count), shape, mapKey: oneOf(below, MAP_KEYS), delimited, member };
}

function line(below: Below, field: GeneratedField, level: string): string {
  const { name, number, shape, mapKey, member } = field;
  const type = field.type === "message" ? `M${field.message}` : field.type === "enum" ? "E" : field.type;
  if (shape === "group")
    return `optional group Grp${number} = ${number} { optional int32 a = 1; optional string b = 2; }`;
  if (shape === "map") return `map<${mapKey}, ${type}> ${name} = ${number};`;
  const options = optionsOf(below, field, level);
  if (member) return `${type} ${name} = ${number}${options};`;
  if (shape === "repeated") return `repeated ${type} ${name} = ${number}${options};`;
  const label = level === "proto2" || (level === "proto3" && below(2) === 0) ? "optional " : "";
  return `${label}${type} ${name} = ${number}${options};`;
}

function optionsOf(below: Below, { type, shape, delimited, member }: GeneratedField, level: string): string {
  if (delimited) return " [features.message_encoding = DELIMITED]";
  const packable = shape === "repeated" && !["string", "bytes", "message"].includes(type);
  if (packable && level !== "2023" && below(3) === 0) return ` [packed = ${below(2) === 0}]`;
  if (level !== "2023") return "";
  if (packable && below(3) === 0) return " [features.repeated_field_encoding = EXPANDED]";
  const single = shape === "single" && !member && type !== "message" && type !== "enum";
  return single && below(3) === 0 ? " [features.field_presence = IMPLICIT]" : "";
}
