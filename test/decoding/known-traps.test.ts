import { describe, expect, test } from "vitest";
import { createDecoderCompiler } from "../../src/decoding/compiler.ts";
import { bodyOf, bytesOf, compile, inputsOf } from "./support.ts";

/** Records on which decoders are known to lose, swap or invent data. One rule each; more inputs stand beside each reader. */

const textHex = (text: string): string => Buffer.from(text).toString("hex");

describe("descriptors", () => {
  test.each([
    ["proto2", 'syntax = "proto2"; package t; message M { repeated int32 nums = 4; }'],
    ["no syntax line", "package t; message M { repeated int32 nums = 4; }"],
    ["proto2, packed", 'syntax = "proto2"; package t; message M { repeated int32 nums = 4 [packed = true]; }'],
    ["proto3", 'syntax = "proto3"; package t; message M { repeated int32 nums = 4; }'],
    ["proto3, not packed", 'syntax = "proto3"; package t; message M { repeated int32 nums = 4 [packed = false]; }'],
    ["edition 2023", 'edition = "2023"; package t; message M { repeated int32 nums = 4; }'],
    [
      "edition 2023, expanded",
      'edition = "2023"; package t; message M { repeated int32 nums = 4 [features.repeated_field_encoding = EXPANDED]; }',
    ],
  ])("a list may come packed, single or mixed under %s", (_, source) => {
    const decoder = compile(source, "t.M", {}, { body: "json" });
    expect(bodyOf(decoder, "2203010203")).toBe('{"nums":[1,2,3]}');
    expect(bodyOf(decoder, "200120022003")).toBe('{"nums":[1,2,3]}');
    expect(bodyOf(decoder, "22020102200322020405")).toBe('{"nums":[1,2,3,4,5]}');
  });

  test("delimited messages and implicit presence of an edition are followed", () => {
    const source = `edition = "2023"; package t; message In { int32 x = 1; } message M { int32 a = 1; int32 i = 2 [features.field_presence = IMPLICIT];
      In d = 3 [features.message_encoding = DELIMITED]; repeated int32 ex = 4 [features.repeated_field_encoding = EXPANDED]; }`;
    const decoder = compile(source, "t.M", {}, { body: "json" });
    expect(bodyOf(decoder, "08001b08051c20012002")).toBe('{"a":0,"d":{"x":5},"ex":[1,2]}');
    expect(bodyOf(decoder, "0800 1000 1b08051c")).toBe('{"a":0,"d":{"x":5}}');
    expect(bodyOf(decoder, "1a020805")).toBe("DECODE_WIRE_TYPE 3@0");
  });

  test("a field that is renamed feeds what it fed, whoever wrote the record", () => {
    const before = compile('syntax = "proto3"; package t; message M { string foo = 1; }', "t.M", {
      x: { path: [1], type: "text" },
    });
    const after = compile('syntax = "proto3"; package t; message M { int32 more = 2; string foobar = 1; }', "t.M", {
      x: { path: [1], type: "text" },
    });
    for (const hex of ["0a0161", "0a01611005"]) {
      expect(inputsOf(before, hex)).toEqual(["a"]);
      expect(inputsOf(after, hex)).toEqual(["a"]);
    }
  });

  test("types that hold themselves are compiled and read", () => {
    const source = `syntax = "proto3"; package t; import "google/protobuf/struct.proto";
      message M { google.protobuf.Struct st = 1; M child = 8; }`;
    const decoder = compile(source, "t.M", {}, { body: "json" });
    expect(bodyOf(decoder, "4206 4204 4202 4200")).toBe('{"child":{"child":{"child":{"child":{}}}}}');
    const flat = "0a08 0a0161 1203 1a0178";
    const nested = `0a11 0a0161 120c 2a0a ${flat}`;
    expect(bodyOf(decoder, `0a1c 0a1a 0a0161 1215 2a13 ${nested}`)).toBe('{"st":{"a":{"a":{"a":"x"}}}}');
  });
});

describe("values", () => {
  test("a number that an enum does not have: kept where open, passed over and counted where closed", () => {
    const open = compile(
      'syntax = "proto3"; package t; message M { repeated E e = 5; } enum E { Z = 0; A = 1; B = 2; }',
      "t.M",
      {},
      { body: "json" },
    );
    expect(bodyOf(open, "280128632802")).toBe('{"e":["A",99,"B"]}');
    const closed = compile(
      "package t; message M { repeated E e = 5; } enum E { Z = 0; A = 1; B = 2; }",
      "t.M",
      {},
      { body: "json" },
    );
    expect(bodyOf(closed, "280128632802")).toBe('{"e":["A","B"]}');
    expect([...closed.unknownFields()]).toEqual([["5", 1]]);
    expect(open.unknownFields().size).toBe(0);
  });

  test("zero bytes are a message with everything unset, a fault as JSON, and themselves when raw", () => {
    const nothing = new Uint8Array();
    const P = 'syntax = "proto3"; package t; message M { int64 big = 1; optional int32 opt = 10; }';
    const protobuf = compile(P, "t.M", { opt: { path: [10], type: "integer" } }, { body: "json" });
    expect(protobuf.decode(nothing)).toMatchObject({ inputs: [undefined], body: { bytes: Buffer.from("{}") } });
    expect(bodyOf(protobuf, "5000")).toBe('{"opt":0}');
    for (const format of ["json", "raw"] as const) {
      const decoder = createDecoderCompiler().compile({
        format,
        framing: "none",
        inputs: [],
        mapping: {},
        body: "original",
      });
      const result = decoder.decode(nothing);
      if (format === "json") expect(result).toMatchObject({ code: "DECODE_JSON" });
      else expect(result).toEqual({ inputs: [], body: { format: "raw", bytes: nothing } });
    }
  });
});

describe("JSON", () => {
  const source = `syntax = "proto3"; package t; import "google/protobuf/timestamp.proto";
    message M { uint64 campaign = 1; string id = 2; google.protobuf.Timestamp ts = 3; }`;
  const json = (path: readonly number[], type: "integer" | "text" | "time") =>
    compile(source, "t.M", { x: { path, type } }, { format: "json", body: "json" });

  test("numbers that a double would make equal stay two, as input and in the body", () => {
    const decoder = json([1], "integer");
    for (const digits of ["1524831183200260097", "1524831183200260096"]) {
      const text = `{"campaign":${digits}}`;
      expect(decoder.decode(Buffer.from(text))).toMatchObject({
        inputs: [BigInt(digits)],
        body: { bytes: Buffer.from(text) },
      });
    }
  });

  test("a repeated key is refused wherever it is", () => {
    const decoder = json([2], "text");
    for (const text of [
      '{"id":"a","id":"b"}',
      '{"id":"a","o":{"k":1,"k":1}}',
      '{"id":"a","l":[{"k":1,"\\u006b":1}]}',
    ]) {
      expect(inputsOf(decoder, textHex(text))).toMatch(/^DECODE_JSON_DUPLICATE/);
    }
  });

  test("a time that does not exist is a fault of its own record only", () => {
    const decoder = json([3], "time");
    for (const bad of ['"1900-01-01"', '"2026-02-30"', "99999999999999", '"2026-02-30T00:00:00Z"']) {
      expect(inputsOf(decoder, textHex(`{"ts":${bad}}`))).toBe("DECODE_JSON_TYPE 3@6");
      expect(inputsOf(decoder, textHex('{"ts":"2026-03-02T00:00:00Z"}'))).toEqual([1_772_409_600_000]);
    }
  });

  test("behind a framing that is cut off nothing is read", () => {
    const decoder = compile(source, "t.M", {}, { format: "json", framing: "confluent", body: "json" });
    for (let length = 0; length < 5; length += 1) {
      expect(decoder.decode(bytesOf("0000000107").subarray(0, length))).toMatchObject({ code: "DECODE_FRAMING" });
    }
    expect(decoder.decode(bytesOf("0000000107"))).toMatchObject({ code: "DECODE_JSON" });
  });
});
