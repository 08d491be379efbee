import { expect, test } from "vitest";
import { isFault } from "../../../src/core/fault.ts";
import type { ScalarType } from "../../../src/decoding/schema.ts";
import type { InputType, RecordDecoder } from "../../../src/ports/decoder.ts";
import { mutate, random } from "../reference.ts";
import { compile } from "../support.ts";
import type { InputSpec } from "../support.ts";
import { alike, referenceReader } from "./reader.ts";
import type { Reading } from "./reader.ts";
import { ENUM_NUMBERS, generateSchema } from "./schemas.ts";
import type { GeneratedField, GeneratedSchema } from "./schemas.ts";
import { writeRecord } from "./writer.ts";

/** More of it for a soak: DECODING_FUZZ is the number of generated schemas, DECODING_FUZZ_SEED the first seed. */
const SCHEMAS = Number(process.env["DECODING_FUZZ"] ?? "250");
const FIRST_SEED = Number(process.env["DECODING_FUZZ_SEED"] ?? "1");
const RECORDS = 30;

/** What we refuse and protobufjs reads, by code, with the reason. There is nothing that we read and protobufjs refuses. */
const STRICTER: Readonly<Record<string, (schema: GeneratedSchema) => boolean>> = {
  // Our rule: a declared field of another wire type is a fault. protobufjs passes over it.
  DECODE_WIRE_TYPE: () => true,
  // protobufjs takes bits beyond 64 in the tenth byte and drops them.
  DECODE_VARINT: () => true,
  // Our rule: text is UTF-8 under every syntax. protobufjs does not check in proto2.
  DECODE_UTF8: ({ level }) => level === "proto2",
};

const INPUT_TYPES: ReadonlyMap<ScalarType | "message", InputType> = new Map<ScalarType | "message", InputType>([
  ["double", "number"],
  ["float", "number"],
  ["bool", "flag"],
  ["string", "text"],
  ["bytes", "bytes"],
  ["enum", "enum"],
]);

function inputsFor({ messages }: GeneratedSchema): readonly GeneratedField[] {
  return (messages[0] ?? []).filter(({ shape, type }) => shape === "single" && type !== "message");
}

function inputDecoder(schema: GeneratedSchema): RecordDecoder {
  const inputs = inputsFor(schema).map(({ name, number, type }): [string, InputSpec] => [
    name,
    { path: [number], type: INPUT_TYPES.get(type) ?? "integer" },
  ]);
  return compile(schema.source, "f.M0", Object.fromEntries(inputs));
}

/** What an input must be where the JSON of the same record has this. */
function inputOf(json: unknown, type: ScalarType | "message"): unknown {
  if (json === undefined) return undefined;
  const text = typeof json === "string" ? json : JSON.stringify(json);
  switch (type) {
    case "bytes":
      return Buffer.from(text, "base64");
    case "string":
    case "bool":
      return json;
    case "double":
      return Number(json);
    case "float":
      return Math.fround(Number(json));
    case "enum":
      return typeof json === "number" ? json : ENUM_NUMBERS[Number(text.slice(1))];
    default:
      return BigInt(text);
  }
}

const tally = { same: 0, refused: 0, stricter: 0, unreliable: 0 };

function compareRecord(
  schema: GeneratedSchema,
  bytes: Uint8Array,
  decoders: {
    readonly body: RecordDecoder;
    readonly inputs: RecordDecoder;
    readonly original: RecordDecoder;
    readonly reference: (bytes: Uint8Array) => Reading;
  },
  pristine: boolean,
): void {
  const context = `${schema.source}\n${Buffer.from(bytes).toString("hex")}`;
  const result = decoders.body.decode(bytes);
  // No message of a generated file has ranges or required fields, which alone an original body is not checked for.
  const original = decoders.original.decode(bytes);
  expect(isFault(original) ? original : isFault(result), context).toEqual(isFault(result) ? result : false);
  const theirs = decoders.reference(bytes);
  if (isFault(result)) {
    expect(pristine, `${result.code} ${context}`).toBe(false);
    tally[theirs.is === "refused" ? "refused" : "stricter"] += 1;
    if (theirs.is !== "refused") expect(STRICTER[result.code]?.(schema), `${result.code} ${context}`).toBe(true);
    return;
  }
  const json: Readonly<Record<string, unknown>> = JSON.parse(Buffer.from(result.body?.bytes ?? []).toString());
  tally[theirs.is === "unreliable" ? "unreliable" : "same"] += 1;
  if (theirs.is !== "unreliable") expect(theirs, context).toEqual({ is: "read", json: alike(json) });
  const inputs = decoders.inputs.decode(bytes);
  const expected = inputsFor(schema).map(({ name, type }) => inputOf(json[name.replace("_", "")], type));
  expect(isFault(inputs) ? inputs : inputs.inputs, context).toEqual(expected);
}

test(`${SCHEMAS} random descriptors: protobufjs reads the same or refuses too, whole records and mutated ones`, () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SCHEMAS; seed += 1) {
    const below = random(seed * 7_919);
    const schema = generateSchema(below);
    const decoders = {
      body: compile(schema.source, "f.M0", {}, { body: "json" }),
      inputs: inputDecoder(schema),
      original: compile(schema.source, "f.M0", {}, { body: "original" }),
      reference: referenceReader(schema.source, "f.M0"),
    };
    for (let record = 0; record < RECORDS; record += 1) {
      const bytes = writeRecord(schema, below);
      compareRecord(schema, bytes, decoders, true);
      compareRecord(schema, mutate(bytes, below), decoders, false);
    }
  }
  expect(tally.same).toBeGreaterThan(SCHEMAS * RECORDS);
  expect(tally.refused).toBeGreaterThan((SCHEMAS * RECORDS) / 4);
  expect(tally.stricter + tally.unreliable).toBeLessThan((SCHEMAS * RECORDS) / 20);
}, 3_600_000);
