import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isFault } from "../../src/core/fault.ts";
import { doubleKeepsDigits, exactInteger } from "../../src/decoding/json-number.ts";
import { scanStrictJson, unquote } from "../../src/decoding/json-scan.ts";
import type { JsonScanOptions } from "../../src/decoding/json-scan.ts";

const STRICT: JsonScanOptions = { maxDepth: 32, prototypeKeys: "refuse", lossyNumbers: "refuse" };
const KEEPING: JsonScanOptions = { maxDepth: 32 };

function scan(input: string | Uint8Array, options: JsonScanOptions = STRICT): string {
  const result = scanStrictJson(typeof input === "string" ? Buffer.from(input) : input, options);
  return isFault(result) ? `${result.code}@${result.byteOffset ?? -1}` : result.text;
}

describe("scanStrictJson accepts", () => {
  test.each([
    "null",
    "true",
    " \t\r\n false \n",
    "0",
    "-0",
    "-0.5e-3",
    "1E+2",
    "304250263527210.0",
    "9007199254740991",
    "0.1",
    "1e300",
    '""',
    '"é\u2028😀"',
    String.raw`"\"\\\/\b\f\n\r\t\u0041\ud83d\ude00"`,
    "[]",
    "{}",
    "[ [ ] , { } ]",
    '{"a":{"a":1},"b":[{"a":1},{"a":2}]}',
    '{"A":1,"a":2}',
  ])("%s", (text) => {
    expect(scan(text)).toBe(text);
    expect(() => JSON.parse(text) as unknown).not.toThrow();
  });
});

describe("scanStrictJson refuses", () => {
  test.each([
    ["", "DECODE_JSON@0"],
    ["  ", "DECODE_JSON@2"],
    ["NaN", "DECODE_JSON@0"],
    ["-Infinity", "DECODE_JSON@0"],
    ["+1", "DECODE_JSON@0"],
    ["01", "DECODE_JSON@1"],
    ["1.", "DECODE_JSON@1"],
    [".5", "DECODE_JSON@0"],
    ["0x10", "DECODE_JSON@1"],
    ["1 2", "DECODE_JSON@2"],
    ["{}x", "DECODE_JSON@2"],
    ["[1,]", "DECODE_JSON@3"],
    ["[1 2]", "DECODE_JSON@3"],
    ["[", "DECODE_JSON@1"],
    ["{", "DECODE_JSON@1"],
    ['{"a"', "DECODE_JSON@4"],
    ['{"a":1', "DECODE_JSON@6"],
    ['{"a":1,}', "DECODE_JSON@7"],
    ["{a:1}", "DECODE_JSON@1"],
    ["{'a':1}", "DECODE_JSON@1"],
    ["[1]//", "DECODE_JSON@3"],
    ["nul", "DECODE_JSON@0"],
    ['"abc', "DECODE_JSON@4"],
    ['"a\nb"', "DECODE_JSON@2"],
    ['"a\u0000b"', "DECODE_JSON@2"],
    [String.raw`"\x41"`, "DECODE_JSON@1"],
    [String.raw`"\u12g4"`, "DECODE_JSON@1"],
    [String.raw`"\u123`, "DECODE_JSON@1"],
    ['"\\', "DECODE_JSON@1"],
    [String.raw`"é\ud800"`, "DECODE_JSON@3"],
    [String.raw`"\udc00"`, "DECODE_JSON@1"],
    [String.raw`"\ud800\ud800"`, "DECODE_JSON@1"],
    [String.raw`"\ud800A"`, "DECODE_JSON@1"],
    ['{"id":"a","id":"b"}', "DECODE_JSON_DUPLICATE@10"],
    [String.raw`{"id":"a","\u0069d":"b"}`, "DECODE_JSON_DUPLICATE@10"],
    ['{"a":[{"é":1,"é":1}]}', "DECODE_JSON_DUPLICATE@14"],
    ['{"x":{"__proto__":{"x":1}}}', "DECODE_JSON_PROTOTYPE@6"],
    [String.raw`{"\u005f_proto__":{}}`, "DECODE_JSON_PROTOTYPE@1"],
    ['{"constructor":{"prototype":{"y":1}}}', "DECODE_JSON_PROTOTYPE@1"],
    ['{"prototype":1}', "DECODE_JSON_PROTOTYPE@1"],
    ["9007199254740993", "DECODE_JSON_NUMBER@0"],
    ['{"é":1524831183200260097}', "DECODE_JSON_NUMBER@6"],
    ["9007199254740991.4", "DECODE_JSON_NUMBER@0"],
    ["1e400", "DECODE_JSON_NUMBER@0"],
    ["1e-400", "DECODE_JSON_NUMBER@0"],
    ["0.1000000000000000055511151231257827", "DECODE_JSON_NUMBER@0"],
    ["\ufeff{}", "DECODE_UTF8@0"],
  ])("%j as %s", (text, expected) => {
    expect(scan(text)).toBe(expected);
  });

  test.each([
    ["22ff22", 1],
    ["5b22c3a9fe22", 4],
    ["22eda08022", 1],
    ["22c0af22", 1],
    ["22e282", 2],
  ])("invalid UTF-8 %s", (hex, at) => {
    const result = scanStrictJson(Buffer.from(hex, "hex"), STRICT);
    expect(result).toMatchObject({ code: "DECODE_UTF8" });
    expect(isFault(result) && Math.abs((result.byteOffset ?? -9) - at) <= 2).toBe(true);
  });

  test("what a caller keeps stays as text, digit for digit", () => {
    const text = '{"__proto__":{"x":1},"n":1524831183200260097,"m":327267367867168100000.10}';
    expect(scan(text, KEEPING)).toBe(text);
    expect(Object.hasOwn(Object.prototype, "x")).toBe(false);
  });

  test("depth counts arrays and objects, and 200,000 levels do not overflow", () => {
    expect(scan("[[1]]", { maxDepth: 2 })).toBe("[[1]]");
    expect(scan("[[[1]]]", { maxDepth: 2 })).toBe("DECODE_DEPTH@2");
    expect(scan('[{"a":{}}]', { maxDepth: 2 })).toBe("DECODE_DEPTH@6");
    expect(scan("1", { maxDepth: 0 })).toBe("1");
    const deep = "[".repeat(200_000) + "]".repeat(200_000);
    expect(scan(deep)).toBe("DECODE_DEPTH@32");
    expect(scan(deep, { maxDepth: 1_000_000 })).toBe("DECODE_DEPTH@1000");
    expect(scan("[".repeat(1_000) + "]".repeat(1_000), { maxDepth: 1_000 })).toHaveLength(2_000);
  });
});

describe("numbers", () => {
  test.each([
    ["0", 0n],
    ["-0.0", 0n],
    ["12", 12n],
    ["1.2e1", 12n],
    ["12000e-3", 12n],
    ["-9223372036854775808", -9_223_372_036_854_775_808n],
    ["18446744073709551615", 18_446_744_073_709_551_615n],
    ["1.5", undefined],
    ["1e21", undefined],
    ["1e999999999", undefined],
  ])("exactInteger(%s)", (text, value) => {
    expect(exactInteger(text)).toBe(value);
  });

  test("every finite double's own text keeps its digits", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => doubleKeepsDigits(String(value))),
      { seed: 7, numRuns: 2_000 },
    );
  });
});

test("agrees with JSON.parse on everything that JSON.stringify writes, and on broken copies of it", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.nat(), fc.integer({ min: 0x20, max: 0x7e }), (json, where, unit) => {
      expect(scan(json, KEEPING)).toBe(json);
      const at = where % json.length;
      const broken = json.slice(0, at) + String.fromCharCode(unit) + json.slice(at + 1);
      const ours = scan(broken, KEEPING);
      if (ours === broken) expect(() => JSON.parse(broken) as unknown).not.toThrow();
      else if (ours.startsWith("DECODE_JSON@") && !/\\u/.test(broken))
        expect(() => JSON.parse(broken) as unknown).toThrow();
    }),
    { seed: 11, numRuns: 3_000 },
  );
});

test("unquote gives the text of a literal", () => {
  expect(unquote('"plain"')).toBe("plain");
  expect(unquote(String.raw`"\u0041\n"`)).toBe("A\n");
});
