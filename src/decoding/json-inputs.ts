import type { RecordFault } from "../core/fault.ts";
import type { FieldPath } from "../core/source.ts";
import type { InputValue, KindInput } from "../ports/decoder.ts";
import { decodeFault } from "./faults.ts";
import { mappingInvalid } from "./input-plan.ts";
import { exactInteger } from "./json-number.ts";
import type { JsonLookup, JsonScanner } from "./json-scan.ts";
import { unquote } from "./json-scan.ts";
import type { FieldSchema, MessageSchema } from "./schema.ts";
import { timeFromMilliseconds, timeFromText } from "./time.ts";

/** One input of a JSON record: which field's JSON form it is read from. */
export interface JsonInput {
  readonly slot: number;
  readonly input: KindInput;
  readonly path: FieldPath;
  readonly field: FieldSchema;
}

interface Draft {
  readonly names: readonly string[];
  slot?: number;
  children?: Map<string, Draft>;
}

/** Turns paths of field numbers into keys: a field is found by its JSON name and by its declared one. */
export function jsonLookup(message: MessageSchema, inputs: readonly JsonInput[]): JsonLookup {
  const root: Draft = { names: [], children: new Map() };
  for (const { path, slot, input } of inputs) {
    let at = root;
    let type = message;
    for (const number of path) {
      const field = type.byNumber.get(number);
      if (field === undefined) throw mappingInvalid(`the input "${input.name}": path ${path.join(".")} leads nowhere`);
      at = childOf(at, field);
      if (field.value.is === "message") type = field.value.message;
    }
    at.slot = slot;
  }
  return root;
}

function childOf(draft: Draft, field: FieldSchema): Draft {
  draft.children ??= new Map();
  const found = draft.children.get(field.jsonName);
  if (found !== undefined) return found;
  const made: Draft = { names: [field.jsonName, field.name] };
  for (const name of made.names) draft.children.set(name, made);
  return made;
}

/** Reads the inputs from the places that a scan has found. `null` and an implicit field's zero count as absent. */
export function readJsonInputs(
  text: string,
  places: JsonScanner["places"],
  inputs: readonly JsonInput[],
  count: number,
): InputValue[] | RecordFault {
  const values: InputValue[] = Array.from({ length: count }, () => undefined);
  for (const input of inputs) {
    const place = places.get(input.slot);
    if (place === undefined) continue;
    const literal = text.slice(place.start, place.end);
    if (literal === "null") continue;
    const value = convert(literal, input);
    if (value === undefined) {
      return decodeFault("DECODE_JSON_TYPE", Buffer.byteLength(text.slice(0, place.start)), input.path.join("."));
    }
    if (input.field.presence || !isZero(value)) values[input.slot] = value;
  }
  return values;
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
  const value = exactInteger(literal);
  return value !== undefined && BigInt.asIntN(32, value) === value ? Number(value) : undefined;
}
