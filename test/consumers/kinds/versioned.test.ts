import { describe, expect, it } from "vitest";
import { isFault } from "../../../src/core/fault.ts";
import { type Field, judge, timestamp } from "./support.ts";

const campaign = (key: string | Uint8Array | null, value: readonly Field[] | null) =>
  judge("campaigns", "ysearch.campaign", key, value);
const dial = (key: string | Uint8Array | null, value: readonly Field[] | null) =>
  judge("dials", "ysearch.dial", key, value);

function code(result: object): string {
  return isFault(result) ? result.code : "no fault";
}

describe.each([
  ["campaigns", campaign],
  ["dials", dial],
])("a record of %s", (_kind, judged) => {
  it("replaces what its key names, whole", () => {
    const result = judged("k1", [[1, "k1"]]);
    expect(result).toMatchObject({ write: "put", id: "k1", body: { format: "json" } });
    expect(JSON.parse(new TextDecoder().decode("body" in result ? result.body.bytes : undefined))).toEqual({
      id: "k1",
    });
  });

  it("may leave its id to the key, and without a value deletes it", () => {
    expect(judged("k1", [])).toMatchObject({ write: "put", id: "k1" });
    expect(judged("k1", null)).toEqual({ write: "delete", id: "k1" });
  });

  it.each([
    ["no key", null, "CONTRACT_KEY_MISSING"],
    ["an empty key", "", "CONTRACT_KEY_EMPTY"],
    ["a key of 513 bytes", "k".repeat(513), "CONTRACT_KEY_TOO_LONG"],
    ["a key that is not UTF-8", Uint8Array.of(0xff), "CONTRACT_KEY_NOT_TEXT"],
    ["the key of another", "k2", "CONTRACT_KEY_MISMATCH"],
  ])("with %s is refused", (_name, key, expected) => {
    expect(code(judged(key, [[1, "k1"]]))).toBe(expected);
    if (key === null || key === "") expect(code(judged(key, null))).toBe(expected);
  });

  it("takes a key of 512 bytes", () => {
    expect(code(judged("k".repeat(512), []))).toBe("no fault");
  });
});

describe("a campaign", () => {
  it.each<[string, Field[], string]>([
    ["without a limit", [], "no fault"],
    [
      "with budgets of nothing",
      [
        [5, 0n],
        [6, 0n],
      ],
      "no fault",
    ],
    ["with a negative budget", [[5, -1n]], "CONTRACT_BUDGET"],
    ["with a negative daily budget", [[6, -1n]], "CONTRACT_BUDGET"],
    [
      "that ends before it starts",
      [
        [8, timestamp(2_000)],
        [9, timestamp(1_999)],
      ],
      "CONTRACT_SPAN_REVERSED",
    ],
    [
      "that ends as it starts",
      [
        [8, timestamp(2_000)],
        [9, timestamp(2_000)],
      ],
      "CONTRACT_SPAN_REVERSED",
    ],
    [
      "that ends after it starts",
      [
        [8, timestamp(2_000)],
        [9, timestamp(2_001)],
      ],
      "no fault",
    ],
    ["without an end", [[8, timestamp(2_000)]], "no fault"],
    ["with a status of a later contract", [[4, 77n]], "no fault"],
  ])("%s", (_name, fields, expected) => {
    expect(code(campaign("c", fields))).toBe(expected);
  });
});

describe("a dial", () => {
  it.each<[string, Field[], string]>([
    ["without a target", [], "no fault"],
    ["that asks for nobody", [[2, 0n]], "no fault"],
    ["with a target past 2^53", [[2, 9_007_199_254_740_993n]], "no fault"],
    ["with a negative target", [[2, -1n]], "CONTRACT_TARGET"],
    ["with a tolerance of 0", [[9, { double: 0 }]], "no fault"],
    ["with a tolerance of 1", [[9, { double: 1 }]], "no fault"],
    ["with a tolerance above 1", [[9, { double: 1.000_001 }]], "CONTRACT_TOLERANCE"],
    ["with a tolerance below 0", [[9, { double: -0.1 }]], "CONTRACT_TOLERANCE"],
    ["with a tolerance that is no number", [[9, { double: Number.NaN }]], "CONTRACT_TOLERANCE"],
    ["with an infinite tolerance", [[9, { double: Infinity }]], "CONTRACT_TOLERANCE"],
    [
      "whose span is reversed",
      [
        [7, timestamp(5)],
        [8, timestamp(4)],
      ],
      "CONTRACT_SPAN_REVERSED",
    ],
  ])("%s", (_name, fields, expected) => {
    expect(code(dial("d", fields))).toBe(expected);
  });

  it("keeps the difference between a target of 0 and none", () => {
    const body = (fields: Field[]) => {
      const result = dial("d", fields);
      return "body" in result ? new TextDecoder().decode(result.body.bytes) : "";
    };
    expect(body([[2, 0n]])).toContain("target");
    expect(body([])).not.toContain("target");
  });
});
