import { describe, expect, test } from "vitest";
import { createDescriptorChecks } from "../../src/decoding/descriptor-checks.ts";
import type { CompatibilityRequest } from "../../src/ports/descriptor-checks.ts";

const checks = createDescriptorChecks();
const P3 = 'syntax = "proto3"; package t;';
const P2 = 'syntax = "proto2"; package t;';

const files = (source: string) => ({ "t.proto": source });

/** Reasons as `CODE type number`, with `!` in front of those that break. */
function told(request: CompatibilityRequest): string[] {
  return checks
    .compatibility(request)
    .map(
      ({ code, breaks, type, number }) =>
        `${breaks ? "!" : ""}${code} ${type}${number === undefined ? "" : ` ${number}`}`,
    );
}

function compared(before: string, after: string): string[] {
  return told({ before: [files(before)], after: files(after) });
}

/** Two versions of one message's only field. */
const field = (before: string, after: string, more = "", head = P3) =>
  compared(`${head} message M { ${before} } ${more}`, `${head} message M { ${after} } ${more}`);

describe("types of a field", () => {
  const holders =
    "message N { int32 a = 1; } message O { int32 a = 1; } message D { string a = 1; } enum E { A = 0; B = 1; } enum F { G = 0; H = 1; }";
  test.each<[string, string, readonly string[]]>([
    ["int32", "int32", []],
    ["int32", "int64", ["TYPE_WIDTH t.M 1"]],
    ["uint32", "int64", ["TYPE_WIDTH t.M 1"]],
    ["uint32", "uint64", ["TYPE_WIDTH t.M 1"]],
    ["bool", "int32", ["TYPE_WIDTH t.M 1"]],
    ["E", "int32", ["TYPE_WIDTH t.M 1"]],
    ["int32", "E", ["TYPE_WIDTH t.M 1"]],
    ["sint32", "sint64", ["TYPE_WIDTH t.M 1"]],
    ["int64", "int32", ["!TYPE_WIDTH t.M 1"]],
    ["int32", "uint32", ["!TYPE_WIDTH t.M 1"]],
    ["uint32", "int32", ["!TYPE_WIDTH t.M 1"]],
    ["uint64", "int64", ["!TYPE_WIDTH t.M 1"]],
    ["int32", "bool", ["!TYPE_WIDTH t.M 1"]],
    ["int64", "E", ["!TYPE_WIDTH t.M 1"]],
    ["fixed32", "sfixed32", ["!TYPE_WIDTH t.M 1"]],
    ["fixed64", "sfixed64", ["!TYPE_WIDTH t.M 1"]],
    ["int32", "sint32", ["!TYPE_CHANGED t.M 1"]],
    ["int64", "sint64", ["!TYPE_CHANGED t.M 1"]],
    ["int32", "fixed32", ["!TYPE_CHANGED t.M 1"]],
    ["fixed32", "fixed64", ["!TYPE_CHANGED t.M 1"]],
    ["fixed32", "float", ["!TYPE_CHANGED t.M 1"]],
    ["float", "double", ["!TYPE_CHANGED t.M 1"]],
    ["double", "fixed64", ["!TYPE_CHANGED t.M 1"]],
    ["int64", "string", ["!TYPE_CHANGED t.M 1"]],
    ["string", "bytes", ["TYPE_BYTES t.M 1"]],
    ["bytes", "string", ["!TYPE_BYTES t.M 1"]],
    ["N", "bytes", ["TYPE_BYTES t.M 1"]],
    ["bytes", "N", ["!TYPE_BYTES t.M 1"]],
    ["N", "string", ["!TYPE_CHANGED t.M 1"]],
    ["N", "int32", ["!TYPE_CHANGED t.M 1"]],
    ["N", "O", ["MESSAGE_RENAMED t.N"]],
    ["N", "D", ["!TYPE_CHANGED t.N 1", "MESSAGE_RENAMED t.N"]],
    ["E", "F", ["ENUM_VALUE_RENAMED t.E 0", "ENUM_VALUE_RENAMED t.E 1"]],
    ["repeated int32", "int32", ["!LABEL_CHANGED t.M 1"]],
    ["string", "repeated string", ["!LABEL_CHANGED t.M 1"]],
    ["map<string, N>", "map<string, O>", ["MESSAGE_RENAMED t.N"]],
    ["map<string, int32>", "map<int32, int32>", ["!TYPE_CHANGED t.M 1"]],
    ["map<int32, int32>", "map<int64, int32>", ["TYPE_WIDTH t.M 1"]],
    ["map<string, int32>", "map<string, string>", ["!TYPE_CHANGED t.M 1"]],
    ["map<string, int32>", "repeated KV", ["!MAP_CHANGED t.M 1", "!TYPE_CHANGED t.M 1"]],
    ["optional int32", "int32", ["PRESENCE_CHANGED t.M 1"]],
    ["int32", "optional int32", ["PRESENCE_CHANGED t.M 1"]],
    ["optional N", "N", []],
  ])("%s → %s", (before, after, expected) => {
    expect(
      field(`${before} a = 1;`, `${after} a = 1;`, `${holders} message KV { string key = 1; int32 value = 2; }`),
    ).toEqual(expected);
  });

  test("what packs a list makes no difference, what delimits a message does", () => {
    expect(field("repeated int32 a = 1;", "repeated int32 a = 1 [packed = false];")).toEqual([]);
    const E = 'edition = "2023"; package t;';
    expect(field("M a = 1;", "M a = 1 [features.message_encoding = DELIMITED];", "", E)).toEqual([
      "!TYPE_CHANGED t.M 1",
    ]);
    expect(field("int32 a = 1;", "int32 a = 1 [features.field_presence = LEGACY_REQUIRED];", "", E)).toEqual([
      "!REQUIRED_ADDED t.M 1",
    ]);
  });

  test("a message with a JSON form of its own is not like one of the same fields", () => {
    const head = `${P3} import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";`;
    const own = "message T { int64 seconds = 1; int32 nanos = 2; } message W { int64 value = 1; }";
    expect(field("google.protobuf.Timestamp a = 1;", "T a = 1;", own, head)).toEqual(["!TYPE_CHANGED t.M 1"]);
    expect(field("W a = 1;", "google.protobuf.Int64Value a = 1;", own, head)).toEqual(["!TYPE_CHANGED t.M 1"]);
    expect(field("google.protobuf.Int64Value a = 1;", "google.protobuf.StringValue a = 1;", "", head)).toEqual([
      "!TYPE_CHANGED t.M 1",
    ]);
  });

  test("a reason says the types, in words of the language", () => {
    const request = {
      before: [files(`${P3} message M { string a = 1; }`)],
      after: files(`${P3} message M { repeated int64 a = 1; }`),
    };
    expect(checks.compatibility(request)).toEqual([
      expect.objectContaining({ code: "LABEL_CHANGED", before: "string", after: "repeated int64", against: 0 }),
      {
        code: "TYPE_CHANGED",
        breaks: true,
        type: "t.M",
        number: 1,
        before: "string",
        after: "repeated int64",
        against: 0,
        text: "the type has another wire format or another meaning",
      },
    ]);
  });
});

describe("fields of a message", () => {
  test.each<[string, string, string, readonly string[]]>([
    ["added", "int32 a = 1;", "int32 a = 1; string b = 2;", []],
    ["in another order", "int32 a = 1; int32 b = 2;", "int32 b = 2; int32 a = 1;", []],
    ["renamed", "string foo = 1;", "string foobar = 1;", ["FIELD_RENAMED t.M 1"]],
    ["another json_name", "string foo = 1;", 'string foo = 1 [json_name = "x"];', ["FIELD_RENAMED t.M 1"]],
    [
      "names exchanged",
      "int32 a = 1; int32 b = 2;",
      "int32 b = 1; int32 a = 2;",
      ["!FIELD_RENAMED t.M 1", "!FIELD_RENAMED t.M 2"],
    ],
    ["removed", "int32 a = 1; int32 b = 2;", "int32 a = 1;", ["!FIELD_REMOVED t.M 2"]],
    [
      "removed and reserved",
      "int32 a = 1; int32 b = 2;",
      'int32 a = 1; reserved 2; reserved "b";',
      ["FIELD_REMOVED t.M 2"],
    ],
    ["renumbered", "int32 a = 1;", "int32 a = 2;", ["!FIELD_REMOVED t.M 1"]],
    ["on a reserved number", "reserved 2; int32 a = 1;", "int32 a = 1; int32 b = 2;", ["!NUMBER_RESERVED t.M 2"]],
    ["with a reserved name", 'reserved "b"; int32 a = 1;', "int32 a = 1; int32 b = 2;", ["!NUMBER_RESERVED t.M 2"]],
    [
      "not reserved any more",
      "reserved 2 to 5, 8; int32 a = 1;",
      "reserved 2 to 3, 5, 8; int32 a = 1;",
      ["!NUMBER_FREED t.M 4"],
    ],
    ["ranges cut otherwise", "reserved 2 to 5; int32 a = 1;", "reserved 4 to max; reserved 2, 3; int32 a = 1;", []],
    ["into a oneof of its own", "optional int32 a = 1; int32 b = 2;", "oneof o { int32 a = 1; } int32 b = 2;", []],
    [
      "into a oneof with others",
      "int32 a = 1; int32 b = 2;",
      "oneof o { int32 a = 1; int32 b = 2; }",
      ["!ONEOF_JOINED t.M 1", "!ONEOF_JOINED t.M 2"],
    ],
    [
      "into a oneof that was there",
      "oneof o { int32 a = 1; } int32 b = 2;",
      "oneof o { int32 a = 1; int32 b = 2; }",
      ["!ONEOF_JOINED t.M 1", "!ONEOF_JOINED t.M 2"],
    ],
    ["new member of a oneof", "oneof o { int32 a = 1; }", "oneof o { int32 a = 1; int32 b = 2; }", []],
    [
      "out of a oneof",
      "oneof o { int32 a = 1; int32 b = 2; }",
      "oneof o { int32 a = 1; } int32 b = 2;",
      ["ONEOF_LEFT t.M 2"],
    ],
    [
      "a oneof in two",
      "oneof o { int32 a = 1; int32 b = 2; }",
      "oneof o { int32 a = 1; } oneof p { int32 b = 2; }",
      [],
    ],
    [
      "two oneofs in one",
      "oneof o { int32 a = 1; } oneof p { int32 b = 2; }",
      "oneof o { int32 a = 1; int32 b = 2; }",
      ["!ONEOF_JOINED t.M 1", "!ONEOF_JOINED t.M 2"],
    ],
    ["a oneof renamed", "oneof o { int32 a = 1; int32 b = 2; }", "oneof p { int32 a = 1; int32 b = 2; }", []],
  ])("%s", (_, before, after, expected) => {
    expect(field(before, after)).toEqual(expected);
  });

  test.each<[string, string, string, readonly string[]]>([
    [
      "required added",
      "optional int32 a = 1;",
      "optional int32 a = 1; required int32 b = 2;",
      ["!REQUIRED_ADDED t.M 2"],
    ],
    ["made required", "optional int32 a = 1;", "required int32 a = 1;", ["!REQUIRED_ADDED t.M 1"]],
    ["required no more", "required int32 a = 1;", "optional int32 a = 1;", ["REQUIRED_REMOVED t.M 1"]],
    ["required removed", "required int32 a = 1;", "reserved 1;", ["FIELD_REMOVED t.M 1"]],
    [
      "group",
      "optional group G = 1 { optional int32 x = 1; }",
      "optional G g = 1; message G { optional int32 x = 1; }",
      ["!TYPE_CHANGED t.M 1"],
    ],
  ])("proto2: %s", (_, before, after, expected) => {
    expect(field(before, after, "", P2)).toEqual(expected);
  });
});

describe("enums", () => {
  const enums = (before: string, after: string, head = P3) => {
    const message = head === P2 ? "message M { optional E e = 1; }" : "message M { E e = 1; }";
    return compared(`${head} ${message} enum E { ${before} }`, `${head} ${message} enum E { ${after} }`);
  };
  test.each<[string, string, string, readonly string[]]>([
    ["added", "A = 0;", "A = 0; B = 1;", []],
    ["renumbered", "A = 0; B = 1;", "A = 0; B = 2;", ["!ENUM_RENUMBERED t.E 1"]],
    ["exchanged", "Z = 0; A = 1; B = 2;", "Z = 0; A = 2; B = 1;", ["!ENUM_RENUMBERED t.E 1", "!ENUM_RENUMBERED t.E 2"]],
    ["renamed", "A = 0; B = 1;", "A = 0; C = 1;", ["ENUM_VALUE_RENAMED t.E 1"]],
    ["removed", "A = 0; B = 1;", "A = 0;", ["!ENUM_VALUE_REMOVED t.E 1"]],
    ["removed and reserved", "A = 0; B = 1;", "reserved 1; A = 0;", ["ENUM_VALUE_REMOVED t.E 1"]],
    ["on a reserved number", "reserved 1; A = 0;", "A = 0; B = 1;", ["!NUMBER_RESERVED t.E 1"]],
    ["not reserved any more", "reserved 1; A = 0;", "A = 0;", ["!NUMBER_FREED t.E 1"]],
    ["alias added", "A = 0;", "option allow_alias = true; A = 0; B = 0;", []],
    ["alias removed", "option allow_alias = true; A = 0; B = 0;", "A = 0;", []],
  ])("%s", (_, before, after, expected) => {
    expect(enums(before, after)).toEqual(expected);
  });

  test("closed: what is removed is an unknown field from then on", () => {
    expect(enums("A = 0; B = 1;", "reserved 1; A = 0;", P2)).toEqual(["!ENUM_VALUE_REMOVED t.E 1"]);
    const E = (more: string) => `edition = "2023"; package t; message M { E e = 1; } enum E { ${more} A = 0; }`;
    expect(compared(E(""), E("option features.enum_type = CLOSED;"))).toEqual(["ENUM_CLOSED t.E"]);
  });
});

describe("messages and versions", () => {
  test("a package may move, and a message may be renamed: numbers decide", () => {
    const before = `${P3} message M { N n = 1; } message N { int32 a = 1; }`;
    const moved = before.replace("package t;", "package u.v;");
    expect(compared(before, moved)).toEqual(["MESSAGE_RENAMED t.M", "MESSAGE_RENAMED t.N"]);
    expect(compared(before, moved.replace("int32 a", "string a"))).toEqual([
      "!TYPE_CHANGED t.N 1",
      "MESSAGE_RENAMED t.M",
      "MESSAGE_RENAMED t.N",
    ]);
    expect(compared(before, before.replaceAll("N", "P"))).toEqual(["MESSAGE_RENAMED t.N"]);
    expect(compared(`${P3} message A { int32 x = 1; }`, `${P3} message B { int32 x = 1; }`)).toEqual([
      "MESSAGE_RENAMED t.A",
    ]);
  });

  test("a message that is gone breaks, unless nobody decodes it", () => {
    const before = files(`${P3} message A { int32 x = 1; } message B { string y = 1; }`);
    const after = files(`${P3} message A { int32 x = 1; }`);
    expect(told({ before: [before], after })).toEqual(["!MESSAGE_REMOVED t.B"]);
    expect(told({ before: [before], after, roots: ["t.A"] })).toEqual([]);
    expect(told({ before: [before], after, roots: ["t.B"] })).toEqual(["!MESSAGE_REMOVED t.B"]);
  });

  test("types that hold one another are compared once", () => {
    const source = `${P3} message A { B b = 1; A a = 2; } message B { A a = 1; map<string, B> m = 2; int32 x = 3; }`;
    expect(compared(source, source)).toEqual([]);
    expect(compared(source, source.replace("int32 x", "string x"))).toEqual(["!TYPE_CHANGED t.B 3"]);
  });

  test("a number that was removed is not used for another field, even of the same type", () => {
    const v1 = files(`${P3} message M { int32 a = 1; string email = 3; }`);
    const v2 = files(`${P3} message M { int32 a = 1; }`);
    const after = (type: string) => files(`${P3} message M { int32 a = 1; ${type} = 3; }`);
    expect(told({ before: [v1, v2], after: after("string city") })).toEqual(["!NUMBER_REUSED t.M 3"]);
    expect(told({ before: [v1, v2], after: after("int64 spend") })).toEqual([
      "!NUMBER_REUSED t.M 3",
      "!TYPE_CHANGED t.M 3",
    ]);
    expect(told({ before: [v1, v2], after: after("string email") })).toEqual([]);
    expect(told({ before: [v1], after: after("string city") })).toEqual(["FIELD_RENAMED t.M 3"]);
  });

  test("a reason names the newest version that shows it", () => {
    const v1 = files(`${P3} message M { int32 a = 1; }`);
    const v2 = files(`${P3} message M { int32 a = 1; int32 b = 2; }`);
    const reasons = checks.compatibility({
      before: [v1, v2],
      after: files(`${P3} message M { string a = 1; string b = 2; }`),
    });
    expect(reasons.map(({ number, against }) => [number, against])).toEqual([
      [1, 1],
      [2, 1],
    ]);
    expect(checks.compatibility({ before: [], after: v1 })).toEqual([]);
  });

  test("well-known types are not compared for themselves", () => {
    const before = `${P3} import "google/protobuf/timestamp.proto"; message M { int32 a = 1; }`;
    expect(compared(before, `${P3} message M { int32 a = 1; }`)).toEqual([]);
  });
});

describe("fields that feed an input", () => {
  const before = files(`${P3} message M { string id = 1; In in = 2; int32 n = 3; } message In { string a = 1; }`);
  const mapped = [[1], [2, 1], [3]].map((path) => ({ message: "t.M", path }));
  test.each<[string, string, readonly string[]]>([
    [
      "all there",
      `${P3} message M { string other = 1; In in = 2; int32 n = 3; } message In { string a = 1; }`,
      ["FIELD_RENAMED t.M 1"],
    ],
    [
      "gone",
      `${P3} message M { reserved 1; In in = 2; int32 n = 3; } message In { reserved 1; }`,
      ["!MAPPED_GONE t.M 1", "FIELD_REMOVED t.In 1", "FIELD_REMOVED t.M 1"],
    ],
    [
      "retyped",
      `${P3} message M { bytes id = 1; In in = 2; int64 n = 3; } message In { string a = 1; }`,
      ["!MAPPED_CHANGED t.M 1", "TYPE_BYTES t.M 1", "MAPPED_CHANGED t.M 3", "TYPE_WIDTH t.M 3"],
    ],
    [
      "a list now",
      `${P3} message M { repeated string id = 1; In in = 2; int32 n = 3; } message In { string a = 1; }`,
      ["!LABEL_CHANGED t.M 1", "!MAPPED_CHANGED t.M 1"],
    ],
    [
      "no message on the way",
      `${P3} message M { string id = 1; bytes in = 2; int32 n = 3; } message In { string a = 1; }`,
      ["!MAPPED_GONE t.M 1", "TYPE_BYTES t.M 2"],
    ],
    [
      "in a package that moved",
      'syntax = "proto3"; package u; message M { string id = 1; In in = 2; int32 n = 3; } message In { string a = 1; }',
      ["MESSAGE_RENAMED t.In", "MESSAGE_RENAMED t.M"],
    ],
  ])("%s", (_, after, expected) => {
    expect(told({ before: [before], after: files(after), mapped })).toEqual(expected);
  });
});

describe("digests", () => {
  const base = `${P3} message A { int32 a = 1; repeated B bs = 2; oneof o { int32 x = 3; int32 y = 4; } reserved 7, 9; enum E { Z = 0; Q = 1; } }
    message B { string s = 1; }`;
  const digest = (source: string) => checks.digest(files(source));

  test.each<[string, string]>([
    ["comments and blanks", base.replaceAll(";", " ; // what it is\n /* and more */\n")],
    [
      "options of no weight",
      base.replace("package t;", 'package t; option java_package = "x"; option (my.own) = { a: 1 };'),
    ],
    ["order of fields", base.replace("int32 a = 1; repeated B bs = 2;", "repeated B bs = 2; int32 a = 1;")],
    ["order of reserved numbers", base.replace("reserved 7, 9;", "reserved 9; reserved 7 to 7;")],
    ["names of types with their scope", base.replace("repeated B", "repeated .t.B")],
    ["an import that nobody uses", base.replace("package t;", 'package t; import "google/protobuf/any.proto";')],
    ["numbers written otherwise", base.replace("a = 1;", "a = 0x1;")],
  ])("are the same whatever: %s", (_, source) => {
    expect(digest(source)).toEqual(digest(base));
  });

  test("are the same whatever the order of oneofs", () => {
    const [o, p] = ["oneof o { int32 x = 1; int32 y = 4; }", "oneof p { int32 z = 2; int32 w = 3; }"];
    expect(digest(`${P3} message M { ${o} ${p} }`)).toEqual(digest(`${P3} message M { ${p} ${o} }`));
  });

  test("the order of messages and files changes the layout, not the content", () => {
    const reordered = `${P3} message B { string s = 1; } ${base.slice(P3.length).replace(/message B .*$/, "")}`;
    expect(digest(reordered).content).toBe(digest(base).content);
    expect(digest(reordered).layout).not.toBe(digest(base).layout);
    const split = {
      "a.proto": `${P3} import "b.proto"; ${base.slice(P3.length).replace(/message B .*$/, "")}`,
      "b.proto": `${P3} message B { string s = 1; }`,
    };
    expect(checks.digest(split).content).toBe(digest(base).content);
    expect(checks.digest(Object.fromEntries(Object.entries(split).toReversed()))).toEqual(checks.digest(split));
  });

  test.each<[string, string]>([
    ["a number", base.replace("a = 1", "a = 5")],
    ["a name", base.replace("int32 a", "int32 b")],
    ["a type", base.replace("string s", "bytes s")],
    ["a label", base.replace("repeated B", "B")],
    ["presence", base.replace("int32 a", "optional int32 a")],
    [
      "a oneof",
      base.replace("oneof o { int32 x = 3; int32 y = 4; }", "oneof o { int32 x = 3; } oneof p { int32 y = 4; }"),
    ],
    ["what is reserved", base.replace("7, 9", "7 to 9")],
    ["an enum", base.replace("Q = 1", "Q = 2")],
    ["a package", base.replace("package t", "package u")],
    ["a json_name", base.replace("a = 1", 'a = 1 [json_name = "z"]')],
    ["a further message", `${base} message C {}`],
  ])("differ by %s", (_, source) => {
    expect(source).not.toBe(base);
    expect(digest(source).content).not.toBe(digest(base).content);
  });

  test("stay what they are, since they are stored", () => {
    expect(digest(`${P3} message M { int32 a = 1; }`)).toMatchInlineSnapshot(`
      {
        "content": "7c69f01b74c9f97d8562df5ff9f99e95b42f28fc17713144964dce446061d313",
        "layout": "e2cd6b9f3ada95151080af895f73fde020922ed025acd3599daf2eaa122beaae",
      }
    `);
  });
});
