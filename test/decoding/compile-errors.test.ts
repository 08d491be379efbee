import { describe, expect, test } from "vitest";
import { StreamsError } from "../../src/errors.ts";
import type { InputType, ProtoFiles } from "../../src/ports/decoder.ts";
import { compile, EXAMPLE, bodyOf, inputsOf } from "./support.ts";

/** What compiling says: `CODE: detail`, or `ok`. */
function outcome(make: () => unknown): string {
  try {
    make();
    return "ok";
  } catch (error) {
    return error instanceof StreamsError ? `${error.code}: ${error.message}` : `not a StreamsError: ${String(error)}`;
  }
}

const P3 = 'syntax = "proto3"; package t;';

describe("descriptors", () => {
  test.each<[string, string | ProtoFiles, string]>([
    ["no files", {}, "there are no files"],
    [
      "missing import",
      `${P3} import "b.proto"; message M {}`,
      'the import "b.proto" is neither uploaded nor well-known',
    ],
    ["missing message", `${P3} message N {}`, 'there is no message "t.M" in the files'],
    ["missing type", `${P3} message M { b.Id id = 1; }`, 't.proto: t.M.id: no such type "b.Id"'],
    ["an enum asked for", `${P3} enum M { A = 0; }`, 'there is no message "t.M" in the files'],
    [
      "not a proto file",
      `${P3} message M {\n string = 1; }`,
      't.proto: line 2: expected the name of a field instead of "="',
    ],
    ["unfinished", `${P3} message M {`, "t.proto: line 1: expected the type of a field instead of the end of the file"],
    [
      "unfinished text",
      `${P3} message M { string a = 1 [json_name = "x]; }`,
      "t.proto: line 1: a string is not closed",
    ],
    ["field name __proto__", `${P3} message M { string __proto__ = 1; string constructor = 2; }`, '"__proto__"'],
    ["enum value __proto__", `${P3} message M {} enum E { __proto__ = 0; }`, '"__proto__"'],
    ["package __proto__", `syntax = "proto3"; package a.__proto__; message M {}`, '"__proto__"'],
    [
      "same camel case",
      `package t; message M { optional fixed32 eventType = 1; optional fixed32 event_type = 2; }`,
      "JSON name",
    ],
    [
      "same json_name",
      `${P3} message M { int32 a = 1 [json_name = "x"]; int32 b = 2 [json_name = "x"]; }`,
      "JSON name",
    ],
    ["json_name of another's default", `${P3} message M { int32 a = 1; int32 b = 2 [json_name = "a"]; }`, "JSON name"],
    ["json_name @type", `${P3} message M { int32 a = 1 [json_name = "@type"]; }`, "json_name"],
    ["number 0", `${P3} message M { int32 a = 0; }`, "the number must be from 1"],
    ["number 2^29", `${P3} message M { int32 a = 536870912; }`, "the number must be from 1"],
    ["number of protobuf's own range", `${P3} message M { int32 a = 19000; }`, "reserved by protobuf"],
    ["number twice", `${P3} message M { int32 a = 1; int32 b = 1; }`, 't.M: "a" and "b" have the same number 1'],
    ["reserved number", `${P3} message M { reserved 1; int32 a = 1; }`, "reserved"],
    [
      "extension number twice",
      `package t; message M { extensions 1 to 9; } extend M { optional int32 a = 1; optional int32 b = 1; }`,
      "1",
    ],
    [
      "open enum not from zero",
      `${P3} message M { E e = 1; } enum E { A = 1; }`,
      "first value of an open enum must be 0",
    ],
    ["enum number past 32 bits", `package t; message M {} enum E { A = 4294967296; }`, "32-bit"],
    ["syntax", `syntax = "proto4"; package t; message M {}`, 'syntax "proto4" is not supported'],
    ["edition", `edition = "2026"; package t; message M {}`, 'edition "2026" is not supported'],
    ["edition not known at all", `edition = "2099"; package t; message M {}`, 'edition "2099" is not supported'],
    [
      "feature",
      `edition = "2023"; package t; message M { int32 a = 1 [features.made_up = YES]; }`,
      "feature made_up = YES is not supported",
    ],
    [
      "feature value",
      `edition = "2023"; package t; message M { int32 a = 1 [features.field_presence = MAYBE]; }`,
      "field_presence = MAYBE",
    ],
    ["feature of the file", `edition = "2023"; option features.made_up = YES; package t; message M {}`, "made_up"],
    ["map key", `${P3} message M { map<double, int32> m = 1; }`, "t.M.m: a map cannot have keys of type double"],
    ["nested too deep", `${P3} message M ${"{ message M ".repeat(50)}{}${"}".repeat(50)}`, "nested more than 32 deep"],
  ])("%s", (_, source, detail) => {
    const result = outcome(() => compile(source, "t.M", {}));
    expect(result).toMatch(/^DESCRIPTOR_INVALID: /);
    expect(result).toContain(detail);
  });

  test("well-known types need no upload; other imports do", () => {
    const a = `${P3} import "b.proto"; import "google/protobuf/timestamp.proto"; import "google/api/x.proto";
      message M { b.Id id = 1; google.protobuf.Timestamp at = 2; }`;
    const b = `syntax = "proto3"; package b; message Id { string v = 1; }`;
    expect(outcome(() => compile({ "a.proto": a, "b.proto": b }, "t.M", {}))).toContain('"google/api/x.proto"');
    const files = { "a.proto": a, "b.proto": b, "google/api/x.proto": 'syntax = "proto3";' };
    expect(outcome(() => compile(files, "t.M", {}))).toBe("ok");
    const options = `${P3} import "google/protobuf/descriptor.proto"; import "google/protobuf/type.proto";
      import "google/protobuf/api.proto"; import "google/protobuf/source_context.proto";
      extend google.protobuf.FieldOptions { string unit = 50001; }
      message M { int32 a = 1 [(unit) = "ms"]; google.protobuf.Type type = 2; }`;
    expect(bodyOf(compile(options, "t.M", {}, { body: "json" }), "0801")).toBe('{"a":1}');
  });

  test("an uploaded copy of a special type does not change its JSON form", () => {
    const other = 'syntax = "proto3"; package google.protobuf; message Timestamp { string other = 1; }';
    const files = { "google/protobuf/timestamp.proto": other, "a.proto": TIMES };
    expect(bodyOf(compile(files, "t.M", {}, { body: "json" }), "0a00")).toBe('{"at":"1970-01-01T00:00:00Z"}');
  });
  const TIMES = `${P3} import "google/protobuf/timestamp.proto"; message M { google.protobuf.Timestamp at = 1; }`;

  test("types may be recursive", () => {
    const source = `${P3} message M { M child = 1; N n = 2; map<string, M> m = 3; } message N { M m = 1; repeated N ns = 2; }`;
    expect(bodyOf(compile(source, "t.M", {}, { body: "json" }), "0a040a021200")).toBe('{"child":{"child":{"n":{}}}}');
  });

  test("names are found by the scoping rules of the language", () => {
    const source = `${P3} message M { message X { message Id { string s = 1; } } Id id = 1; X.Id other = 2; .t.Id third = 3; }
      message Id { int32 n = 1; }`;
    const decoder = compile(source, "t.M", {}, { body: "json" });
    expect(bodyOf(decoder, "0a020805 12030a0161 1a020806")).toBe('{"id":{"n":5},"other":{"s":"a"},"third":{"n":6}}');
    const hidden = `${P3} message M { a.Id id = 1; message a {} }`;
    const files = { "t.proto": hidden, "a.proto": 'syntax = "proto3"; package a; message Id {}' };
    expect(outcome(() => compile(files, "t.M", {}))).toContain('no such type "a.Id"');
  });

  test("names that JavaScript knows are names like any", () => {
    const names = ["constructor", "toString", "hasOwnProperty", "prototype", "valueOf", "then", "length", "name"];
    const source = `${P3} message M { ${names.map((name, index) => `int32 ${name} = ${index + 1};`).join(" ")} }`;
    const hex = names.map((_, index) => Buffer.from([(index + 1) * 8, index + 1]).toString("hex")).join("");
    const expected = `{${names.map((name, index) => `"${name}":${index + 1}`).join(",")}}`;
    expect(bodyOf(compile(source, "t.M", {}, { body: "json" }), hex)).toBe(expected);
  });

  test("a failed compilation leaves nothing behind", () => {
    expect(outcome(() => compile("message M { bad", "M", {}))).toContain("t.proto");
    expect(outcome(() => compile({ "other.proto": "message M { bad" }, "M", {}))).toContain("other.proto");
    expect(outcome(() => compile(EXAMPLE, "t.M", {}))).toBe("ok");
  });
});

describe("mappings", () => {
  const make = (path: readonly number[], type: InputType) =>
    outcome(() => compile(EXAMPLE, "t.M", { x: { path, type } }));

  test.each<[readonly number[], InputType, string]>([
    [[], "text", 'the input "x" has an empty path'],
    [[99], "text", "path 99 leads to no field of t.M"],
    [[3, 99], "text", "path 3.99 leads to no field of t.Inner"],
    [[1], "text", "path 1 (int64) is not of type text"],
    [[2], "integer", "path 2 (string) is not of type integer"],
    [[2], "bytes", "path 2 (string) is not of type bytes"],
    [[5], "integer", "path 5 (t.E) is not of type integer"],
    [[14], "enum", "path 14 (bool) is not of type enum"],
    [[3], "text", "path 3 (t.Inner) is not of type text"],
    [[3], "time", "path 3 (t.Inner) is not of type time"],
    [[1, 1], "text", "path 1 (int64) is not a message"],
    [[4], "integer", "path 4 is a list or map"],
    [[8], "text", "path 8 is a list or map"],
    [[9, 1], "text", "path 9 is a list or map"],
  ])("%j as %s", (path, type, detail) => {
    expect(make(path, type)).toMatch(/^MAPPING_INVALID: /);
    expect(make(path, type)).toContain(detail);
  });

  const inputs = [{ name: "id", type: "text", required: true }] as const;
  test("every required input needs a path, and only inputs may have one", () => {
    const mapped = (mapping: Record<string, readonly number[]>, required = true) =>
      outcome(() => compile(EXAMPLE, "t.M", {}, { inputs: [{ ...inputs[0], required }], mapping }));
    expect(mapped({ id: [2] })).toBe("ok");
    expect(mapped({})).toContain('the required input "id" has no path');
    expect(mapped({}, false)).toBe("ok");
    expect(mapped({ id: [2], toString: [1] })).toContain('"toString" is no input');
    expect(mapped({ idd: [2] })).toContain('"idd" is no input of the kind; its inputs are: id');
  });

  test("two inputs cannot read one field", () => {
    const both = (a: readonly number[], b: readonly number[]) =>
      outcome(() => compile(EXAMPLE, "t.M", { a: { path: a, type: "integer" }, b: { path: b, type: "integer" } }));
    expect(both([3, 1], [3, 2])).toBe("ok");
    expect(both([3, 1], [3, 1])).toContain("feeds another input too");
  });

  test("an optional input without a path is absent", () => {
    const decoder = compile(EXAMPLE, "t.M", {}, { inputs: [{ ...inputs[0], required: false }] });
    expect(inputsOf(decoder, "120161")).toEqual([undefined]);
  });
});
