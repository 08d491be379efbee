import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isFault } from "../../src/core/fault.ts";
import { compile } from "./support.ts";
import {
  comparable,
  decodeReference,
  encode,
  EVERYTHING,
  mutate,
  plain,
  random,
  records,
  referenceJson,
  smallRecords,
} from "./reference.ts";

const inputs = {
  d: { path: [1], type: "number" },
  f: { path: [2], type: "number" },
  i32: { path: [3], type: "integer" },
  i64: { path: [4], type: "integer" },
  u32: { path: [5], type: "integer" },
  u64: { path: [6], type: "integer" },
  s32: { path: [7], type: "integer" },
  s64: { path: [8], type: "integer" },
  x32: { path: [9], type: "integer" },
  x64: { path: [10], type: "integer" },
  y32: { path: [11], type: "integer" },
  y64: { path: [12], type: "integer" },
  bo: { path: [13], type: "flag" },
  st: { path: [14], type: "text" },
  by: { path: [15], type: "bytes" },
  level: { path: [16], type: "enum" },
  oi32: { path: [18], type: "integer" },
  ost: { path: [19], type: "text" },
  pi: { path: [30], type: "integer" },
  ps: { path: [31], type: "text" },
  pb: { path: [33], type: "bytes" },
  far: { path: [5000], type: "integer" },
} as const;
const names = Object.keys(inputs);

/** Our inputs as protobufjs would show them. */
function shown(values: readonly unknown[]): Record<string, unknown> {
  const entries = names.map((name, index): [string, unknown] => {
    const value = values[index];
    if (typeof value !== "bigint") return [name, value instanceof Uint8Array ? Buffer.from(value) : value];
    return [name, name.endsWith("64") ? String(value) : Number(value)];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function expectedInputs(bytes: Uint8Array): Record<string, unknown> {
  const message = decodeReference(bytes);
  const all = message === undefined ? {} : plain(message);
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
}

const inputDecoder = compile(EVERYTHING, "t.All", inputs);
const jsonDecoder = compile(EVERYTHING, "t.All", {}, { body: "json" });

describe("compared with protobufjs", () => {
  test("inputs of random messages", () => {
    fc.assert(
      fc.property(records, (record) => {
        const bytes = encode(record);
        const result = inputDecoder.decode(bytes);
        expect(isFault(result) ? result : shown(result.inputs)).toEqual(expectedInputs(bytes));
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  test("JSON of random messages", () => {
    fc.assert(
      fc.property(records, (record) => {
        const bytes = encode(record);
        const result = jsonDecoder.decode(bytes);
        const text = isFault(result) ? JSON.stringify(result) : Buffer.from(result.body?.bytes ?? []).toString();
        expect(comparable(text)).toEqual(referenceJson(bytes));
      }),
      { seed: 2, numRuns: 200 },
    );
  });

  test("JSON of two messages in one, which merges them", () => {
    fc.assert(
      fc.property(records, records, (first, second) => {
        const bytes = Buffer.concat([encode(first), encode(second)]);
        const result = jsonDecoder.decode(bytes);
        const text = isFault(result) ? JSON.stringify(result) : Buffer.from(result.body?.bytes ?? []).toString();
        expect(comparable(text)).toEqual(referenceJson(bytes));
      }),
      { seed: 3, numRuns: 100 },
    );
  });

  test("equal messages give equal bytes whatever the order of their fields", () => {
    fc.assert(
      fc.property(records, (record) => {
        const parts = Object.entries(record).map(([name, value]) => encode({ [name]: value }));
        const one = jsonDecoder.decode(Buffer.concat(parts));
        const other = jsonDecoder.decode(Buffer.concat(parts.toReversed()));
        expect(one).toEqual(other);
      }),
      { seed: 4, numRuns: 60 },
    );
  });
});

describe("20,000 mutated records", () => {
  const below = random(20_261_201);
  const samples = fc.sample(smallRecords, { seed: 5, numRuns: 400 }).map(encode);
  const mutants = Array.from({ length: 20_000 }, (_, index) => {
    return mutate(samples[index % samples.length] ?? new Uint8Array(0), below);
  });

  test("never throw, and whatever we accept protobufjs accepts and understands the same", () => {
    const tally = { refused: 0, accepted: 0, differing: 0 };
    for (const bytes of mutants) {
      const result = jsonDecoder.decode(bytes);
      if (isFault(result)) {
        tally.refused += 1;
        expect(result.code).toMatch(/^DECODE_/);
        continue;
      }
      tally.accepted += 1;
      const text = Buffer.from(result.body?.bytes ?? []).toString();
      expect(comparable(text), Buffer.from(bytes).toString("hex")).toEqual(referenceJson(bytes));
    }
    expect(tally.accepted).toBeGreaterThan(2_000);
    expect(tally.refused).toBeGreaterThan(5_000);
  });

  test("inputs never throw, and are protobufjs' wherever both accept", () => {
    let compared = 0;
    for (const bytes of mutants) {
      const result = inputDecoder.decode(bytes);
      if (isFault(result) || decodeReference(bytes) === undefined) continue;
      compared += 1;
      expect(shown(result.inputs), Buffer.from(bytes).toString("hex")).toEqual(expectedInputs(bytes));
    }
    expect(compared).toBeGreaterThan(3_000);
  });

  test("an original body is kept exactly where JSON would have been written, but for ranges", () => {
    const original = compile(EVERYTHING, "t.All", {}, { body: "original" });
    for (const bytes of mutants.slice(0, 5_000)) {
      const json = jsonDecoder.decode(bytes);
      const kept = original.decode(bytes);
      if (isFault(json) && json.code !== "DECODE_RANGE") expect(kept).toEqual(json);
      else expect(isFault(kept)).toBe(false);
    }
  });
});
