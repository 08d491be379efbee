import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isFault } from "../../../src/core/fault.ts";
import { createDecoderCompiler } from "../../../src/decoding/compiler.ts";
import { compileInputs } from "../../../src/decoding/input-view.ts";
import type { DecoderSpec, InputValue, KindInput } from "../../../src/ports/decoder.ts";
import { type Field, message, timestamp } from "./support.ts";

const INTEGERS = ["int32", "int64", "uint32", "uint64", "sint32", "sint64"] as const;
const NAMES = [...INTEGERS, "fixed64", "sfixed64", "double", "string", "enum", "time", "millis"] as const;

function typeOf(name: (typeof NAMES)[number]): KindInput["type"] {
  if (name === "double") return "number";
  if (name === "string") return "text";
  if (name === "enum") return "enum";
  return name === "time" || name === "millis" ? "time" : "integer";
}

const protoTypes: Partial<Record<(typeof NAMES)[number], string>> = {
  enum: "E",
  time: "google.protobuf.Timestamp",
  millis: "int64",
};

/** A message with a field of every type, all with presence or all without. */
function specOf(presence: boolean, format: "protobuf" | "json" = "protobuf"): DecoderSpec {
  const fields = NAMES.map((name, index) => {
    const label = presence && name !== "time" ? "optional " : "";
    return `${label}${protoTypes[name] ?? name} f${index + 1} = ${index + 1};`;
  });
  const text = `syntax = "proto3"; import "google/protobuf/timestamp.proto"; enum E { A = 0; B = 1; } message M { ${fields.join(" ")} }`;
  return {
    format,
    framing: "none",
    descriptor: { descriptor: { subject: "t", version: 4, files: { "m.proto": text } }, message: "M" },
    inputs: NAMES.map((name) => ({ name, type: typeOf(name), required: false })),
    mapping: Object.fromEntries(NAMES.map((name, index) => [name, [index + 1]])),
    body: "none",
  };
}

const bits = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.constantFrom(0n, 1n, 2n ** 31n, 2n ** 63n, 2n ** 64n - 1n),
);
const small = fc.bigInt({ min: 0n, max: 2n ** 32n - 1n });

const field = fc.constantFrom(...NAMES).chain((name): fc.Arbitrary<Field> => {
  const number = NAMES.indexOf(name) + 1;
  if (name === "string") return fc.string({ unit: "binary", maxLength: 30 }).map((text) => [number, text]);
  if (name === "double") return fc.double().map((double) => [number, { double }]);
  if (name === "fixed64" || name === "sfixed64") return bits.map((fixed64) => [number, { fixed64 }]);
  if (name === "time") return fc.integer({ min: -1e13, max: 1e13 }).map((ms) => [number, timestamp(ms)]);
  if (name === "millis") return fc.integer({ min: -1e13, max: 1e13 }).map((ms) => [number, BigInt(ms)]);
  return (name.endsWith("32") || name === "enum" ? small : bits).map((value) => [number, value]);
});

const decoder = new TextDecoder();

function expectAlike(reader: ReturnType<typeof compileInputs>, values: readonly InputValue[]): void {
  const { view } = reader;
  for (const [input, value] of values.entries()) {
    expect(view.has(input), NAMES[input]).toBe(value !== undefined);
    if (typeof value === "number") expect(view.number(input)).toBe(value);
    if (typeof value === "string") {
      expect(decoder.decode(view.bytes.subarray(view.start(input), view.end(input)))).toBe(value);
    }
    if (value === undefined) {
      const nothing = [view.start(input), view.end(input), view.high(input), view.low(input), view.negative(input)];
      if (NAMES[input] === "string")
        expect([view.start(input), view.end(input)]).toEqual([view.end(input), view.start(input)]);
      else if (typeOf(NAMES[input] ?? "enum") === "integer") expect(nothing.slice(2)).toEqual([0, 0, false]);
    }
    if (typeof value !== "bigint") continue;
    const held = (BigInt(view.high(input)) << 32n) | BigInt(view.low(input));
    expect(held, NAMES[input]).toBe(BigInt.asUintN(64, value));
    expect(view.negative(input)).toBe(value < 0n);
  }
}

describe("inputs read where they stand", () => {
  it.each([true, false])("are the decoder's values, with presence: %s", (presence) => {
    const spec = specOf(presence);
    const values = createDecoderCompiler().compile(spec);
    const reader = compileInputs(spec);
    fc.assert(
      fc.property(fc.array(field, { maxLength: 20 }), (fields) => {
        const bytes = message(fields);
        const decoded = values.decode(bytes);
        expect(reader.read(bytes)).toEqual(isFault(decoded) ? decoded : undefined);
        if (!isFault(decoded)) expectAlike(reader, decoded.inputs);
      }),
      { numRuns: 1_000 },
    );
    expect(reader.descriptorVersion).toBe(4);
  });

  it("are the same of JSON records", () => {
    const spec = specOf(true, "json");
    const values = createDecoderCompiler().compile(spec);
    const reader = compileInputs(spec);
    const record = {
      f2: "-5",
      f7: "18446744073709551615",
      f9: 0.5,
      f10: "hé",
      f11: "B",
      f12: "1970-01-01T00:00:01Z",
      f13: 7,
    };
    for (const text of [JSON.stringify(record), "{}", `{"f10":""}`, "nothing"]) {
      const bytes = Buffer.from(text);
      const decoded = values.decode(bytes);
      expect(reader.read(bytes)).toEqual(isFault(decoded) ? decoded : undefined);
      if (!isFault(decoded)) expectAlike(reader, decoded.inputs);
    }
  });
});
