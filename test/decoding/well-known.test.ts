import { describe, expect, test } from "vitest";
import { bodyOf, compile } from "./support.ts";

const W = `syntax = "proto3"; package t;
  import "google/protobuf/any.proto"; import "google/protobuf/duration.proto"; import "google/protobuf/empty.proto";
  import "google/protobuf/field_mask.proto"; import "google/protobuf/struct.proto";
  import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";
  message W {
    google.protobuf.Timestamp ts = 1; google.protobuf.Duration du = 2; google.protobuf.FieldMask fm = 3;
    google.protobuf.Struct st = 4; google.protobuf.Value va = 5; google.protobuf.ListValue li = 6;
    google.protobuf.Any an = 7; google.protobuf.Empty em = 8;
    google.protobuf.DoubleValue wd = 9; google.protobuf.Int64Value wl = 10; google.protobuf.StringValue ws = 11;
    google.protobuf.BytesValue wb = 12; google.protobuf.BoolValue wo = 13; google.protobuf.UInt32Value wu = 14;
    repeated google.protobuf.Int32Value wi = 15; google.protobuf.NullValue nu = 16;
    oneof o { google.protobuf.NullValue on = 17; } repeated google.protobuf.Value vs = 18;
    map<string, google.protobuf.Value> mv = 19; google.protobuf.FloatValue wf = 20;
  }
  message Inner { int32 a = 1; }`;

const bytes = (...parts: (string | readonly [number, string])[]): string =>
  parts
    .map((part) => {
      if (typeof part === "string") return part.replaceAll(" ", "");
      const value = part[1].replaceAll(" ", "");
      const length = value.length / 2;
      const tag = part[0] * 8 + 2;
      const varint = (number: number) => (number < 128 ? [number] : [(number & 0x7f) | 0x80, number >> 7]);
      return Buffer.from([...varint(tag), ...varint(length)]).toString("hex") + value;
    })
    .join("");
const text = (value: string): string => Buffer.from(value).toString("hex");

describe("well-known types", () => {
  const decoder = compile(W, "t.W", {}, { body: "json" });
  test.each([
    ["Timestamp, zero", bytes([1, ""]), '{"ts":"1970-01-01T00:00:00Z"}'],
    ["Timestamp, milliseconds", bytes([1, "10 80ade204"]), '{"ts":"1970-01-01T00:00:00.010Z"}'],
    ["Timestamp, microseconds", bytes([1, "10 e807"]), '{"ts":"1970-01-01T00:00:00.000001Z"}'],
    ["Timestamp, nanoseconds", bytes([1, "1001"]), '{"ts":"1970-01-01T00:00:00.000000001Z"}'],
    ["Timestamp, before 1970", bytes([1, "08ffffffffffffffffff01 1001"]), '{"ts":"1969-12-31T23:59:59.000000001Z"}'],
    ["Timestamp, first", bytes([1, "088092b8c398feffffff01"]), '{"ts":"0001-01-01T00:00:00Z"}'],
    ["Timestamp, last", bytes([1, "08ff82d1ffaf07 10ff93ebdc03"]), '{"ts":"9999-12-31T23:59:59.999999999Z"}'],
    ["Timestamp, too early", bytes([1, "08ff91b8c398feffffff01"]), "DECODE_RANGE 1@0"],
    ["Timestamp, too late", bytes([1, "088083d1ffaf07"]), "DECODE_RANGE 1@0"],
    ["Timestamp, negative nanos", bytes([1, "10ffffffffffffffffff01"]), "DECODE_RANGE 1@0"],
    ["Duration, zero", bytes([2, ""]), '{"du":"0s"}'],
    ["Duration", bytes([2, "0801 1080cab5ee01"]), '{"du":"1.500s"}'],
    ["Duration, negative", bytes([2, "08ffffffffffffffffff01 1080b6ca91feffffffff01"]), '{"du":"-1.500s"}'],
    ["Duration, negative nanos alone", bytes([2, "10ffffffffffffffffff01"]), '{"du":"-0.000000001s"}'],
    ["Duration, longest", bytes([2, "0880bcaece9709"]), '{"du":"315576000000s"}'],
    ["Duration, too long", bytes([2, "0881bcaece9709"]), "DECODE_RANGE 2@0"],
    ["Duration, mixed signs", bytes([2, "0801 10ffffffffffffffffff01"]), "DECODE_RANGE 2@0"],
    ["FieldMask", bytes([3, bytes([1, text("foo_bar")], [1, text("a.b_c")])]), '{"fm":"fooBar,a.bC"}'],
    ["FieldMask, empty", bytes([3, ""]), '{"fm":""}'],
    ["FieldMask, upper case", bytes([3, bytes([1, text("fooBar")])]), "DECODE_RANGE 3.1@3"],
    ["FieldMask, digit", bytes([3, bytes([1, text("foo_3_bar")])]), "DECODE_RANGE 3.1@3"],
    ["FieldMask, underscores", bytes([3, bytes([1, text("foo__bar")])]), "DECODE_RANGE 3.1@3"],
    ["Struct", bytes([4, bytes([1, bytes([1, text("k")], [2, "2001"])])]), '{"st":{"k":true}}'],
    ["Struct, empty", bytes([4, ""]), '{"st":{}}'],
    [
      "Struct, prototype key",
      bytes([4, bytes([1, bytes([1, text("__proto__")], [2, "0800"])])]),
      '{"st":{"__proto__":null}}',
    ],
    ["Value, null", bytes([5, "0800"]), '{"va":null}'],
    ["Value, null of another number", bytes([5, "0805"]), '{"va":null}'],
    ["Value, number", bytes([5, "110000000000000000"]), '{"va":0}'],
    ["Value, text", bytes([5, "1a00"]), '{"va":""}'],
    ["Value, bool", bytes([5, "2000"]), '{"va":false}'],
    ["Value, struct", bytes([5, "2a00"]), '{"va":{}}'],
    ["Value, list", bytes([5, bytes([6, bytes([1, "0800"], [1, "2001"])])]), '{"va":[null,true]}'],
    ["Value, last of several", bytes([5, "0800 2001"]), '{"va":true}'],
    ["Value, none", bytes([5, ""]), "DECODE_RANGE 5@0"],
    ["Value, NaN", bytes([5, "11000000000000f87f"]), "DECODE_RANGE 5.2@3"],
    ["Value, infinity", bytes([5, "11000000000000f07f"]), "DECODE_RANGE 5.2@3"],
    ["ListValue", bytes([6, bytes([1, "0800"])]), '{"li":[null]}'],
    ["ListValue, empty", bytes([6, ""]), '{"li":[]}'],
    ["Values", bytes([18, "0800"], [18, "2001"]), '{"vs":[null,true]}'],
    ["map of Values", bytes([19, bytes([1, text("a")], [2, "0800"])]), '{"mv":{"a":null}}'],
    ["map of Values, none", bytes([19, bytes([1, text("a")])]), "DECODE_RANGE 19@0"],
    ["Empty", bytes([8, ""]), '{"em":{}}'],
    [
      "wrapper, zero",
      bytes([9, ""], [10, ""], [11, ""], [12, ""], [13, ""], [14, ""], [20, ""]),
      '{"wd":0,"wl":"0","ws":"","wb":"","wo":false,"wu":0,"wf":0}',
    ],
    [
      "wrapper",
      bytes([9, "09000000000000f83f"], [10, "0805"], [11, "0a0161"], [13, "0801"]),
      '{"wd":1.5,"wl":"5","ws":"a","wo":true}',
    ],
    ["wrapper, NaN", bytes([9, "09000000000000f87f"]), '{"wd":"NaN"}'],
    ["wrappers in a list", bytes([15, ""], [15, "0802"]), '{"wi":[0,2]}'],
    ["NullValue, implicit", "8001 00", "{}"],
    ["NullValue in a oneof", "8801 00", '{"on":null}'],
    ["Any, empty", bytes([7, ""]), '{"an":{}}'],
    [
      "Any",
      bytes([7, bytes([1, text("type.googleapis.com/t.Inner")], [2, "0807"])]),
      '{"an":{"@type":"type.googleapis.com/t.Inner","a":7}}',
    ],
    [
      "Any, value first and in two versions",
      bytes([7, bytes([2, "0807"], [1, text("x/t.Inner")], [2, "0808"])]),
      '{"an":{"@type":"x/t.Inner","a":8}}',
    ],
    ["Any, message without fields", bytes([7, bytes([1, text("x/t.Inner")])]), '{"an":{"@type":"x/t.Inner"}}'],
    [
      "Any of a Timestamp",
      bytes([7, bytes([1, text("x/google.protobuf.Timestamp")], [2, "0801"])]),
      '{"an":{"@type":"x/google.protobuf.Timestamp","value":"1970-01-01T00:00:01Z"}}',
    ],
    [
      "Any of a wrapper",
      bytes([7, bytes([1, text("x/google.protobuf.Int64Value")])]),
      '{"an":{"@type":"x/google.protobuf.Int64Value","value":"0"}}',
    ],
    [
      "Any of an Any",
      bytes([7, bytes([1, text("x/google.protobuf.Any")], [2, bytes([1, text("x/t.Inner")], [2, "0801"])])]),
      '{"an":{"@type":"x/google.protobuf.Any","value":{"@type":"x/t.Inner","a":1}}}',
    ],
    ["Any of an unknown type", bytes([7, bytes([1, text("x/t.Nothing")])]), "DECODE_ANY 7@0"],
    ["Any without a slash", bytes([7, bytes([1, text("t.Inner")])]), "DECODE_ANY 7@0"],
    ["Any without a type", bytes([7, bytes([2, "0801"])]), "DECODE_ANY 7@0"],
    ["Any with a malformed value", bytes([7, bytes([1, text("x/t.Inner")], [2, "08"])]), "DECODE_TRUNCATED 7.2.1@16"],
  ])("%s", (_, hex, expected) => {
    expect(bodyOf(decoder, hex)).toBe(expected);
  });

  test("an Any within an Any is bounded in depth", () => {
    let value = "";
    for (let level = 0; level < 150; level += 1) {
      const inner = Buffer.from(value, "hex");
      const url = Buffer.from("x/google.protobuf.Any");
      const size = [0x12, (inner.length & 0x7f) | 0x80, ((inner.length >> 7) & 0x7f) | 0x80, inner.length >> 14];
      value = Buffer.concat([Buffer.from([0x0a, url.length]), url, Buffer.from(size), inner]).toString("hex");
    }
    const any = compile(
      `syntax = "proto3"; import "google/protobuf/any.proto";`,
      "google.protobuf.Any",
      {},
      { body: "json" },
    );
    expect(bodyOf(any, value).replace(/ .*/, "")).toBe("DECODE_DEPTH");
  });
});

describe("proto2", () => {
  const P = `package t; message P {
    required string v = 1; optional int32 d = 2 [default = 41]; optional C c = 3; repeated C cs = 4;
    optional group MyGroup = 5 { optional int32 x = 1; } repeated group Rep = 6 { optional int32 y = 1; }
    map<string, D> mc = 7; oneof o { C oc = 8; int32 oi = 9; } repeated int32 nums = 10; optional P p = 11;
    extensions 100 to 200; }
    enum C { A = 1; B = 2; } enum D { Z = 0; Y = 2; }
    extend P { optional int32 ext = 100; repeated group Grp = 101 { optional int32 z = 1; } }
    message Scope { extend P { optional string inner = 102; } }`;
  const decoder = compile(P, "t.P", {}, { body: "json" });
  test.each([
    ["defaults are not written", "0a00", '{"v":""}'],
    ["a value equal to the default is", "0a00 1029", '{"v":"","d":41}'],
    ["explicit zero", "0a00 1000", '{"v":"","d":0}'],
    ["required is missing", "1000", "DECODE_REQUIRED 1@0"],
    ["required is missing further down", "0a00 5a021000", "DECODE_REQUIRED 11.1@2"],
    ["closed enum", "0a00 1801 1863", '{"v":"","c":"A"}'],
    ["closed enum in a list", "0a00 2001 2063 2002", '{"v":"","cs":["A","B"]}'],
    ["closed enum in a packed list", "0a00 2203016302", '{"v":"","cs":["A","B"]}'],
    ["closed enum in a map", "0a00 3a050a01611002 3a050a01621063", '{"v":"","mc":{"a":"Y"}}'],
    ["closed enum in a map, no value", "0a00 3a030a0161", '{"v":"","mc":{"a":"Z"}}'],
    ["closed enum in a oneof", "0a00 4805 4063", '{"v":"","oi":5}'],
    ["group", "0a00 2b08072c", '{"v":"","mygroup":{"x":7}}'],
    ["groups", "0a00 3308013434".replace("3434", "34 33 34"), '{"v":"","rep":[{"y":1},{}]}'],
    ["group in two pieces", "0a00 2b2c 2b08072c", '{"v":"","mygroup":{"x":7}}'],
    ["extension", "0a00 a00605", '{"v":"","[t.ext]":5}'],
    ["extension group", "0a00 ab0608 01ac06", '{"v":"","[t.grp]":[{"z":1}]}'],
    ["extension within a message", "0a00 b2060161", '{"v":"","[t.Scope.inner]":"a"}'],
    ["invalid UTF-8", "0a01ff", "DECODE_UTF8 1@2"],
    ["packed and unpacked", "0a00 52020102 5003", '{"v":"","nums":[1,2,3]}'],
  ])("%s", (_, hex, expected) => {
    expect(bodyOf(decoder, hex)).toBe(expected);
  });
});

describe("editions", () => {
  const E = `edition = "2023"; package t; message M {
    int32 a = 1; In d = 3 [features.message_encoding = DELIMITED];
    repeated int32 ex = 4 [features.repeated_field_encoding = EXPANDED];
    int32 im = 5 [features.field_presence = IMPLICIT]; Cl cl = 6; Op op = 7; }
    message In { int32 x = 4; }
    enum Cl { option features.enum_type = CLOSED; ONE = 1; }
    enum Op { ZERO = 0; }`;
  test.each([
    ["0800 1b08011c 2001 2002".replace("0801", "2005"), '{"a":0,"d":{"x":5},"ex":[1,2]}'],
    ["2800 30633863", '{"op":99}'],
    ["1a022005", "DECODE_WIRE_TYPE 3@0"],
  ])("%s", (hex, expected) => {
    expect(bodyOf(compile(E, "t.M", {}, { body: "json" }), hex)).toBe(expected);
  });

  test("features of the file", () => {
    const file = `edition = "2023"; option features.field_presence = IMPLICIT; package t;
      message M { int32 a = 1; int32 b = 2 [features.field_presence = EXPLICIT]; }`;
    expect(bodyOf(compile(file, "t.M", {}, { body: "json" }), "08001000")).toBe('{"b":0}');
  });
});
