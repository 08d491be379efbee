import { describe, expect, test } from "vitest";
import { buildSchema } from "../../src/decoding/schema-build.ts";
import { StreamsError } from "../../src/errors.ts";
import type { ProtoFiles } from "../../src/ports/decoder.ts";

/** `ok`, or why the files are refused. What is refused here protoc refuses too, unless the test says otherwise. */
function verdict(source: string | ProtoFiles): string {
  try {
    buildSchema(typeof source === "string" ? { "t.proto": source } : source);
    return "ok";
  } catch (error) {
    return error instanceof StreamsError && error.code === "DESCRIPTOR_INVALID" ? error.message : String(error);
  }
}

const P2 = 'syntax = "proto2"; package t;';
const P3 = 'syntax = "proto3"; package t;';
const E = 'edition = "2023"; package t;';
const CLOSED = `${P2} enum E { A = 0; }`;

type Case = [rule: string, source: string | ProtoFiles, detail: string];

describe("statements", () => {
  test.each<Case>([
    ["two syntax lines", `${P3} syntax = "proto3";`, "must be the first statement, and the only one of its kind"],
    ["syntax and edition", `syntax = "proto3"; edition = "2023";`, "must be the first statement"],
    ["a syntax behind a message", `message M {} syntax = "proto2";`, "must be the first statement"],
    ["two packages", `${P3} package u;`, "a second package"],
    ["no label in proto2", `${P2} message M { int32 a = 1; }`, 'expected "required", "optional" or "repeated"'],
    ["required in proto3", `${P3} message M { required int32 a = 1; }`, '"required" does not exist in proto3'],
    ["required in an edition", `${E} message M { required int32 a = 1; }`, '"required" does not exist in edition 2023'],
    ["optional in an edition", `${E} message M { optional int32 a = 1; }`, '"optional" does not exist in edition 2023'],
    ["group in proto3", `${P3} message M { repeated group G = 1 {} }`, "groups do not exist in proto3"],
    ["group in an edition", `${E} message M { group G = 1 {} }`, "groups do not exist in edition 2023"],
    ["group without a label", `${P2} message M { group G = 1 {} }`, "a group needs a label"],
    ["group in lower case", `${P2} message M { optional group g = 1 {} }`, 'the group "g" must begin with a capital'],
    ["label in a oneof", `${P3} message M { oneof o { optional int32 a = 1; } }`, "a oneof cannot have a label"],
    ["oneof without a field", `${P3} message M { oneof o {} }`, 'the oneof "o" has no field'],
    ["map with a label", `${P3} message M { repeated map<int32, int32> m = 1; }`, "a map cannot have a label"],
    ["map in a oneof", `${P3} message M { oneof o { map<int32, int32> m = 1; } }`, "a map cannot be in a oneof"],
    ["map of maps", `${P3} message M { map<int32, map<int32, int32>> m = 1; }`, 'expected ">"'],
    ["map with enum keys", `${P3} message M { map<E, int32> m = 1; } enum E { A = 0; }`, "keys of type E"],
    ["missing semicolon", `${P3} message M { int32 a = 1 }`, 'expected ";" instead of "}"'],
    ["open comment", `${P3} /* message M {}`, "a comment is not closed"],
    ["comment in a comment", `${P3} /* /* */ message M {}`, "a comment begins within a comment"],
    ["other letters", `${P3} message Mé {}`, "a character that no .proto file can have here"],
    ["number and letters", `${P3} message M { int32 a = 1b; }`, "a number runs into what follows it"],
    ["octal digits", `${P3} message M { int32 a = 08; }`, "an octal number has a digit that is none"],
    ["a fraction as number", `${P3} message M { int32 a = 1.0; }`, 'expected the number of a field instead of "1.0"'],
    ["escape", String.raw`${P3} message M { int32 a = 1 [json_name = "\q"]; }`, "an escape that does not exist"],
    ["half a pair", String.raw`${P3} message M { int32 a = 1 [json_name = "\ud83d"]; }`, "an escape of no character"],
    ["line break in a string", `${P3} message M { int32 a = 1 [json_name = "a\nb"]; }`, "a string is not closed"],
  ])("%s", (_, source, detail) => {
    expect(verdict(source)).toContain(detail);
  });

  test("a group may be a member of a oneof", () => {
    expect(verdict(`${P2} message M { oneof o { group G = 1 { optional int32 a = 1; } int32 x = 2; } }`)).toBe("ok");
  });

  test("the package may stand behind what it names", () => {
    expect(verdict(`message M { optional t.N a = 1; message N {} } message N { optional M.N a = 1; } package t;`)).toBe(
      "ok",
    );
  });

  test("words of the language are names like any where no statement begins with them", () => {
    const fields = [
      "message",
      "enum",
      "option",
      "oneof",
      "reserved",
      "extensions",
      "map",
      "package",
      "syntax",
      "to",
      "max",
    ];
    const source = `${P3} message M { ${fields.map((name, index) => `int32 ${name} = ${index + 1};`).join(" ")} } message map { map a = 1; }`;
    expect(verdict(source)).toBe("ok");
  });

  test.each([
    [String.raw`"\u00e9"`, "é"],
    [String.raw`"\xc3\xa9"`, "é"],
    [String.raw`"\303\251"`, "é"],
    [String.raw`"\U0001f600"`, "😀"],
    [String.raw`"\ud83d\ude00"`, "😀"],
    [String.raw`"a" 'b' "c"`, "abc"],
    [String.raw`"\"\\\'\?"`, `"\\'?`],
    [String.raw`'it"s'`, 'it"s'],
    [String.raw`"\t\x41\101z"`, "\tAAz"],
  ])("a json_name of %s", (literal, name) => {
    const schema = buildSchema({ "t.proto": `${P3} message M { int32 a = 1 [json_name = ${literal}]; }` });
    expect(schema.message("t.M")?.byNumber.get(1)?.jsonName).toBe(name);
  });
});

describe("options and features", () => {
  test.each<Case>([
    [
      "message set (protoc reads it)",
      `${P2} message M { option message_set_wire_format = true; extensions 4 to max; }`,
      "t.proto: t.M: option message_set_wire_format = true is not supported",
    ],
    ["map entry", `${P3} message M { option map_entry = true; }`, "t.M: option map_entry = true is not supported"],
    ["map entry that is none", `${P3} message M { option map_entry = false; }`, "t.M: option map_entry = false"],
    [
      "unknown option of a message",
      `${P3} message M { option wire = 1; }`,
      "option wire is not known among message options",
    ],
    [
      "unknown option of a field",
      `${P3} message M { int32 a = 1 [wire = 1]; }`,
      "option wire is not known among field options",
    ],
    ["unknown option of a file", `${P3} option wire = 1;`, "the file: option wire is not known among file options"],
    [
      "unknown option of an enum",
      `${P3} enum E { option wire = 1; A = 0; }`,
      "option wire is not known among enum options",
    ],
    ["unknown option of a value", `${P3} enum E { A = 0 [wire = 1]; }`, "option wire is not known among value options"],
    [
      "unknown option of a oneof",
      `${P3} message M { oneof o { option wire = 1; int32 a = 1; } }`,
      "among oneof options",
    ],
    [
      "option of a field on a message",
      `${P3} message M { option packed = true; }`,
      "packed is not known among message options",
    ],
    ["an option twice", `${P3} message M { int32 a = 1 [deprecated = true, deprecated = true]; }`, "stands twice"],
    ["packed text", `${P3} message M { repeated string a = 1 [packed = true]; }`, "t.M.a: only a list of numbers"],
    ["packed bytes", `${P3} message M { repeated bytes a = 1 [packed = true]; }`, "only a list of numbers"],
    ["packed messages", `${P3} message M { repeated M a = 1 [packed = true]; }`, "only a list of numbers"],
    ["packed single", `${P3} message M { int32 a = 1 [packed = true]; }`, "only a list of numbers"],
    ["packed with a word", `${P3} message M { repeated int32 a = 1 [packed = yes]; }`, "packed must be true or false"],
    ["packed in an edition", `${E} message M { repeated int32 a = 1 [packed = true]; }`, "the feature repeated_field"],
    [
      "feature in proto3",
      `${P3} message M { int32 a = 1 [features.field_presence = IMPLICIT]; }`,
      "features do not exist",
    ],
    [
      "feature on the wrong thing",
      `${E} message M { option features.field_presence = IMPLICIT; }`,
      "is not one of message features",
    ],
    [
      "all required",
      `${E} option features.field_presence = LEGACY_REQUIRED;`,
      "not all fields of a file can be required",
    ],
    [
      "presence of a list",
      `${E} message M { repeated int32 a = 1 [features.field_presence = IMPLICIT]; }`,
      "no field_presence",
    ],
    [
      "presence in a oneof",
      `${E} message M { oneof o { int32 a = 1 [features.field_presence = EXPLICIT]; } }`,
      "no field_presence",
    ],
    ["implicit message", `${E} message M { M a = 1 [features.field_presence = IMPLICIT]; }`, "implicit presence"],
    [
      "delimited number",
      `${E} message M { int32 a = 1 [features.message_encoding = DELIMITED]; }`,
      "only a message has",
    ],
    [
      "delimited map",
      `${E} message M { map<int32, M> a = 1 [features.message_encoding = DELIMITED]; }`,
      "only a message has",
    ],
    [
      "encoding of a single",
      `${E} message M { int32 a = 1 [features.repeated_field_encoding = PACKED]; }`,
      "only a list has",
    ],
    [
      "packed text feature",
      `${E} message M { repeated string a = 1 [features.repeated_field_encoding = PACKED]; }`,
      "only a list of",
    ],
    ["utf8 of a number", `${E} message M { int32 a = 1 [features.utf8_validation = NONE]; }`, "only text has"],
    ["default in proto3", `${P3} message M { int32 a = 1 [default = 5]; }`, "defaults do not exist in proto3"],
    ["default of a list", `${P2} message M { repeated int32 a = 1 [default = 5]; }`, "a list or map cannot have"],
    ["default of a message", `${P2} message M { optional M a = 1 [default = 5]; }`, "a message cannot have a default"],
    [
      "default without presence",
      `${E} message M { int32 a = 1 [default = 5, features.field_presence = IMPLICIT]; }`,
      "without presence",
    ],
    [
      "default of another type",
      `${P2} message M { optional int32 a = 1 [default = "x"]; }`,
      "the default does not fit",
    ],
    ["negative default", `${P2} message M { optional uint32 a = 1 [default = -1]; }`, "the default does not fit"],
    [
      "default that no value is",
      `${P2} message M { optional E a = 1 [default = B]; } enum E { A = 0; }`,
      "does not fit",
    ],
    [
      "json_name of an extension",
      `${P2} message M { extensions 5; } extend M { optional int32 a = 5 [json_name = "x"]; }`,
      "json_name",
    ],
    [
      "json_name __proto__ (protoc allows it)",
      `${P3} message M { int32 a = 1 [json_name = "__proto__"]; }`,
      "json_name",
    ],
  ])("%s", (_, source, detail) => {
    expect(verdict(source)).toContain(detail);
  });

  test("what is known and does not change the wire format is passed over, custom options with any content too", () => {
    const source = `${P2} option java_package = "x"; option optimize_for = SPEED; option (file).opt = { a: 1 b < c: [1, 2] > [x.y]: "z" };
      message M { option deprecated = true; option message_set_wire_format = false; option (m) = -inf;
        repeated int32 a = 1 [packed = true, (f).g = "x" "y", deprecated = false, ctype = STRING];
        optional string d = 2 [default = "\\377"]; optional double e = 3 [default = -inf]; optional bool f = 4 [default = true];
        extensions 10 to 20 [declaration = { number: 10, full_name: ".t.x", type: "int32" }]; }`;
    expect(verdict(source)).toBe("ok");
    expect(verdict(`${E} message M { int32 a = 1 [features = { field_presence: IMPLICIT }]; }`)).toBe("ok");
    expect(verdict(`${E} message M { int32 a = 1 [features = { made_up: IMPLICIT }]; }`)).toContain("made_up");
  });
});

describe("numbers and names", () => {
  test.each<Case>([
    ["number in a oneof", `${P3} message M { int32 a = 1; oneof o { int32 b = 1; } }`, "have the same number 1"],
    ["name twice", `${P3} message M { int32 a = 1; int32 a = 2; }`, '"t.M.a" is already declared'],
    ["field and oneof", `${P3} message M { int32 a = 1; oneof a { int32 b = 2; } }`, '"t.M.a" is already declared'],
    ["field and message", `${P3} message M { int32 a = 1; message a {} }`, '"t.M.a" is already declared'],
    ["field and value", `${P3} message M { int32 a = 1; enum E { a = 0; } }`, '"t.M.a" is already declared'],
    ["values of two enums", `${P3} enum E { A = 0; } enum F { A = 0; }`, '"t.A" is already declared'],
    [
      "two oneofs",
      `${P3} message M { oneof o { int32 a = 1; } oneof o { int32 b = 2; } }`,
      '"t.M.o" is already declared',
    ],
    [
      "two messages",
      { "a.proto": `${P3} message M {}`, "b.proto": `${P3} message M {}` },
      '"t.M" is already declared in a.proto',
    ],
    [
      "map entry",
      `${P3} message M { map<int32, int32> a_b = 1; message ABEntry {} }`,
      '"t.M.ABEntry" is already declared',
    ],
    [
      "message and package",
      { "a.proto": "package a.b;", "b.proto": "package a; message b {}" },
      "the name of a package",
    ],
    ["reserved name", `${P3} message M { reserved "a"; int32 a = 1; }`, 'the name "a" is reserved'],
    ["reserved name in an edition", `${E} message M { reserved a; int32 a = 1; }`, 'the name "a" is reserved'],
    ["reserved as in another syntax", `${E} message M { reserved "a"; }`, "expected a number or a name"],
    ["reserved range", `${P3} message M { reserved 1 to 5, 9 to max; int32 a = 9; }`, "the reserved number 9"],
    ["range backwards", `${P3} message M { reserved 5 to 1; }`, "ends before it begins"],
    ["range from 0", `${P3} message M { reserved 0; }`, "not within 1 to 536870911"],
    ["ranges overlap", `${P3} message M { reserved 1 to 5, 3; }`, "overlap"],
    ["reserved and extensions", `${P2} message M { reserved 5; extensions 1 to 9; }`, "overlap"],
    ["name reserved twice", `${P3} message M { reserved "a", "a"; }`, "reserved twice"],
    ["negative number", `${P3} message M { int32 a = -1; }`, "expected the number of a field"],
    ["far too large", `${P3} message M { int32 a = 99999999999999999999999999; }`, "the number must be from 1"],
    ["enum number twice", `${P3} enum E { A = 0; B = 0; }`, '"A" and "B" have the number 0 without allow_alias'],
    ["alias without one", `${P3} enum E { option allow_alias = true; A = 0; B = 1; }`, "allow_alias without an alias"],
    ["empty enum", `${P3} enum E {}`, "an enum needs a value"],
    ["reserved enum number", `${P3} enum E { reserved -5 to -1; A = 0; B = -2; }`, "the reserved number -2"],
    ["reserved enum name", `${P3} enum E { reserved "B"; A = 0; B = 1; }`, 'the name "B" is reserved'],
    [
      "enum in a map without 0",
      `${P2} message M { map<int32, E> m = 1; } enum E { A = 1; }`,
      "must have 0 as its first",
    ],
    [
      "extension out of range",
      `${P2} message M { extensions 5 to 9; } extend M { optional int32 a = 4; }`,
      "leaves no such number",
    ],
    ["extension of a closed message", `${P2} message M {} extend M { optional int32 a = 4; }`, "leaves no such number"],
    ["field in the range", `${P2} message M { extensions 5; optional int32 a = 5; }`, "number 5 of an extension range"],
    [
      "required extension",
      `${P2} message M { extensions 5; } extend M { required int32 a = 5; }`,
      "cannot be required",
    ],
    ["ranges in proto3", `${P3} message M { extensions 5; }`, "extension ranges do not exist in proto3"],
    ["empty extend", `${P2} message M { extensions 5; } extend M {}`, 'nothing extends "M"'],
    ["extending an enum", `${P2} enum E { A = 0; } extend E { optional int32 a = 5; }`, '"E" is not a message'],
  ])("%s", (_, source, detail) => {
    expect(verdict(source)).toContain(detail);
  });

  test("numbers may be hexadecimal or octal", () => {
    const schema = buildSchema({ "t.proto": `${P3} message M { int32 a = 0x10; int32 b = 017; }` });
    expect(schema.message("t.M")?.fields.map(({ number }) => number)).toEqual([15, 16]);
  });
});

describe("imports and types", () => {
  const c = 'syntax = "proto3"; package c; message C {}';
  test.each<Case>([
    [
      "type of a file that is not imported",
      { "a.proto": `${P3} message A { c.C c = 1; }`, "c.proto": c },
      'a.proto: t.A.c: no such type "c.C": it is declared in c.proto, which is not imported',
    ],
    [
      "the same by its full name",
      { "a.proto": `${P3} message A { .c.C c = 1; }`, "c.proto": c },
      "declared in c.proto",
    ],
    [
      "type of an import's import",
      {
        "a.proto": `${P3} import "b.proto"; message A { c.C c = 1; }`,
        "b.proto": 'syntax = "proto3"; import "c.proto";',
        "c.proto": c,
      },
      "declared in c.proto",
    ],
    [
      "extension of what is not imported",
      { "a.proto": `${P2} extend u.M { optional int32 a = 5; }`, "b.proto": "package u; message M { extensions 5; }" },
      "declared in b.proto",
    ],
    ["well-known type without its import", `${P3} message M { google.protobuf.Timestamp at = 1; }`, "no such type"],
    ["missing import", `${P3} import "x.proto";`, 't.proto: the import "x.proto" is neither uploaded nor well-known'],
    ["import twice", `${P3} import "google/protobuf/any.proto"; import "google/protobuf/any.proto";`, "comes twice"],
    [
      "imports in a circle",
      { "a.proto": 'import "b.proto";', "b.proto": 'import "c.proto";', "c.proto": 'import "b.proto";' },
      "the imports go round: b.proto → c.proto → b.proto",
    ],
    ["import of itself", { "a.proto": 'import "a.proto";' }, "the imports go round: a.proto → a.proto"],
    ["a field as a type", `${P3} message M { M.a b = 1; int32 a = 2; }`, '"M.a" is not a type'],
    ["a map's entry as a type", `${P3} message M { map<int32, int32> a = 1; M.AEntry b = 2; }`, "is not a type"],
    ["method of an enum", `${P3} service S { rpc A(E) returns (E); } enum E { A = 0; }`, '"E" is not a message'],
    ["method of nothing", `${P3} service S { rpc A(M) returns (N); } message M {}`, 'no such type "N"'],
    [
      "closed enum in proto3",
      { "a.proto": `${P3} import "b.proto"; message M { repeated E e = 1; }`, "b.proto": CLOSED },
      "t.E is closed",
    ],
    [
      "closed enum without presence",
      {
        "a.proto": `${E} import "b.proto"; message M { E e = 1 [features.field_presence = IMPLICIT]; }`,
        "b.proto": CLOSED,
      },
      "t.E is closed",
    ],
    [
      "proto3 extension",
      {
        "a.proto": `${P3} import "b.proto"; extend M { int32 a = 5; }`,
        "b.proto": `${P2} message M { extensions 5; }`,
      },
      "proto3 can only extend",
    ],
  ])("%s", (_, source, detail) => {
    expect(verdict(source)).toContain(detail);
  });

  test("a public import passes types on, over any number of files", () => {
    const files = {
      "a.proto": `${P3} import "b.proto"; message A { c.C c = 1; }`,
      "b.proto": 'syntax = "proto3"; import public "d.proto";',
      "d.proto": 'syntax = "proto3"; import public "c.proto";',
      "c.proto": c,
    };
    expect(verdict(files)).toBe("ok");
  });

  test("what is not visible does not hide what is", () => {
    const files = {
      "a.proto": 'syntax = "proto3"; package x.t; import "c.proto"; message A { c.C c = 1; }',
      "b.proto": 'syntax = "proto3"; package x.c; message Other {}',
      "c.proto": c,
    };
    expect(verdict(files)).toBe("ok");
    const hidden = {
      ...files,
      "a.proto": files["a.proto"].replace('import "c.proto";', 'import "b.proto"; import "c.proto";'),
    };
    expect(verdict(hidden)).toContain('no such type "c.C"');
  });

  test("a field or value of a type's name does not hide the type", () => {
    expect(verdict(`${P3} message M { N a = 1; int32 N = 2; } message N {}`)).toBe("ok");
  });
});
