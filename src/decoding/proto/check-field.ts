import { scalarType, WIRE_BYTES, WIRE_TYPE_OF } from "../schema.ts";
import { isClosed } from "./check-enum.ts";
import { ownFeature } from "./features.ts";
import type { Features } from "./features.ts";
import { descriptorInvalid } from "./invalid.ts";
import { hasEdition } from "./model.ts";
import type { ProtoField } from "./model.ts";
import { checkOptions, isTrue, optionOf } from "./options.ts";
import { levelText } from "./parse-fields.ts";
import type { ProtoType } from "./symbols.ts";

/** What decides how a field is read, beside its own statement. */
export interface FieldContext {
  readonly level: string;
  /** Features of the field, its file's included. */
  readonly features: Features;
  /** Its message or enum; undefined for a scalar. */
  readonly type: ProtoType | undefined;
  /** Features of the file that declares the type. */
  readonly typeFeatures: Features;
}

/** Checks the rules of the language for one field or extension. @throws StreamsError `DESCRIPTOR_INVALID`. */
export function checkField(field: ProtoField, context: FieldContext): void {
  const target = field.extendee === undefined ? "field" : "extension";
  checkOptions(field, target, context.level);
  const problem =
    labelProblem(field, context) ??
    mapProblem(field, context) ??
    defaultProblem(field, context) ??
    enumProblem(field, context) ??
    encodingProblem(field, context) ??
    presenceProblem(field, context);
  if (problem !== undefined) throw descriptorInvalid(`${field.file}: ${field.fullName}: ${problem}`);
}

function labelProblem({ label, extendee }: ProtoField, { level }: FieldContext): string | undefined {
  if (label === "required" && level !== "proto2") return `"required" does not exist in ${levelText(level)}`;
  if (label === "optional" && hasEdition(level)) return `"optional" does not exist in ${levelText(level)}`;
  return label === "required" && extendee !== undefined ? "an extension cannot be required" : undefined;
}

const MAP_KEYS: ReadonlySet<string> = new Set(
  "int32 int64 uint32 uint64 sint32 sint64 fixed32 fixed64 sfixed32 sfixed64 bool string".split(" "),
);

function mapProblem({ mapKey }: ProtoField, { type }: FieldContext): string | undefined {
  if (mapKey === undefined) return undefined;
  if (!MAP_KEYS.has(mapKey)) return `a map cannot have keys of type ${mapKey}`;
  const zero = type?.is !== "enum" || type.of.values[0]?.number === 0;
  return zero ? undefined : "an enum in a map must have 0 as its first value";
}

function isList({ label, mapKey }: ProtoField): boolean {
  return label === "repeated" || mapKey !== undefined;
}

function defaultProblem(field: ProtoField, { level, type, features }: FieldContext): string | undefined {
  const value = optionOf(field.options, "default");
  if (value === undefined) return undefined;
  if (level === "proto3") return "defaults do not exist in proto3";
  if (isList(field)) return "a list or map cannot have a default";
  if (type?.is === "message") return "a message cannot have a default";
  if (features.presence === "IMPLICIT") return "a field without presence cannot have a default";
  const fits =
    type === undefined
      ? defaultForm(field.type).test(`${value.is} ${value.text}`)
      : value.is === "word" && type.of.values.some(({ name }) => name === value.text);
  return fits ? undefined : "the default does not fit the type";
}

/** How the default of a scalar is written: what it is, and its text. */
function defaultForm(type: string): RegExp {
  if (type === "string" || type === "bytes") return /^text /;
  if (type === "bool") return /^word (?:true|false)$/;
  if (type === "double" || type === "float") return /^(?:number .*|word -?(?:inf|nan))$/;
  return /^u|^fixed/.test(type) ? /^number [^-.]+$/ : /^number [^.]+$/;
}

/** A proto3 message, or a field without presence, cannot tell an unknown number of a closed enum from an absent one. */
function enumProblem(field: ProtoField, { level, type, typeFeatures, features }: FieldContext): string | undefined {
  if (type?.is !== "enum" || !isClosed(type.of, typeFeatures)) return undefined;
  const implicit = features.presence === "IMPLICIT" && !isList(field) && field.oneof === undefined;
  return level === "proto3" || implicit ? `the enum ${type.of.fullName} is closed` : undefined;
}

function encodingProblem(field: ProtoField, { level, type }: FieldContext): string | undefined {
  const scalar = scalarType(field.type);
  const packable = scalar === undefined ? type?.is === "enum" : WIRE_TYPE_OF[scalar] !== WIRE_BYTES;
  const list = field.label === "repeated";
  const packed = optionOf(field.options, "packed");
  if (packed !== undefined && hasEdition(level)) return "the option packed is the feature repeated_field_encoding here";
  if (isTrue(field.options, "packed") && !(list && packable))
    return "only a list of numbers, bools or enums can be packed";
  const encoding = ownFeature(field.options, "repeated_field_encoding");
  if (encoding !== undefined && !list) return "only a list has a repeated_field_encoding";
  if (encoding === "PACKED" && !packable) return "only a list of numbers, bools or enums can be packed";
  const message = type?.is === "message" && field.mapKey === undefined;
  if (ownFeature(field.options, "message_encoding") !== undefined && !message) {
    return "only a message has a message_encoding";
  }
  const text = scalar === "string" || field.mapKey === "string";
  return ownFeature(field.options, "utf8_validation") !== undefined && !text
    ? "only text has a utf8_validation"
    : undefined;
}

function presenceProblem(field: ProtoField, { type }: FieldContext): string | undefined {
  const presence = ownFeature(field.options, "field_presence");
  if (presence === undefined) return undefined;
  if (isList(field)) return "a list or map has no field_presence";
  if (field.oneof !== undefined) return "a member of a oneof has no field_presence";
  return type?.is === "message" && presence === "IMPLICIT" ? "a message cannot have implicit presence" : undefined;
}
