import { readFileSync } from "node:fs";
import protobuf from "protobufjs";
import { describe, expect, it } from "vitest";
import { createDescriptorChecks } from "../../src/decoding/descriptor-checks.ts";
import { readDescriptorSet } from "../../src/decoding/descriptor-set.ts";
import { CONTRACT_FILES } from "../../src/descriptors/builtin.generated.ts";
import { StreamsError } from "../../src/errors.ts";
import type { ProtoFiles } from "../../src/ports/decoder.ts";
import { setOf } from "./sets.ts";
import { bodyOf, compile, inputsOf } from "./support.ts";

const checks = createDescriptorChecks();
const digest = (files: ProtoFiles) => checks.digest(files);

function refusal(bytes: Uint8Array): string {
  try {
    digest(readDescriptorSet(bytes));
  } catch (error) {
    expect(error).toMatchObject({ code: "DESCRIPTOR_INVALID" });
    return error instanceof StreamsError ? error.message : "";
  }
  return "accepted";
}

const field = (name: string, number: number, more: object = {}) => ({ name, number, label: 1, type: 5, ...more });
const proto2 = (message: object, more: object = {}) => ({
  name: "a.proto",
  package: "t",
  messageType: [message],
  ...more,
});

/** What every part of a set is in text. */
const WIDE = `syntax = "proto2"; package t; import "google/protobuf/timestamp.proto";
      option java_package = "a\\"b";
      message M {
        option deprecated = true;
        optional int32 a = 1 [default = -3, json_name = "A"]; optional string s = 2 [default = "q\\"\\n"];
        optional bytes b = 3 [default = "\\377"]; optional E e = 4 [default = TWO]; optional double d = 6 [default = inf];
        map<string, E> m = 7; map<int32, M> mm = 8; oneof pick { string x = 9; M y = 10; google.protobuf.Timestamp z = 11; }
        repeated int32 p = 12 [packed = true]; reserved 20, 30 to 40; reserved "old"; extensions 100 to max;
        enum E { ONE = 0; TWO = 2; reserved -5 to -1; }
        message N { optional M back = 1; }
      }
      extend M { repeated M.N more = 100; }
      service S { rpc Do(M) returns (stream M.N); }`;

describe("a set that a compiler wrote", () => {
  it("is the same content as the files that it was made from", () => {
    // Made by buf from proto/, with imports.
    const files = readDescriptorSet(readFileSync("proto/baseline.binpb"));
    expect(Object.keys(files).toSorted()).toEqual(Object.keys(CONTRACT_FILES).toSorted());
    expect(digest(files)).toEqual(digest(CONTRACT_FILES));
  });
});

describe("well-known files of a set", () => {
  const M = (typeName: string) => ({ name: "M", field: [field("a", 1, { type: 11, typeName })] });
  const wellKnown = (file: string, more: object = {}) => ({ name: `google/protobuf/${file}.proto`, ...more });
  const using = (file: string, type: string) =>
    proto2(M(`.google.protobuf.${type}`), { dependency: [`google/protobuf/${file}.proto`] });

  it.each([
    ["descriptor", "FileDescriptorSet"],
    ["descriptor", "FieldOptions"],
    ["type", "Type"],
    ["api", "Api"],
    ["source_context", "SourceContext"],
    ["timestamp", "Timestamp"],
  ])("%s.proto is known, and passed over where it is there: %s", (file, type) => {
    const text = {
      "a.proto": `syntax = "proto2"; package t; import "google/protobuf/${file}.proto"; message M { optional google.protobuf.${type} a = 1; }`,
    };
    const content = digest(text);
    const uploaded = { name: "Refused", field: [field("x", -1)] };
    const given = { package: "google.protobuf", messageType: [uploaded], options: { features: { jsonFormat: 77 } } };
    expect(digest(readDescriptorSet(setOf(using(file, type))))).toEqual(content);
    expect(digest(readDescriptorSet(setOf(wellKnown(file, given), using(file, type))))).toEqual(content);
    expect(digest({ ...text, [`google/protobuf/${file}.proto`]: "not read" })).toEqual(content);
  });

  it("custom options are read, and the messages of descriptor.proto as well", () => {
    const option = { name: "o", number: 50_000, label: 1, type: 9, extendee: ".google.protobuf.FieldOptions" };
    const set = setOf(
      wellKnown("descriptor", { package: "google.protobuf" }),
      proto2(M(".google.protobuf.FileDescriptorProto"), {
        dependency: ["google/protobuf/descriptor.proto"],
        extension: [option],
      }),
    );
    const decoder = compile(readDescriptorSet(set), "t.M", {}, { body: "json" });
    expect(bodyOf(decoder, "0a0a 0a0166 2205 0a034d7367")).toBe('{"a":{"name":"f","messageType":[{"name":"Msg"}]}}');
  });

  it("a set of nothing else has no file", () => {
    expect(refusal(setOf(wellKnown("descriptor")))).toContain("no file but well-known ones");
  });
});

describe("what a set says", () => {
  it("groups are delimited fields", () => {
    const group = { name: "G", field: [field("x", 1)] };
    const message = {
      name: "M",
      field: [field("v", 1, { label: 2, type: 9 }), field("g", 5, { type: 10, typeName: ".t.M.G" })],
      nestedType: [group],
    };
    const decoder = compile(readDescriptorSet(setOf(proto2(message))), "t.M", {
      v: { path: [1], type: "text" },
      x: { path: [5, 1], type: "integer" },
    });
    expect(inputsOf(decoder, "0a01612b08072c")).toEqual(["a", 7n]);
  });

  it("editions keep their features", () => {
    const message = {
      name: "M",
      field: [
        field("a", 1),
        field("d", 3, { type: 11, typeName: ".t.In", options: { features: { messageEncoding: 2 } } }),
        field("ex", 4, { label: 3, options: { features: { repeatedFieldEncoding: 2 } } }),
      ],
    };
    const inner = { name: "In", field: [field("x", 1)] };
    const file = { name: "a.proto", package: "t", syntax: "editions", edition: 1000, messageType: [message, inner] };
    const decoder = compile(readDescriptorSet(setOf(file)), "t.M", {
      a: { path: [1], type: "integer" },
      x: { path: [3, 1], type: "integer" },
    });
    expect(inputsOf(decoder, "08001b08051c20012002")).toEqual([0n, 5n]);
  });

  it("maps, oneofs, optional, reserved, JSON names, defaults, services and extensions are those of the text", () => {
    const entry = (name: string, key: number, value: object) => ({
      name,
      options: { mapEntry: true },
      field: [field("key", 1, { type: key }), field("value", 2, value)],
    });
    const e = { type: 14, typeName: ".t.M.E" };
    const m = { type: 11, typeName: ".t.M" };
    const set = setOf({
      name: "a.proto",
      package: "t",
      dependency: ["google/protobuf/timestamp.proto"],
      options: { javaPackage: 'a"b' },
      messageType: [
        {
          name: "M",
          options: { deprecated: true },
          field: [
            field("x", 9, { type: 9, oneofIndex: 0 }),
            field("a", 1, { defaultValue: "-3", jsonName: "A" }),
            field("s", 2, { type: 9, defaultValue: 'q"\n', jsonName: "s" }),
            field("b", 3, { type: 12, defaultValue: "\\377" }),
            field("e", 4, { ...e, defaultValue: "TWO" }),
            field("d", 6, { type: 1, defaultValue: "inf" }),
            field("m", 7, { label: 3, type: 11, typeName: ".t.M.MEntry" }),
            field("mm", 8, { label: 3, type: 11, typeName: ".t.M.MmEntry" }),
            field("y", 10, { ...m, oneofIndex: 0 }),
            field("z", 11, { type: 11, typeName: ".google.protobuf.Timestamp", oneofIndex: 0 }),
            field("p", 12, { label: 3, options: { packed: true } }),
          ],
          oneofDecl: [{ name: "pick" }],
          nestedType: [entry("MEntry", 9, e), { name: "N", field: [field("back", 1, m)] }, entry("MmEntry", 5, m)],
          enumType: [
            {
              name: "E",
              value: [
                { name: "ONE", number: 0 },
                { name: "TWO", number: 2 },
              ],
              reservedRange: [{ start: -5, end: -1 }],
            },
          ],
          reservedRange: [
            { start: 20, end: 21 },
            { start: 30, end: 41 },
          ],
          reservedName: ["old"],
          extensionRange: [{ start: 100, end: 536_870_912 }],
        },
      ],
      extension: [field("more", 100, { label: 3, type: 11, typeName: ".t.M.N", extendee: ".t.M" })],
      service: [
        { name: "S", method: [{ name: "Do", inputType: ".t.M", outputType: ".t.M.N", serverStreaming: true }] },
      ],
    });
    expect(digest(readDescriptorSet(set))).toEqual(digest({ "a.proto": WIDE }));
  });

  it("a proto3 field with presence is optional, and its oneof is none", () => {
    const message = {
      name: "M",
      field: [field("a", 1, { proto3Optional: true, oneofIndex: 0 }), field("b", 2)],
      oneofDecl: [{ name: "_a" }],
    };
    const files = readDescriptorSet(setOf(proto2(message, { syntax: "proto3" })));
    const text = 'syntax = "proto3"; package t; message M { optional int32 a = 1; int32 b = 2; }';
    expect(digest(files)).toEqual(digest({ "a.proto": text }));
  });

  it("well-known files of a set are left out, others are imports", () => {
    const message = { name: "M", field: [field("at", 1, { type: 11, typeName: ".google.protobuf.Timestamp" })] };
    const path = "google/protobuf/timestamp.proto";
    const known = { name: path, package: "google.protobuf", syntax: "proto3", messageType: [{ name: "Timestamp" }] };
    const file = proto2(message, { dependency: [path] });
    expect(Object.keys(readDescriptorSet(setOf(known, file)))).toEqual(["a.proto"]);
    expect(refusal(setOf(file))).toBe("accepted");
    expect(refusal(setOf(proto2(message, { dependency: [path, "b.proto"] })))).toMatch(/a.proto: the import "b.proto"/);
  });
});

describe("a set is refused", () => {
  const options = (value: object) => setOf(proto2({ name: "M", options: value, field: [field("a", 1)] }));

  it("for what changes the wire format", () => {
    expect(refusal(options({ messageSetWireFormat: true }))).toMatch(/message_set_wire_format/);
    const features = proto2({ name: "M" }, { options: { features: { fieldPresence: 2 } } });
    expect(refusal(setOf(features))).toMatch(/features/);
    expect(refusal(setOf({ ...proto2({ name: "M" }), syntax: "editions", edition: 1002 }))).toMatch(
      /edition number 1002/,
    );
    expect(refusal(setOf({ ...proto2({ name: "M" }), syntax: "proto4" }))).toMatch(/proto4/);
  });

  it("for options and members that it does not know, custom ones aside", () => {
    const raw = (bytes: Uint8Array): Uint8Array => {
      const writer = protobuf.Writer.create();
      writer.uint32(0x0a).fork();
      writer.uint32(0x0a).string("a.proto").uint32(0x22).fork();
      writer.uint32(0x0a).string("M").uint32(0x3a).bytes(bytes).ldelim().ldelim();
      return writer.finish();
    };
    const option = (number: number) =>
      protobuf.Writer.create()
        .uint32(number * 8)
        .uint32(1)
        .finish();
    expect(refusal(raw(option(50_000)))).toBe("accepted");
    expect(refusal(raw(option(999)))).toMatch(/MessageOptions has the field 999/);
    expect(refusal(raw(option(13)))).toMatch(/M: MessageOptions has the field 13/);
    expect(refusal(options({ uninterpretedOption: [{ identifierValue: "x" }] }))).toMatch(/not interpreted/);
  });

  it("for names that are none", () => {
    const named = (name: string) => refusal(setOf(proto2({ name: "M", field: [field(name, 1)] })));
    expect(named("__proto__")).toMatch(/a.proto: t.M: the name "__proto__"/);
    expect(named("constructor")).toBe("accepted");
    expect(named("a; } message N {")).toMatch(/a.proto: t.M: a declaration without a usable name/);
    expect(refusal(setOf(proto2({ name: "M" }, { name: "__proto__" })))).toMatch(/no usable name/);
    expect(refusal(setOf(proto2({ name: "M" }), proto2({ name: "N" })))).toMatch(/a.proto twice/);
    const types = proto2({ name: "M", field: [field("a", 1, { type: 11, typeName: ".t.M x = 2; .t.M" })] });
    expect(refusal(setOf(types))).toMatch(/is none/);
  });

  it("for bytes that are no set", () => {
    expect(refusal(new Uint8Array())).toMatch(/no file/);
    expect(refusal(Buffer.from("0a05", "hex"))).toMatch(/no FileDescriptorSet|not known/);
    expect(refusal(Buffer.from([0x0a, 0x05, 1]))).toMatch(/no FileDescriptorSet/);
    const deep = new Uint8Array(4_000).fill(0x1a);
    expect(refusal(deep)).not.toBe("accepted");
  });

  it("for messages within one another without end", () => {
    let message: object = { name: "M" };
    for (let depth = 0; depth < 40; depth += 1) message = { name: "M", nestedType: [message] };
    expect(refusal(setOf(proto2(message)))).toMatch(/nested more than 32 deep/);
  });
});
