import { describe, expect, test } from "vitest";
import { createDecoderCompiler } from "../../src/decoding/compiler.ts";
import { StreamsError } from "../../src/errors.ts";
import type { DecoderSpec, InputType, RecordDecoder } from "../../src/ports/decoder.ts";
import { bytesOf, compile, inputsOf } from "./support.ts";

describe("Confluent framing, protobuf", () => {
  const F = `syntax = "proto3"; package t;
    message First { int32 a = 1; message Nested { int32 a = 1; } map<string, int32> m = 2; message Later { int32 a = 1; } }
    message Second { int32 a = 1; }`;
  const framed = (message: string) =>
    compile(F, message, { a: { path: [1], type: "integer" } }, { framing: "confluent" });
  test.each([
    ["t.First", "00 00000001 00 0801", [1n]],
    ["t.First", "00 00000001 0200 0801", [1n]],
    ["t.Second", "00 00000001 0202 0801", [1n]],
    ["t.First.Nested", "00 00000001 040000 0801", [1n]],
    ["t.First.Later", "00 00000001 040002 0801", [1n]],
    ["t.First", "00 0000000a 00", [undefined]],
    ["t.First", "00 00000001 828000 00 0801".replace("828000 00", "82800000"), [1n]],
    ["t.First", "", "DECODE_FRAMING @0"],
    ["t.First", "00000000", "DECODE_FRAMING @0"],
    ["t.First", "0801", "DECODE_FRAMING @0"],
    ["t.First", "01 00000001 00 0801", "DECODE_FRAMING @0"],
    ["t.First", "00 00000001", "DECODE_FRAMING @5"],
    ["t.First", "00 00000001 02", "DECODE_FRAMING @5"],
    ["t.First", "00 00000001 0280", "DECODE_FRAMING @5"],
    ["t.First", "00 00000001 01 0801", "DECODE_FRAMING @5"],
    ["t.First", "00 00000001 feffffffffffffffff01", "DECODE_FRAMING @5"],
    ["t.First", "00 00000001 0202 0801", "DECODE_FRAMING @5"],
    ["t.Second", "00 00000001 00 0801", "DECODE_FRAMING @5"],
    ["t.First", "00 00000001 040000 0801", "DECODE_FRAMING @5"],
    ["t.First.Nested", "00 00000001 00 0801", "DECODE_FRAMING @5"],
    ["t.First", "00 00000001 00 08", "DECODE_TRUNCATED 1@7"],
  ])("%s from %s", (message, hex, expected) => {
    expect(inputsOf(framed(message), hex)).toEqual(expected);
  });

  test("a fault names what was found and what was expected, in numbers", () => {
    expect(framed("t.Second").decode(bytesOf("00 00000107 0200 0801"))).toMatchObject({
      text: "the framing does not fit: schema id 263 with message [0] instead of [1]",
    });
  });

  test.each([
    ["", "0 bytes are too few for a header of 5"],
    ["00", "1 bytes are too few for a header of 5"],
    ["00000001", "4 bytes are too few for a header of 5"],
    ["08", "the first byte is 8 instead of 0"],
    ["01 00000107 00 0801", "the first byte is 1 instead of 0"],
    ["00 00000107", "schema id 263: the number of message indexes ends too early"],
    ["00 ffffffff 80", "schema id 4294967295: the number of message indexes ends too early"],
    ["00 00000107 ffffffffffffffffff02", "schema id 263: the number of message indexes has more than 64 bits"],
    ["00 00000107 01 0801", "schema id 263: -1 message indexes"],
    ["00 00000107 42 0801", "schema id 263: 33 message indexes are more than the 32 that can be nested"],
    [
      "00 00000107 feffffffffffffffff01",
      "schema id 263: 9223372036854775807 message indexes are more than the 32 that can be nested",
    ],
    ["00 00000107 02", "schema id 263: message index 1 of 1 ends too early"],
    ["00 00000107 0400", "schema id 263: message index 2 of 2 ends too early"],
    ["00 00000107 040080", "schema id 263: message index 2 of 2 ends too early"],
    ["00 00000107 0203 0801", "schema id 263: message index 1 of 1 is -2"],
    ["00 00000107 0280808080808001", "schema id 263: message index 1 of 1 is 2199023255552"],
    ["00 00000107 0202 0801", "schema id 263 with message [1] instead of [0, 1]"],
    ["00 00000107 0204 0801", "schema id 263 with message [2], which the descriptor does not have, instead of [0, 1]"],
    [
      "00 00000107 060002 00",
      "schema id 263 with message [0, 1, 0], which the descriptor does not have, instead of [0, 1]",
    ],
  ])("%s is refused with a reason of its own, and the schema id once it is known", (hex, detail) => {
    expect(framed("t.First.Later").decode(bytesOf(hex))).toMatchObject({
      code: "DECODE_FRAMING",
      text: `the framing does not fit: ${detail}`,
    });
  });

  test("a header that is cut off anywhere is a fault, never a record", () => {
    const whole = bytesOf("00 00000107 040002");
    const decoder = framed("t.First.Later");
    for (let length = 0; length < whole.length; length += 1) {
      expect(decoder.decode(whole.subarray(0, length))).toMatchObject({ code: "DECODE_FRAMING" });
    }
    expect(decoder.decode(whole)).toEqual({ inputs: [undefined], body: undefined });
  });

  test("messages are counted per file", () => {
    const files = {
      "a.proto": 'syntax = "proto3"; package t; message A { int32 a = 1; }',
      "b.proto": 'syntax = "proto3"; package t; import "a.proto"; message B { A a = 1; int32 n = 2; }',
    };
    const decoder = compile(files, "t.B", { n: { path: [2], type: "integer" } }, { framing: "confluent" });
    expect(inputsOf(decoder, "00 00000001 00 1005")).toEqual([5n]);
  });

  test("an original body is what stands behind the framing", () => {
    const decoder = compile(F, "t.First", {}, { framing: "confluent", body: "original" });
    expect(decoder.decode(bytesOf("00 00000001 00 0801"))).toMatchObject({ body: { bytes: bytesOf("0801") } });
  });
});

const plain = (spec: Partial<DecoderSpec>): RecordDecoder =>
  createDecoderCompiler().compile({
    format: "raw",
    framing: "none",
    inputs: [],
    mapping: {},
    body: "original",
    ...spec,
  });

describe("raw", () => {
  test.each(["", "00fffe80", "313233", "7b2261223a317d", "206e756c6c"])("keeps %s byte for byte", (hex) => {
    const value = bytesOf(hex);
    for (const body of ["json", "original"] as const) {
      expect(plain({ body }).decode(value)).toEqual({ inputs: [], body: { format: "raw", bytes: value } });
    }
    expect(plain({ body: "none" }).decode(value)).toEqual({ inputs: [], body: undefined });
  });

  test("behind a Confluent header", () => {
    const decoder = plain({ framing: "confluent" });
    expect(decoder.decode(bytesOf("00 00000001 00ff"))).toMatchObject({ body: { bytes: bytesOf("00ff") } });
    expect(decoder.decode(bytesOf("01 00000001 00ff"))).toMatchObject({ code: "DECODE_FRAMING" });
  });

  test("has nothing to map", () => {
    expect(() => plain({ mapping: { id: [1] } })).toThrow(StreamsError);
    expect(() => plain({ inputs: [{ name: "id", type: "text", required: true }] })).toThrow(StreamsError);
    const decoder = plain({ inputs: [{ name: "id", type: "text", required: false }] });
    expect(decoder.decode(bytesOf("00"))).toMatchObject({ inputs: [undefined] });
    expect(decoder.unknownFields().size).toBe(0);
    expect(decoder.descriptorVersion).toBe(0);
  });
});

describe("json without a descriptor", () => {
  const decoder = plain({ format: "json", body: "json" });
  const decode = (text: string) => decoder.decode(Buffer.from(text));
  test.each([
    '{"campaign":1524831183200260097}',
    '{"some":327267367867168100000}',
    ' { "b" : 1.10, "a" : [] }\n',
    '{"tags":{"__proto__":{"x":1}},"constructor":{"prototype":{"y":1}}}',
    "304250263527210.0",
  ])("keeps %s as it came", (text) => {
    expect(decode(text)).toEqual({ inputs: [], body: { format: "json", bytes: Buffer.from(text) } });
    expect(Object.hasOwn(Object.prototype, "x")).toBe(false);
  });

  test.each([
    ["", "DECODE_JSON"],
    ['{"id":"a","id":"b"}', "DECODE_JSON_DUPLICATE"],
    ["NaN", "DECODE_JSON"],
    ["\ufeff{}", "DECODE_UTF8"],
    ["[".repeat(200_000), "DECODE_DEPTH"],
  ])("refuses %#", (text, code) => {
    expect(decode(text)).toMatchObject({ code });
  });

  test("behind a Confluent header, with offsets of the whole value", () => {
    const framed = plain({ format: "json", body: "json", framing: "confluent" });
    expect(framed.decode(bytesOf("00 00000001 7b7d"))).toMatchObject({ body: { bytes: bytesOf("7b7d") } });
    expect(framed.decode(bytesOf("00 00000001 7b7b"))).toMatchObject({ code: "DECODE_JSON", byteOffset: 6 });
  });

  test("has nothing to map", () => {
    expect(() => plain({ format: "json", mapping: { id: [1] } })).toThrow(/field numbers/);
  });
});

describe("json with a descriptor", () => {
  const J = `syntax = "proto3"; package t; import "google/protobuf/timestamp.proto"; message J {
    string s = 1; int64 big = 2; uint32 u = 3; double d = 4; float f = 5; bool o = 6; bytes b = 7; E e = 8;
    google.protobuf.Timestamp at = 9; In snake_case = 10; optional int32 opt = 11; string named = 12 [json_name = "given"]; }
    message In { string inner_name = 1; } enum E { ZERO = 0; ONE = 1; }`;
  const one = (path: readonly number[], type: InputType) =>
    compile(J, "t.J", { x: { path, type } }, { format: "json", body: "json" });
  test.each<[readonly number[], InputType, string, unknown]>([
    [[1], "text", '{"s":"a"}', "a"],
    [[1], "text", String.raw`{"\u0073":"\u0061\n"}`, "a\n"],
    [[1], "text", '{"s":null}', undefined],
    [[1], "text", '{"s":""}', undefined],
    [[1], "text", "{}", undefined],
    [[1], "text", '{"s":1}', "DECODE_JSON_TYPE 1@5"],
    [[1], "text", '{"é":0,"s":1}', "DECODE_JSON_TYPE 1@12"],
    [[2], "integer", '{"big":1524831183200260097}', 1_524_831_183_200_260_097n],
    [[2], "integer", '{"big":"1524831183200260097"}', 1_524_831_183_200_260_097n],
    [[2], "integer", '{"big":1e3}', 1000n],
    [[2], "integer", '{"big":0}', undefined],
    [[2], "integer", '{"big":327267367867168100000}', "DECODE_JSON_TYPE 2@7"],
    [[2], "integer", '{"big":9223372036854775808}', "DECODE_JSON_TYPE 2@7"],
    [[2], "integer", '{"big":1.5}', "DECODE_JSON_TYPE 2@7"],
    [[2], "integer", '{"big":true}', "DECODE_JSON_TYPE 2@7"],
    [[2], "integer", '{"big":" 1"}', "DECODE_JSON_TYPE 2@7"],
    [[3], "integer", '{"u":4294967295}', 4_294_967_295n],
    [[3], "integer", '{"u":-1}', "DECODE_JSON_TYPE 3@5"],
    [[11], "integer", '{"opt":0}', 0n],
    [[4], "number", '{"d":1.5}', 1.5],
    [[4], "number", '{"d":"1.5"}', 1.5],
    [[4], "number", '{"d":"-Infinity"}', Number.NEGATIVE_INFINITY],
    [[4], "number", '{"d":1e400}', "DECODE_JSON_TYPE 4@5"],
    [[4], "number", '{"d":"0x10"}', "DECODE_JSON_TYPE 4@5"],
    [[5], "number", '{"f":1e39}', "DECODE_JSON_TYPE 5@5"],
    [[5], "number", '{"f":0.1}', Math.fround(0.1)],
    [[6], "flag", '{"o":true}', true],
    [[6], "flag", '{"o":"true"}', "DECODE_JSON_TYPE 6@5"],
    [[7], "bytes", '{"b":"+/8A"}', Buffer.from("fbff00", "hex")],
    [[7], "bytes", '{"b":"-_8"}', Buffer.from("fbff", "hex")],
    [[7], "bytes", '{"b":"a"}', "DECODE_JSON_TYPE 7@5"],
    [[8], "enum", '{"e":"ONE"}', 1],
    [[8], "enum", '{"e":99}', 99],
    [[8], "enum", '{"e":"TWO"}', "DECODE_JSON_TYPE 8@5"],
    [[9], "time", '{"at":"1970-01-01T00:00:01.5Z"}', 1_500],
    [[9], "time", '{"at":"1970-01-01T01:00:00+01:00"}', 0],
    [[9], "time", '{"at":"2024-02-29T00:00:00Z"}', 1_709_164_800_000],
    [[9], "time", '{"at":"1900-01-01T00:00:00Z"}', -2_208_988_800_000],
    [[9], "time", '{"at":"2026-02-30T00:00:00Z"}', "DECODE_JSON_TYPE 9@6"],
    [[9], "time", '{"at":"2026-02-20 00:00:00Z"}', "DECODE_JSON_TYPE 9@6"],
    [[9], "time", '{"at":"2026-13-01T00:00:00Z"}', "DECODE_JSON_TYPE 9@6"],
    [[9], "time", '{"at":99999999999999}', "DECODE_JSON_TYPE 9@6"],
    [[2], "time", '{"big":99999999999999}', 99_999_999_999_999],
    [[2], "time", '{"big":999999999999999}', "DECODE_JSON_TYPE 2@7"],
    [[10, 1], "text", '{"snakeCase":{"innerName":"a"}}', "a"],
    [[10, 1], "text", '{"snake_case":{"inner_name":"a"}}', "a"],
    [[10, 1], "text", '{"snakeCase":null}', undefined],
    [[10, 1], "text", '{"snakeCase":[]}', "DECODE_JSON_TYPE @13"],
    [[10, 1], "text", '{"snakeCase":{},"snake_case":{"innerName":"a"}}', "DECODE_JSON_DUPLICATE @16"],
    [[12], "text", '{"given":"a"}', "a"],
    [[12], "text", '{"named":"a"}', "a"],
    [[1], "text", '{"x":{"s":"no"},"y":[{"s":"no"}],"s":"yes"}', "yes"],
    [[1], "text", "[]", "DECODE_JSON_TYPE @0"],
  ])("%j as %s from %s", (path, type, text, expected) => {
    const result = inputsOf(one(path, type), Buffer.from(text).toString("hex"));
    const fault = typeof expected === "string" && expected.startsWith("DECODE_");
    expect(result).toEqual(fault ? expected : [expected]);
  });

  test("the body is the text, and the descriptor's version is known", () => {
    const decoder = one([1], "text");
    const text = '{"s":"a","other":1}';
    expect(decoder.decode(Buffer.from(text))).toMatchObject({ body: { format: "json", bytes: Buffer.from(text) } });
    expect(decoder.descriptorVersion).toBe(7);
  });
});
