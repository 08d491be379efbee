import { describe, expect, test } from "vitest";
import { compile, EXAMPLE, bodyOf, bytesOf } from "./support.ts";

const json = (source: string, message: string) => compile(source, message, {}, { body: "json" });

describe("body as canonical JSON", () => {
  test.each([
    ["nothing", "", "{}"],
    ["64 bits as text", "08ffffffffffffffff7f", '{"big":"9223372036854775807"}'],
    ["implicit zeros are left out", "0800 1200 2800 5800 6a00 7000", "{}"],
    ["a last zero unsets", "0801 0800", "{}"],
    ["explicit zero", "5000", '{"opt":0}'],
    ["members of a oneof keep zero", "3800", '{"oi":0}'],
    ["the last oneof member stands", "3201613805", '{"oi":5}'],
    ["the last oneof member stands, message", "3805 7a020801", '{"om":{"a":1}}'],
    ["a oneof message merges with itself", "7a020801 7a021002", '{"om":{"a":1,"b":2}}'],
    ["and not across another member", "7a020801 3805 7a021002", '{"om":{"b":2}}'],
    ["a message in two pieces", "1a020801 1a021002", '{"inner":{"a":1,"b":2}}'],
    ["an empty message", "1a00", '{"inner":{}}'],
    ["packed", "2203010203", '{"nums":[1,2,3]}'],
    ["unpacked", "200120022003", '{"nums":[1,2,3]}'],
    ["both", "220201022003 22020405", '{"nums":[1,2,3,4,5]}'],
    ["an empty packed list", "2200", "{}"],
    ["negative numbers", "20ffffffffffffffffff01", '{"nums":[-1]}'],
    ["enum by name", "2801", '{"e":"ONE"}'],
    ["an unknown enum number", "2863", '{"e":99}'],
    ["bytes", "6a03fbff00", '{"b":"+/8A"}'],
    ["uint32", "58ffffffff0f", '{"u":4294967295}'],
    ["bool", "7001", '{"bo":true}'],
    ["fields by number whatever their order", "7001 120161 0801", '{"big":"1","s":"a","bo":true}'],
    ["map", "42050a01611001 42050a01621002", '{"m":{"a":1,"b":2}}'],
    ["map, sorted by bytes", "42050a01621002 42050a01611001", '{"m":{"a":1,"b":2}}'],
    ["map, the last entry of a key", "42050a01611001 42050a01611002", '{"m":{"a":2}}'],
    ["map, value first", "420510010a0161", '{"m":{"a":1}}'],
    ["map, no value", "42030a0161", '{"m":{"a":0}}'],
    ["map, no key", "42021001", '{"m":{"":1}}'],
    ["map, nothing", "4200", '{"m":{"":0}}'],
    ["map of messages", "4a070a016112020801", '{"mm":{"a":{"a":1}}}'],
    ["map of messages, value in two pieces", "4a0b0a0161 12020801 12021002", '{"mm":{"a":{"a":1,"b":2}}}'],
    ["map of messages, entries replace", "4a070a016112020801 4a070a016112021002", '{"mm":{"a":{"b":2}}}'],
    ["map of messages, no value", "4a030a0161", '{"mm":{"a":{}}}'],
    ["map key that JavaScript knows", "420d0a095f5f70726f746f5f5f1001", '{"m":{"__proto__":1}}'],
    ["escapes", "120a 22 5c 08 0c 0a 0d 09 01 1f 2f", String.raw`{"s":"\"\\\b\f\n\r\t\u0001\u001f/"}`],
    ["other letters as they are", "1209 7f c3a9 e280a8 3c 3e 26", '{"s":"\u007fé\u2028<>&"}'],
    ["unknown fields are left out", "a00601 0801 ab0608 01ac06", '{"big":"1"}'],
  ])("%s", (_, hex, expected) => {
    expect(bodyOf(json(EXAMPLE, "t.M"), hex)).toBe(expected);
    expect(() => JSON.parse(expected) as unknown).not.toThrow();
  });

  test("keys that reach a prototype survive and change nothing", () => {
    const text = bodyOf(json(EXAMPLE, "t.M"), "420d0a095f5f70726f746f5f5f1001 420f0a0b636f6e7374727563746f721002");
    expect(text).toBe('{"m":{"__proto__":1,"constructor":2}}');
  });

  test("map keys are ordered by UTF-8 bytes, not by UTF-16", () => {
    const entry = (key: string) => {
      const bytes = Buffer.from(key);
      return Buffer.concat([Buffer.from([0x42, bytes.length + 2, 0x0a, bytes.length]), bytes]).toString("hex");
    };
    const keys = ["\u{10000}", "\uffff", "\ud7ff", "b", "a", "ab"];
    const text = bodyOf(json(EXAMPLE, "t.M"), keys.map(entry).join(""));
    expect(text).toBe(
      `{"m":{${["a", "ab", "b", "\ud7ff", "\uffff", "\u{10000}"].map((key) => `"${key}":0`).join(",")}}}`,
    );
  });
});

describe("numbers and names", () => {
  const N = `syntax = "proto3"; package t; message N {
    double d = 1; float f = 2; repeated float fs = 3; sint64 z = 4; fixed64 x = 5; sfixed64 y = 6; fixed32 w = 7;
    string two_words = 8; string __odd_ = 9; string given = 10 [json_name = "Übergabe"]; string a1_b2 = 11;
    map<bool, int32> mb = 12; map<int64, string> ml = 13; map<sint32, E> ms = 14; map<fixed32, bytes> mf = 15;
    repeated sint32 zs = 16; repeated bool bs = 17; repeated fixed64 xs = 18; repeated E es = 19; repeated string ss = 20; }
    enum E { option allow_alias = true; ZERO = 0; ONE = 1; UNO = 1; MINUS = -1; }`;
  test.each([
    ["09000000000000f03f", '{"d":1}'],
    ["090000000000000080", '{"d":-0}'],
    ["09000000000000f07f", '{"d":"Infinity"}'],
    ["09000000000000f0ff", '{"d":"-Infinity"}'],
    ["09000000000000f87f", '{"d":"NaN"}'],
    ["09ffffffffffffef7f", '{"d":1.7976931348623157e+308}'],
    ["090100000000000000", '{"d":5e-324}'],
    ["15cdcccc3d", '{"f":0.1}'],
    ["1500000080", '{"f":-0}'],
    ["15ffff7f7f", '{"f":3.4028235e+38}'],
    ["1501000000", '{"f":1e-45}'],
    ["15b6e67c4b", '{"f":16574134}'],
    ["150000c07f", '{"f":"NaN"}'],
    ["1a0800000000 0000803f", '{"fs":[0,1]}'],
    ["20ffffffffffffffffff01", '{"z":"-9223372036854775808"}'],
    ["2003", '{"z":"-2"}'],
    ["29ffffffffffffffff", '{"x":"18446744073709551615"}'],
    ["31feffffffffffffff", '{"y":"-2"}'],
    ["29ffffffffffff1f00", '{"x":"9007199254740991"}'],
    ["29000000000000 2000", '{"x":"9007199254740992"}'],
    ["3dffffffff", '{"w":4294967295}'],
    ["420161 4a0162 520163 5a0164", '{"twoWords":"a","Odd":"b","Übergabe":"c","a1B2":"d"}'],
    ["620408011005 62021006", '{"mb":{"false":6,"true":5}}'],
    ["6a0e08ffffffffffffffffff01120161", '{"ml":{"-1":"a"}}'],
    ["6a050802120161 6a05080a120162", '{"ml":{"10":"b","2":"a"}}'],
    ["72040803 1001", '{"ms":{"-2":"ONE"}}'],
    ["720b10ffffffffffffffffff01", '{"ms":{"0":"MINUS"}}'],
    ["7a080d0a0000001201ff", '{"mf":{"10":"/w=="}}'],
    ["82010301 02 03", '{"zs":[-1,1,-2]}'],
    ["8a01020001", '{"bs":[false,true]}'],
    ["9201100100000000000000 0200000000000000", '{"xs":["1","2"]}'],
    ["9a010300017b", '{"es":["ZERO","ONE",123]}'],
    ["a20100 a2010161", '{"ss":["","a"]}'],
  ])("%s %s", (hex, expected) => {
    expect(bodyOf(json(N, "t.N"), hex)).toBe(expected);
  });
});

describe("body faults", () => {
  test.each([
    ["wrong wire type anywhere", "6801", "DECODE_WIRE_TYPE 13@0"],
    ["group for a message", "1b1c", "DECODE_WIRE_TYPE 3@0"],
    ["packed for a single field", "0a0101", "DECODE_WIRE_TYPE 1@0"],
    ["fixed for a packed list", "2501000000", "DECODE_WIRE_TYPE 4@0"],
    ["map sent as a varint", "4001", "DECODE_WIRE_TYPE 8@0"],
    ["map key of another type", "42020801", "DECODE_WIRE_TYPE 8.1@2"],
    ["map value of another type", "42021200", "DECODE_WIRE_TYPE 8.2@2"],
    ["cut within a packed list", "22020180", "DECODE_TRUNCATED 4@3"],
    ["UTF-8 within a nested map key", "42030a01ff", "DECODE_UTF8 8.1@4"],
    ["UTF-8 of a long string", `1230${"61".repeat(47)}ff`, "DECODE_UTF8 2@2"],
    ["cut", "120561", "DECODE_TRUNCATED 2@1"],
    ["field 0 in a map entry", "42020001", "DECODE_FIELD_NUMBER 8@2"],
    ["end-group in a map entry", "42010c", "DECODE_GROUP 8.1@2"],
  ])("%s", (_, hex, expected) => {
    for (const body of ["json", "original"] as const) {
      expect(bodyOf(compile(EXAMPLE, "t.M", {}, { body }), hex), body).toBe(expected);
    }
  });

  const nested = (depth: number): string => {
    let bytes = Buffer.from("0801", "hex");
    for (let level = 1; level < depth; level += 1) {
      const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 0x7f) | 0x80, bytes.length >> 7];
      bytes = Buffer.concat([Buffer.from([0x1a, ...length]), bytes]);
    }
    return bytes.toString("hex");
  };
  test("messages may be a hundred deep", () => {
    for (const body of ["json", "original"] as const) {
      const decoder = compile(EXAMPLE, "t.M", {}, { body });
      expect(bodyOf(decoder, nested(101)).startsWith("DECODE_"), body).toBe(false);
      const path = Array.from({ length: 101 }, () => "3").join(".");
      expect(bodyOf(decoder, nested(102)).replace(/@.*/, "")).toBe(`DECODE_DEPTH ${path}`);
    }
  });

  test("20,000 nested messages do not overflow", () => {
    let length = 0;
    const parts: Buffer[] = [];
    for (let level = 0; level < 20_000; level += 1) {
      const head = [0x1a, (length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, length >> 14];
      parts.push(Buffer.from(head));
      length += head.length;
    }
    const decoder = compile(EXAMPLE, "t.M", {}, { body: "json" });
    expect(decoder.decode(Buffer.concat(parts.toReversed()))).toMatchObject({ code: "DECODE_DEPTH" });
  });

  test("a body past the limit", () => {
    const spec = { body: "json" } as const;
    const decoder = compile(EXAMPLE, "t.M", {}, spec, { maxBodyBytes: 200_000 });
    const value = (length: number) =>
      Buffer.concat([
        bytesOf("12"),
        Buffer.from([(length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, length >> 14]),
        Buffer.alloc(length, 1),
      ]);
    expect(decoder.decode(value(30_000))).toMatchObject({ body: { bytes: { length: 6 * 30_000 + 8 } } });
    expect(decoder.decode(value(40_000))).toMatchObject({ code: "DECODE_BODY_SIZE" });
    expect(decoder.decode(value(30_000))).toMatchObject({ body: { bytes: { length: 6 * 30_000 + 8 } } });
  });
});

test("long text is escaped like short text", () => {
  const decoder = compile(EXAMPLE, "t.M", {}, { body: "json" });
  const every = Array.from({ length: 0x80 }, (_, code) => String.fromCharCode(code)).join("");
  for (const text of [every, `${every}${"é\u2028😀".repeat(40)}`, ...every.split("")]) {
    const bytes = Buffer.from(text);
    const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 0x7f) | 0x80, bytes.length >> 7];
    const hex = Buffer.concat([Buffer.from([0x12, ...length]), bytes]).toString("hex");
    expect(bodyOf(decoder, hex)).toBe(`{"s":${JSON.stringify(text)}}`);
  }
});

describe("other bodies", () => {
  test("original keeps the bytes, unknown fields included", () => {
    const decoder = compile(EXAMPLE, "t.M", {}, { body: "original" });
    const value = bytesOf("a00601 0801 0802");
    expect(decoder.decode(value)).toEqual({ inputs: [], body: { format: "protobuf", bytes: value } });
    expect([...decoder.unknownFields()]).toEqual([["100", 1]]);
  });

  test("original keeps messages in maps, lists and oneofs, however many", () => {
    const decoder = compile(EXAMPLE, "t.M", {}, { body: "original" }, { maxBodyCells: 0 });
    const hex = "4a070a0161120208054a0012001a00 7a020801".repeat(1_000).replaceAll(" ", "");
    expect(decoder.decode(bytesOf(hex))).toEqual({ inputs: [], body: { format: "protobuf", bytes: bytesOf(hex) } });
  });

  test("a body and inputs come from one record, and unknown fields are counted once", () => {
    const decoder = compile(EXAMPLE, "t.M", { s: { path: [2], type: "text" } }, { body: "json" });
    const result = decoder.decode(bytesOf("120161 a00601 1a03a00601"));
    expect(result).toMatchObject({ inputs: ["a"], body: { format: "json" } });
    expect([...decoder.unknownFields()]).toEqual([
      ["100", 1],
      ["3.100", 1],
    ]);
  });

  test("none", () => {
    expect(compile(EXAMPLE, "t.M", {}).decode(bytesOf("0801"))).toEqual({ inputs: [], body: undefined });
  });

  test("a body does not change when the next record is decoded", () => {
    const decoder = compile(EXAMPLE, "t.M", {}, { body: "json" });
    const first = decoder.decode(bytesOf("120161"));
    decoder.decode(bytesOf("120162"));
    expect("body" in first && Buffer.from(first.body?.bytes ?? []).toString()).toBe('{"s":"a"}');
  });
});
