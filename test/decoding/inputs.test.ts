import { describe, expect, test } from "vitest";
import type { InputType } from "../../src/ports/decoder.ts";
import { compile, EXAMPLE, inputsOf } from "./support.ts";

const one = (path: readonly number[], type: InputType, source = EXAMPLE, message = "t.M") =>
  compile(source, message, { input: { path, type } });

describe("inputs", () => {
  test.each<[string, readonly number[], InputType, string, unknown]>([
    ["nothing at all", [1], "integer", "", undefined],
    ["int64", [1], "integer", "080c", 12n],
    ["int64 in more bytes than needed", [1], "integer", "088c80808000", 12n],
    ["int64 minimum", [1], "integer", "0880808080808080808001", -(2n ** 63n)],
    ["int64 maximum", [1], "integer", "08ffffffffffffffff7f", 2n ** 63n - 1n],
    ["implicit zero is absent", [1], "integer", "0800", undefined],
    ["a tag in more bytes than needed", [1], "integer", "88808080000c", 12n],
    ["the last value stands", [1], "integer", "080c0807", 7n],
    ["a last zero unsets an implicit field", [1], "integer", "080c0800", undefined],
    ["string", [2], "text", "120161", "a"],
    ["string with other letters", [2], "text", "1205c3a9f09f98", "DECODE_UTF8 2@2"],
    ["string with other letters, whole", [2], "text", "1206c3a9f09f9880", "é😀"],
    ["string of 30 letters", [2], "text", `121e${"61".repeat(30)}`, "a".repeat(30)],
    ["empty implicit string is absent", [2], "text", "1201611200", undefined],
    ["nested field", [3, 1], "integer", "1a020801", 1n],
    ["message in two pieces", [3, 1], "integer", "1a0208011a021002", 1n],
    ["message in two pieces, second field", [3, 2], "integer", "1a0208011a021002", 2n],
    ["enum, unknown number", [5], "enum", "2863", 99],
    ["enum, negative", [5], "enum", "28ffffffffffffffffff01", -1],
    ["explicit zero", [10], "integer", "5000", 0n],
    ["explicit, unset", [10], "integer", "", undefined],
    ["uint32 drops high bits", [11], "integer", "58ffffffff1f", 0xffff_ffffn],
    ["bytes keep anything", [13], "bytes", "6a02ff00", Buffer.from("ff00", "hex")],
    ["bool", [14], "flag", "7001", true],
    ["bool by a high bit", [14], "flag", "7080808080808080808001", true],
    ["bool false is absent", [14], "flag", "7000", undefined],
    ["oneof member", [6], "text", "320161", "a"],
    ["empty oneof member is a value", [6], "text", "3200", ""],
    ["a later oneof member unsets an earlier one", [6], "text", "3201613805", undefined],
    ["the later oneof member", [7], "integer", "3201613805", 5n],
    ["a oneof member of zero", [7], "integer", "3800", 0n],
    ["a later oneof member unsets what is within a message", [15, 1], "integer", "7a0208013805", undefined],
    ["a oneof message after another member", [15, 1], "integer", "7a02080138057a021002", undefined],
    ["milliseconds", [1], "time", "08fbd095ffbc31", 1_700_000_000_123],
    ["milliseconds past the year 9999", [1], "time", "08ffffffffffffffff7f", "DECODE_RANGE 1@0"],
  ])("%s", (_, path, type, hex, expected) => {
    const result = inputsOf(one(path, type), hex);
    expect(result).toEqual(typeof expected === "string" && expected.startsWith("DECODE_") ? expected : [expected]);
  });

  const NUMBERS = `syntax = "proto3"; package t; message N {
    double d = 1; float f = 2; sint32 s32 = 3; sint64 s64 = 4; fixed32 x32 = 5; fixed64 x64 = 6;
    sfixed32 y32 = 7; sfixed64 y64 = 8; int32 i = 9; uint64 u = 10; int32 far = 536870911; }`;
  test.each<[readonly number[], InputType, string, unknown]>([
    [[1], "number", "09000000000000f03f", 1],
    [[1], "number", "090000000000000080", -0],
    [[1], "number", "090000000000000000", undefined],
    [[2], "number", "150000c03f", 1.5],
    [[3], "integer", "18ffffffff0f", -2_147_483_648n],
    [[4], "integer", "20ffffffffffffffffff01", -(2n ** 63n)],
    [[4], "integer", "2003", -2n],
    [[5], "integer", "2dffffffff", 0xffff_ffffn],
    [[6], "integer", "31ffffffffffffffff", 2n ** 64n - 1n],
    [[7], "integer", "3dffffffff", -1n],
    [[8], "integer", "41ffffffffffffffff", -1n],
    [[9], "integer", "48ffffffffffffffffff01", -1n],
    [[9], "integer", "48ffffffff0f", -1n],
    [[10], "integer", "50ffffffffffffffffff01", 2n ** 64n - 1n],
    [[536_870_911], "integer", "f8ffffff0f05", 5n],
  ])("number at %j from %s %s", (path, type, hex, expected) => {
    expect(inputsOf(one(path, type, NUMBERS, "t.N"), hex)).toEqual([expected]);
  });

  const TIMES = `syntax = "proto3"; package t; import "google/protobuf/timestamp.proto";
    message T { google.protobuf.Timestamp at = 1; }`;
  test.each<[string, string, unknown]>([
    ["absent", "", undefined],
    ["empty is 1970", "0a00", 0],
    ["seconds and nanos, rounded down", "0a06080110ff887a", 1_001],
    ["in two pieces", "0a0208010a0410ff887a", 1_001],
    ["before 1970", "0a0b08ffffffffffffffffff01", -1_000],
    ["negative nanos", "0a0b10ffffffffffffffffff01", "DECODE_RANGE 1@0"],
    ["too many nanos", "0a06108094ebdc03", "DECODE_RANGE 1@0"],
    ["past the year 9999", "0a07088083d1ffaf07", "DECODE_RANGE 1@0"],
    ["last second of the year 9999", "0a0708ff82d1ffaf07", 253_402_300_799_000],
    ["first second of the year 1", "0a0b088092b8c398feffffff01", -62_135_596_800_000],
    ["before the year 1", "0a0b08ff91b8c398feffffff01", "DECODE_RANGE 1@0"],
    ["nanos of another wire type", "0a051500000000", "DECODE_WIRE_TYPE 1.2@2"],
  ])("Timestamp: %s", (_, hex, expected) => {
    const result = inputsOf(one([1], "time", TIMES, "t.T"), hex);
    expect(result).toEqual(typeof expected === "string" ? expected : [expected]);
  });

  test("several inputs at once, unneeded fields of every wire type between them", () => {
    const decoder = compile(EXAMPLE, "t.M", {
      s: { path: [2], type: "text" },
      a: { path: [3, 1], type: "integer" },
      deep: { path: [3, 3, 2], type: "integer" },
    });
    expect(inputsOf(decoder, "0801 220401020304 1a0608011a021002 120162")).toEqual(["b", 1n, 2n]);
    expect(decoder.descriptorVersion).toBe(7);
  });
});

describe("malformed wire data is refused", () => {
  test.each([
    ["length past the end", "120561", "DECODE_TRUNCATED 2@1"],
    ["length past the end, unmapped", "6a0561", "DECODE_TRUNCATED 13@1"],
    ["length past 2^32", "12ffffffffff7f61", "DECODE_TRUNCATED 2@1"],
    ["length past a message", "1a05080110", "DECODE_TRUNCATED 3@1"],
    ["message that ends within a field", "1a03080110", "DECODE_TRUNCATED 3.2@5"],
    ["varint past a message's end", "1a01080112", "DECODE_TRUNCATED 3.1@3"],
    ["tag alone", "08", "DECODE_TRUNCATED 1@1"],
    ["unfinished tag", "80", "DECODE_TRUNCATED @0"],
    ["unfinished varint", "0880", "DECODE_TRUNCATED 1@1"],
    ["fixed64 cut", "a906ffffffffffffff", "DECODE_TRUNCATED 101@2"],
    ["fixed32 cut", "ad06ffffff", "DECODE_TRUNCATED 101@2"],
    ["varint with bits beyond 64", "08ffffffffffffffffff02", "DECODE_VARINT 1@1"],
    ["varint of eleven bytes", "088080808080808080808000", "DECODE_VARINT 1@1"],
    ["varint without an end", "0880808080808080808080", "DECODE_VARINT 1@1"],
    ["unknown varint with bits beyond 64", "a806ffffffffffffffffff02", "DECODE_VARINT 101@2"],
    ["field number 0", "0001", "DECODE_FIELD_NUMBER @0"],
    ["field number 0 in two bytes", "800001", "DECODE_FIELD_NUMBER @0"],
    ["field number 2^29", "808080801001", "DECODE_FIELD_NUMBER @0"],
    ["a tag of six bytes", "88808080800001", "DECODE_FIELD_NUMBER @0"],
    ["an unknown tag of nine bytes", "888080808080808000d209", "DECODE_FIELD_NUMBER @0"],
    ["wire type 6", "a606", "DECODE_WIRE_TYPE 100@0"],
    ["wire type 7", "0f", "DECODE_WIRE_TYPE 1@0"],
    ["end-group alone", "a406", "DECODE_GROUP @0"],
    ["end-group of a mapped field", "0c", "DECODE_GROUP @0"],
    ["end-group with another number", "a306ac06", "DECODE_GROUP 100@2"],
    ["unclosed group", "a306", "DECODE_GROUP 100@2"],
    ["unclosed group within", "a306ab06a406", "DECODE_GROUP 100@4"],
    ["invalid UTF-8 ff", "1201ff", "DECODE_UTF8 2@2"],
    ["invalid UTF-8 fe", "1201fe", "DECODE_UTF8 2@2"],
    ["overlong UTF-8", "1202c0af", "DECODE_UTF8 2@2"],
    ["encoded surrogate", "1203eda080", "DECODE_UTF8 2@2"],
    ["string sent as a varint", "1001", "DECODE_WIRE_TYPE 2@0"],
    ["string sent as a varint 2", "100141", "DECODE_WIRE_TYPE 2@0"],
    ["int64 sent as bytes", "0a0161", "DECODE_WIRE_TYPE 1@0"],
    ["int64 sent as a group", "0b0c", "DECODE_WIRE_TYPE 1@0"],
    ["message sent as a group", "1b08011c", "DECODE_WIRE_TYPE 3@0"],
    ["10,000 group starts", "0b".repeat(10_000), "DECODE_WIRE_TYPE 1@0"],
    ["10,000 unknown group starts", "a306".repeat(10_000), "DECODE_DEPTH 100@200"],
  ])("%s", (_, hex, fault) => {
    const decoder = compile(EXAMPLE, "t.M", {
      big: { path: [1], type: "integer" },
      s: { path: [2], type: "text" },
      a: { path: [3, 1], type: "integer" },
    });
    expect(inputsOf(decoder, hex)).toBe(fault);
    expect(decoder.unknownFields().size).toBe(0);
    expect(inputsOf(decoder, "1201611a020801")).toEqual([undefined, "a", 1n]);
  });

  test("a group may be a hundred deep, and no deeper", () => {
    const decoder = one([1], "integer");
    const groups = (depth: number) => "a306".repeat(depth) + "a406".repeat(depth);
    expect(inputsOf(decoder, `${groups(100)}0801`)).toEqual([1n]);
    expect(inputsOf(decoder, groups(101))).toBe("DECODE_DEPTH 100@200");
  });

  test("a fault says nothing of the record's content", () => {
    const decoder = one([2], "text");
    const result = decoder.decode(Buffer.from("1209736563726574fffefd", "hex"));
    expect(JSON.stringify(result)).not.toContain("secret");
  });
});

describe("unknown fields", () => {
  test("are counted by path, of records that decode", () => {
    const decoder = one([3, 1], "integer");
    inputsOf(decoder, "a00601a00602 1a0408012805");
    inputsOf(decoder, "1a022805");
    inputsOf(decoder, "a0060108");
    expect([...decoder.unknownFields()]).toEqual([
      ["100", 2],
      ["3.5", 2],
    ]);
  });

  test("are bounded in paths and per record", () => {
    const decoder = one([1], "integer");
    for (let number = 100; number < 500; number += 1) {
      const tag = Buffer.from([((number * 8) & 0x7f) | 0x80, number >>> 4, 1]);
      inputsOf(decoder, tag.toString("hex"));
    }
    inputsOf(decoder, "a00601".repeat(2_000));
    const counts = decoder.unknownFields();
    expect(counts.size).toBe(257);
    expect(counts.get("*")).toBe(400 - 256 + 2_000 - 512);
    expect(counts.get("100")).toBe(1 + 512);
  });
});

describe("proto2", () => {
  const PROTO2 = `syntax = "proto2"; package t; message P {
    required string v = 1; optional group G = 5 { optional int32 x = 1; optional int32 five = 5; }
    optional C c = 6; oneof o { C oc = 7; int32 od = 8; } }
    enum C { A = 1; B = 2; }`;
  test.each<[readonly number[], InputType, string, unknown]>([
    [[1], "text", "0a01612b08072c", ["a"]],
    [[5, 1], "integer", "0a01612b08072c", [7n]],
    [[5, 1], "integer", "2b08072c2b28092c", [7n]],
    [[5, 5], "integer", "2b28092c", [9n]],
    [[5, 1], "integer", "2b0807", "DECODE_GROUP 5@3"],
    [[5, 1], "integer", "2b080734", "DECODE_GROUP 5@3"],
    [[5, 1], "integer", "2a020807", "DECODE_WIRE_TYPE 5@0"],
    [[6], "enum", "30013063", [1]],
    [[1], "text", "0a00", [""]],
    [[8], "integer", "40053863", [5n]],
    [[8], "integer", "40053801", [undefined]],
  ])("%j %s %s", (path, type, hex, expected) => {
    expect(inputsOf(one(path, type, PROTO2, "t.P"), hex)).toEqual(expected);
  });

  test("an undeclared number of a closed enum is an unknown field", () => {
    const decoder = one([6], "enum", PROTO2, "t.P");
    inputsOf(decoder, "3063");
    expect([...decoder.unknownFields()]).toEqual([["6", 1]]);
  });
});
