import type { RecordFault } from "../core/fault.ts";
import type { FieldPath } from "../core/source.ts";
import type { InputValue, KindInput } from "../ports/decoder.ts";
import { decodeFault } from "./faults.ts";
import { NULL_VALUE } from "./json-lookup.ts";
import { exactInteger } from "./json-number.ts";
import type { JsonScanner } from "./json-scan.ts";
import { unquote } from "./json-scan.ts";
import type { FieldSchema } from "./schema.ts";
import { timeFromMilliseconds, timeFromText } from "./time.ts";
import type { UnknownFields } from "./unknown-fields.ts";

/** One input of a JSON record: which field's JSON form it is read from. */
export interface JsonInput {
  readonly slot: number;
  readonly input: KindInput;
  readonly path: FieldPath;
  readonly field: FieldSchema;
}

/**
 * Reads the inputs from the places that a scan has found. `null` and an implicit field's zero count as absent, and so does
 * a number that a closed enum does not have, which is an unknown field.
 */
export function readJsonInputs(
  text: string,
  places: JsonScanner["places"],
  inputs: readonly JsonInput[],
  count: number,
  unknown: UnknownFields,
): InputValue[] | RecordFault {
  const values: InputValue[] = Array.from({ length: count }, () => undefined);
  for (const input of inputs) {
    const place = places.get(input.slot);
    if (place === undefined) continue;
    const literal = text.slice(place.start, place.end);
    if (literal === "null" && !isNullValue(input.field)) continue;
    const value = convert(literal, input);
    if (value === undefined) {
      return decodeFault("DECODE_JSON_TYPE", Buffer.byteLength(text.slice(0, place.start)), input.path.join("."));
    }
    if (isUndeclared(value, input.field)) unknown.addPath(input.path);
    else if (input.field.presence || !isZero(value)) values[input.slot] = value;
  }
  return values;
}

function isNullValue({ value }: FieldSchema): boolean {
  return value.is === "enum" && value.enum.fullName === NULL_VALUE;
}

function isUndeclared(value: InputValue, field: FieldSchema): boolean {
  if (field.value.is !== "enum" || !field.value.enum.closed || typeof value !== "number") return false;
  return !field.value.enum.names.has(value);
}

function isZero(value: InputValue): boolean {
  if (value instanceof Uint8Array) return value.length === 0;
  return value === 0n || value === false || value === "" || Object.is(value, 0);
}

/** The input's value, or undefined where the literal does not fit. */
function convert(literal: string, { input, field }: JsonInput): InputValue {
  const text = literal.startsWith('"') ? unquote(literal) : undefined;
  switch (input.type) {
    case "text":
      return text;
    case "bytes":
      return text === undefined ? undefined : base64(text);
    case "integer":
      return integer(text ?? literal, field);
    case "number":
      return double(text, literal, field);
    case "flag":
      return literal === "true" || literal === "false" ? literal === "true" : undefined;
    case "enum":
      return enumNumber(text, literal, field);
    default:
      return field.value.is === "message"
        ? text === undefined
          ? undefined
          : timeFromText(text)
        : timeFromMilliseconds(integer(text ?? literal, field));
  }
}

/** Standard or URL-safe alphabet, with or without padding. */
function base64(text: string): Uint8Array | undefined {
  const digits = text.replace(/={1,2}$/, "");
  return /^[A-Za-z0-9+/_-]*$/.test(digits) && digits.length % 4 !== 1 ? Buffer.from(digits, "base64") : undefined;
}

function integer(text: string, field: FieldSchema): bigint | undefined {
  const value = exactInteger(text);
  if (value === undefined || field.value.is === "message") return undefined;
  const { type } = field.value;
  const bits = type.endsWith("64") ? 64 : 32;
  const unsigned = type.startsWith("u") || type.startsWith("fixed");
  const held = unsigned ? BigInt.asUintN(bits, value) : BigInt.asIntN(bits, value);
  return held === value ? value : undefined;
}

function double(text: string | undefined, literal: string, field: FieldSchema): number | undefined {
  if (text === "NaN") return Number.NaN;
  if (text === "Infinity") return Number.POSITIVE_INFINITY;
  if (text === "-Infinity") return Number.NEGATIVE_INFINITY;
  const digits = text ?? literal;
  if (!/^-?[0-9][0-9.eE+-]*$/.test(digits)) return undefined;
  const value = Number(digits);
  const held = field.value.is === "scalar" && field.value.type === "float" ? Math.fround(value) : value;
  return Number.isFinite(held) ? held : undefined;
}

function enumNumber(text: string | undefined, literal: string, field: FieldSchema): number | undefined {
  if (field.value.is !== "enum") return undefined;
  if (text !== undefined) return field.value.enum.numbers.get(text);
  if (literal === "null") return 0;
  const value = exactInteger(literal);
  return value !== undefined && BigInt.asIntN(32, value) === value ? Number(value) : undefined;
}
