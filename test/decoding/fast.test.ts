import * as fc from "fast-check";
import { expect, test } from "vitest";
import { CELL, CELL_AT, CELL_STATE, PRESENT, PRESENT_UTF8 } from "../../src/decoding/input-cells.ts";
import { fastInputs } from "../../src/decoding/input-fast.ts";
import { buildInputPlan } from "../../src/decoding/input-plan.ts";
import { InputReader } from "../../src/decoding/input-reader.ts";
import { inputValues } from "../../src/decoding/input-values.ts";
import { compileInPlace } from "../../src/decoding/in-place.ts";
import { buildSchema } from "../../src/decoding/schema-build.ts";
import { UnknownFields } from "../../src/decoding/unknown-fields.ts";
import { Wire } from "../../src/decoding/wire.ts";
import { BUILTIN_DESCRIPTORS } from "../../src/descriptors/builtin.ts";
import type { DecoderSpec, InputType, KindInput } from "../../src/ports/decoder.ts";
import { compile } from "./support.ts";
import { encode, EVERYTHING, mutate, random, smallRecords } from "./reference.ts";

/** Every scalar, a time of each kind, and fields within messages. */
const PATHS: Readonly<Record<string, readonly [InputType, readonly number[]]>> = {
  d: ["number", [1]],
  f: ["number", [2]],
  i32: ["integer", [3]],
  ms: ["time", [4]],
  u32: ["integer", [5]],
  u64: ["integer", [6]],
  s32: ["integer", [7]],
  s64: ["integer", [8]],
  x32: ["integer", [9]],
  x64: ["integer", [10]],
  y32: ["integer", [11]],
  y64: ["integer", [12]],
  bo: ["flag", [13]],
  st: ["text", [14]],
  by: ["bytes", [15]],
  level: ["enum", [16]],
  within: ["text", [17, 14]],
  further: ["integer", [17, 17, 3]],
  oi32: ["integer", [18]],
  ost: ["text", [19]],
  at: ["time", [50]],
  far: ["integer", [5000]],
};
const inputs: KindInput[] = Object.entries(PATHS).map(([name, [type]]) => ({ name, type, required: false }));
const mapping = Object.fromEntries(Object.entries(PATHS).map(([name, [, path]]) => [name, path]));

function reader(): InputReader {
  const message = buildSchema({ "t.proto": EVERYTHING }).message("t.All");
  if (message === undefined) throw new Error("no message");
  return new InputReader(buildInputPlan(message, inputs, mapping), new Wire(100), new UnknownFields(100, 256));
}

const below = random(42);
const samples = fc.sample(smallRecords, { seed: 6, numRuns: 300 }).map(encode);
const records = [
  ...samples,
  ...Array.from({ length: 10_000 }, (_, index) => mutate(samples[index % samples.length] ?? new Uint8Array(0), below)),
];

/** Cells without where the fields began and whether text is ASCII, which only the full reader knows. */
function comparable({ cells, plan }: InputReader): readonly number[] {
  const state = (value: number): number => (value === PRESENT_UTF8 ? PRESENT : value);
  return [...cells.subarray(0, plan.waste * CELL)].map((value, index) =>
    index % CELL === CELL_AT ? 0 : index % CELL === CELL_STATE ? state(value) : value,
  );
}

test("the short way gives what the full reader gives, or gives up", () => {
  const fast = reader();
  const full = reader();
  const { plan } = full;
  const short = fastInputs(plan);
  const wire = new Wire(100);
  const measured = new InputReader(plan, wire, undefined);
  let taken = 0;
  for (const bytes of records) {
    wire.reset(bytes, 0);
    const fault = measured.readFully();
    const values = short?.values(bytes, 0);
    const filled = short?.fill(bytes, 0, fast.cells) === true;
    expect(filled).toBe(values !== undefined);
    if (!filled) continue;
    taken += 1;
    expect(fault, Buffer.from(bytes).toString("hex")).toBeUndefined();
    expect(values).toEqual(inputValues(measured, bytes));
    const kept = measured.cells.map((value, index) =>
      measured.cells[index - (index % CELL) + CELL_STATE] === 0 ? 0 : value,
    );
    measured.cells.set(kept);
    expect(comparable(fast)).toEqual(comparable(measured));
  }
  expect(taken).toBeGreaterThan(500);
});

test("reading in place gives the decoder's verdicts", () => {
  const descriptor = { descriptor: { subject: "t", version: 1, files: { "t.proto": EVERYTHING } }, message: "t.All" };
  const spec: DecoderSpec = { format: "protobuf", framing: "none", descriptor, inputs, mapping, body: "none" };
  const inPlace = compileInPlace(spec);
  const decoder = compile(EVERYTHING, "t.All", {}, { inputs, mapping });
  for (const bytes of records) {
    const fault = inPlace.read(bytes);
    const result = decoder.decode(bytes);
    if (fault !== undefined) expect(result).toEqual(fault);
    else expect(result).toEqual({ inputs: inputValues(inPlace, bytes), body: undefined });
  }
  expect(inPlace.unknownFields()).toEqual(decoder.unknownFields());
});

test("a record as producers send it takes the short way", () => {
  const beacon = BUILTIN_DESCRIPTORS.find(({ subject }) => subject === "ysearch.beacon");
  const message = buildSchema(beacon?.files ?? {}).message(beacon?.message ?? "");
  if (message === undefined) throw new Error("no message");
  const wanted: readonly KindInput[] = [
    { name: "article", type: "text", required: true },
    { name: "at", type: "time", required: true },
    { name: "visitor", type: "integer", required: false },
  ];
  const short = fastInputs(buildInputPlan(message, wanted, { article: [1], at: [3], visitor: [4] }));
  const bytes = Buffer.from(
    "0a02613112047669657 71a0b0880fda4d50610c0abd33a21ffffffffffffffff2801".replace(" ", ""),
    "hex",
  );
  expect(short?.values(bytes, 0)).toEqual(["a1", 1_789_476_480_123, 2n ** 64n - 1n]);
});
