import { describe, expect, test } from "vitest";
import { createDecoderCompiler } from "../../src/decoding/compiler.ts";
import type { DecodingLimits } from "../../src/decoding/limits.ts";
import type { RecordDecoder } from "../../src/ports/decoder.ts";
import { compile, inputsOf } from "./support.ts";
import type { InputSpec } from "./support.ts";

const P3 = 'syntax = "proto3"; package t;';

function json(
  source: string,
  inputs: Readonly<Record<string, InputSpec>>,
  limits: Partial<DecodingLimits> = {},
): RecordDecoder {
  return compile(source, "t.M", inputs, { format: "json", body: "json" }, limits);
}

function read(decoder: RecordDecoder, text: string): unknown {
  return inputsOf(decoder, Buffer.from(text).toString("hex"));
}

describe("keys of a JSON record", () => {
  const crossed = json(
    `${P3} message M { string a_b = 1; string c = 2 [json_name = "a_b"]; string d = 3 [json_name = "c"]; }`,
    { one: { path: [1], type: "text" }, two: { path: [2], type: "text" }, three: { path: [3], type: "text" } },
  );
  test.each([
    ['{"aB":"x"}', ["x", undefined, undefined]],
    ['{"a_b":"x"}', [undefined, "x", undefined]],
    ['{"c":"x"}', [undefined, undefined, "x"]],
    ['{"d":"x"}', [undefined, undefined, "x"]],
    ['{"aB":"x","a_b":"y","c":"z"}', ["x", "y", "z"]],
    ['{"c":"z","d":"z"}', "DECODE_JSON_DUPLICATE @9"],
    ['{"d":null,"c":"z"}', "DECODE_JSON_DUPLICATE @10"],
  ])("%s: a JSON name goes before another field's declared name", (text, expected) => {
    expect(read(crossed, text)).toEqual(expected);
  });

  test("that holds when only one of the two fields is mapped, in either order of their numbers", () => {
    const source = `${P3} message M { string c = 1 [json_name = "a_b"]; string a_b = 2; }`;
    expect(read(json(source, { x: { path: [2], type: "text" } }), '{"a_b":"1","aB":"2"}')).toEqual(["2"]);
    expect(read(json(source, { x: { path: [1], type: "text" } }), '{"a_b":"1","aB":"2"}')).toEqual(["1"]);
    expect(read(json(source, { x: { path: [2], type: "text" } }), '{"a_b":"1"}')).toEqual([undefined]);
  });

  test("two names of one field are refused in fields and messages that no input needs, too", () => {
    const source = `${P3} message M { string s = 1; N some_n = 2; repeated N ns = 3; map<string, N> by_key = 4; }
      message N { int32 an_int = 1; M back = 2; }`;
    const decoder = json(source, { s: { path: [1], type: "text" } });
    for (const text of [
      '{"someN":{},"some_n":{}}',
      '{"someN":{"anInt":1,"an_int":1}}',
      '{"ns":[{},{"anInt":1,"an_int":1}]}',
      '{"byKey":{"a":{"anInt":1,"an_int":1}}}',
      '{"someN":{"back":{"someN":{"anInt":1,"an_int":1}}}}',
    ]) {
      expect(read(decoder, text)).toMatch(/^DECODE_JSON_DUPLICATE/);
    }
    expect(read(decoder, '{"byKey":{"anInt":{},"an_int":{}},"ns":[{"anInt":1},{"anInt":1}]}')).toEqual([undefined]);
  });

  test("keys such as __proto__ are unknown members like any, and change nothing", () => {
    const decoder = json(`${P3} message M { string constructor = 1; }`, { x: { path: [1], type: "text" } });
    expect(read(decoder, '{"__proto__":{"x":1},"constructor":"a","toString":1}')).toEqual(["a"]);
    expect([...decoder.unknownFields()]).toEqual([
      ['"__proto__"', 1],
      ['"toString"', 1],
    ]);
  });
});

describe("oneofs of a JSON record", () => {
  const source = `${P3} import "google/protobuf/struct.proto";
    message M { oneof pick { string s = 1; int32 i = 2; N n = 3; google.protobuf.NullValue nothing = 4; google.protobuf.Value any = 5; }
      optional int32 opt = 6; oneof other { int32 x = 7; } }
    message N { oneof pick { int32 a = 1; int32 b = 2; } }`;
  const decoder = json(source, {
    s: { path: [1], type: "text" },
    i: { path: [2], type: "integer" },
    nothing: { path: [4], type: "enum" },
  });
  const none = [undefined, undefined, undefined];
  test.each<[string, unknown]>([
    ['{"s":"a","opt":1,"x":1}', ["a", undefined, undefined]],
    ['{"s":"","i":null}', ["", undefined, undefined]],
    ['{"s":null,"i":0}', [undefined, 0n, undefined]],
    ['{"s":null,"i":null,"n":null}', none],
    ['{"nothing":null}', [undefined, undefined, 0]],
    ['{"nothing":"NULL_VALUE"}', [undefined, undefined, 0]],
    ['{"any":null}', none],
    ['{"s":"","i":0}', "DECODE_JSON_ONEOF @8"],
    ['{"s":"a","n":{}}', "DECODE_JSON_ONEOF @9"],
    ['{"s":"a","nothing":null}', "DECODE_JSON_ONEOF @9"],
    ['{"any":null,"i":1}', "DECODE_JSON_ONEOF @12"],
    ['{"n":{"a":1,"b":2}}', "DECODE_JSON_ONEOF @12"],
    ['{"n":{"a":1,"b":null}}', none],
  ])("%s", (text, expected) => {
    expect(read(decoder, text)).toEqual(expected);
  });
});

describe("the text of a whole record", () => {
  const source = `${P3} import "google/protobuf/struct.proto"; message M { int32 a = 1; }`;
  test.each<[string, string]>([
    ["null", "DECODE_JSON_TYPE @0"],
    [" null ", "DECODE_JSON_TYPE @1"],
    ["[]", "DECODE_JSON_TYPE @0"],
    ['"{}"', "DECODE_JSON_TYPE @0"],
    ["5", "DECODE_JSON_TYPE @0"],
    ["true", "DECODE_JSON_TYPE @0"],
    ["", "DECODE_JSON @0"],
    ["x", "DECODE_JSON @0"],
  ])("%j is no message, whether an input needs anything of it or not", (text, fault) => {
    expect(read(json(source, {}), text)).toBe(fault);
    expect(read(json(source, { a: { path: [1], type: "integer" } }), text)).toBe(fault);
  });

  test("a Value is any of them", () => {
    const decoder = compile(source, "google.protobuf.Value", {}, { format: "json", body: "json" });
    for (const text of ["null", "[]", "5", "{}"]) expect(read(decoder, text)).toEqual([]);
    const list = compile(source, "google.protobuf.ListValue", {}, { format: "json", body: "json" });
    expect(read(list, "[]")).toEqual([]);
    expect(read(list, "null")).toBe("DECODE_JSON_TYPE @0");
  });

  test("without a descriptor the text null is a body like any: only a null value deletes", () => {
    const decoder = createDecoderCompiler().compile({
      format: "json",
      framing: "none",
      inputs: [],
      mapping: {},
      body: "json",
    });
    expect(decoder.decode(Buffer.from("null"))).toEqual({
      inputs: [],
      body: { format: "json", bytes: Buffer.from("null") },
    });
  });
});

describe("enums of a JSON record", () => {
  const enums = "enum Open { O_ZERO = 0; O_ONE = 1; }";
  const closed = json(
    `syntax = "proto2"; package t; message M { optional N n = 3; } message N { optional E e = 2; } enum E { A = 0; B = 5; C = -1; }`,
    { e: { path: [3, 2], type: "enum" } },
  );
  test.each<[string, unknown]>([
    ['"B"', [5]],
    ["5", [5]],
    ["5.0", [5]],
    ["-1", [-1]],
    ["0", [0]],
    ["null", [undefined]],
    ["99", [undefined]],
    ['"D"', "DECODE_JSON_TYPE 3.2@10"],
    ['"b"', "DECODE_JSON_TYPE 3.2@10"],
    ['"5"', "DECODE_JSON_TYPE 3.2@10"],
    ["1.5", "DECODE_JSON_TYPE 3.2@10"],
    ["4294967301", "DECODE_JSON_TYPE 3.2@10"],
    ["true", "DECODE_JSON_TYPE 3.2@10"],
  ])("closed: %s", (text, expected) => {
    expect(read(closed, `{"n":{"e":${text}}}`)).toEqual(expected);
  });

  test("a number that a closed enum does not have is counted, one of an open enum is kept", () => {
    expect([...closed.unknownFields()]).toEqual([["3.2", 1]]);
    const open = json(`${P3} message M { Open e = 1; } ${enums}`, { e: { path: [1], type: "enum" } });
    expect(read(open, '{"e":99}')).toEqual([99]);
    expect(read(open, '{"e":"O_TWO"}')).toBe("DECODE_JSON_TYPE 1@5");
    expect(open.unknownFields().size).toBe(0);
  });
});

describe("messages with a JSON form of their own", () => {
  const source = `${P3} import "google/protobuf/wrappers.proto"; import "google/protobuf/timestamp.proto";
    import "google/protobuf/struct.proto"; import "google/protobuf/any.proto";
    message M { google.protobuf.Int64Value w = 1; google.protobuf.Timestamp at = 2; google.protobuf.Value v = 3;
      google.protobuf.Any any = 4; google.protobuf.Struct st = 5; }`;
  test("a path into a wrapper reads the wrapper's own value", () => {
    const decoder = json(source, { w: { path: [1, 1], type: "integer" } });
    expect(read(decoder, '{"w":"9007199254740993"}')).toEqual([9_007_199_254_740_993n]);
    expect(read(decoder, '{"w":null}')).toEqual([undefined]);
    expect(read(decoder, '{"w":{"value":1}}')).toBe("DECODE_JSON_TYPE 1.1@5");
  });

  test.each<[readonly number[], InputSpec["type"]]>([
    [[2, 1], "integer"],
    [[3, 3], "text"],
    [[4, 1], "text"],
  ])("a path into another one, %j, is refused", (path, type) => {
    expect(() => json(source, { x: { path, type } })).toThrow(/has no such member in JSON/);
  });

  test("their members are not looked at", () => {
    const decoder = json(source, {});
    expect(read(decoder, '{"st":{"a":1,"b":{}},"v":{"x":1},"any":{"@type":"a/b","y":1},"at":""}')).toEqual([]);
    expect(decoder.unknownFields().size).toBe(0);
  });
});

describe("unknown members of a JSON record", () => {
  const source = `${P3} message M { string s = 1; M m = 2; repeated M ms = 3; map<string, M> by = 4; }`;
  test("are counted by the numbers of the messages that hold them, and their name", () => {
    const decoder = json(source, { s: { path: [1], type: "text" } });
    const text = `{"s":"a","x":{"s":1,"x":1},"m":{"x.y":1,"m":{"x":[1]}},"ms":[{"x":1},{},{"x":2}],"by":{"k":{"x":1},"s":{"s":""}}}`;
    expect(read(decoder, text)).toEqual(["a"]);
    expect(Object.fromEntries(decoder.unknownFields())).toEqual({
      '"x"': 1,
      '2."x.y"': 1,
      '2.2."x"': 1,
      '3."x"': 2,
      '4.2."x"': 1,
    });
    read(decoder, '{"x":1}');
    expect(decoder.unknownFields().get('"x"')).toBe(2);
  });

  test("do not count in a record that is refused", () => {
    const decoder = json(source, { s: { path: [1], type: "text" } });
    for (const text of ['{"x":1,"s":1}', '{"x":1', '{"x":1,"x":2}']) expect(read(decoder, text)).toMatch(/^DECODE_/);
    expect(decoder.unknownFields().size).toBe(0);
  });

  test("are bounded: in paths, in the length of a name, in one record", () => {
    const decoder = json(source, {}, { maxUnknownPaths: 2 });
    for (const name of ["a", "b", "c", "a", "d"]) read(decoder, `{"${name}":1}`);
    expect([...decoder.unknownFields()]).toEqual([
      ['"a"', 2],
      ['"b"', 1],
      ["*", 2],
    ]);
    const long = json(source, {});
    read(long, `{"${"n".repeat(65)}":1,"${"n".repeat(64)}":1}`);
    expect([...long.unknownFields().values()]).toEqual([1, 1]);
    expect(long.unknownFields().get("*")).toBe(1);
    const many = json(source, {});
    read(many, `{${Array.from({ length: 10_000 }, (_, index) => `"k${index}":0`).join(",")}}`);
    const counts = many.unknownFields();
    expect(counts.size).toBe(257);
    expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBe(10_000);
  });
});
