import { describe, expect, test } from "vitest";
import { createDescriptorChecks } from "../../src/decoding/descriptor-checks.ts";
import { SCHEMA_LIMITS } from "../../src/decoding/limits.ts";
import { buildSchema } from "../../src/decoding/schema-build.ts";
import type { ProtoFiles } from "../../src/ports/decoder.ts";
import { bodyOf, compile, inputsOf } from "./support.ts";

const P3 = 'syntax = "proto3"; package t;';
const P2 = 'syntax = "proto2"; package t;';

const many = (count: number, one: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => one(index)).join(" ");

/** Numbers from 1 up that skip protobuf's own range. */
const numberOf = (index: number): number => (index < 18_999 ? index + 1 : index + 1_001);

describe("descriptors past a limit are refused by it", () => {
  const chain = (length: number): ProtoFiles =>
    Object.fromEntries(
      Array.from({ length }, (_, index) => [
        `${index}.proto`,
        index === length - 1 ? "" : `import "${index + 1}.proto";`,
      ]),
    );
  const star = (files: number): ProtoFiles =>
    Object.fromEntries(Array.from({ length: files }, (_, index) => [`${index}.proto`, 'syntax = "proto3";']));
  const text = (source: string): ProtoFiles => ({ "t.proto": source });

  test.each<[string, ProtoFiles, string]>([
    ["a name", text(`${P3} message ${"M".repeat(513)} {}`), "a name has more than 512 characters"],
    [
      "a path",
      text(`package ${many(1_500, () => "aa").replaceAll(" ", ".")};`),
      "a name has more than 2048 characters",
    ],
    [
      "a name with its scope",
      text(`${P3} ${many(5, () => `message ${"M".repeat(500)} {`)} ${many(5, () => "}")}`),
      "with its scope",
    ],
    [
      "messages nested",
      text(`${P3} ${many(1_000, () => "message M {")} ${many(1_000, () => "}")}`),
      "nested more than 32 deep",
    ],
    [
      "groups nested",
      text(`${P2} message M { ${many(1_000, () => "optional group G = 1 {")} ${many(1_000, () => "}")} }`),
      "nested more than 32 deep",
    ],
    [
      "options nested",
      text(`${P3} option (x) = ${many(1_000, () => "{ a")} ${many(1_000, () => "}")};`),
      "nested more than 32 deep",
    ],
    ["lists in options", text(`${P3} option (x) = { a: ${"[".repeat(1_000)} };`), "nested more than 32 deep"],
    [
      "characters",
      text(`${P3} // ${"x".repeat(SCHEMA_LIMITS.maxSourceLength)}`),
      "more than 4194304 characters in all files",
    ],
    ["tokens", text(`${P3} ${";".repeat(1_000_001)}`), "more than 1000000 tokens in all files"],
    [
      "tokens of two files",
      { "a.proto": ";".repeat(600_000), "b.proto": ";".repeat(600_000) },
      "more than 1000000 tokens",
    ],
    [
      "declarations",
      text(`enum E { ${many(100_001, (index) => `V${index}=${index};`)} }`),
      "more than 100000 declarations",
    ],
    ["files", star(1_001), "more than 1000 files"],
    ["imports in a row", chain(258), "more than 256 files import one another"],
  ])("%s", (_, files, detail) => {
    expect(() => buildSchema(files)).toThrow(detail);
  });

  test("what is at a limit is read", () => {
    expect(buildSchema(star(1_000)).messages).toEqual([]);
    expect(buildSchema(chain(256)).messages).toEqual([]);
    expect(buildSchema(text(`${P3} message ${"M".repeat(512)} {}`)).messages).toHaveLength(1);
    expect(buildSchema(text(`${P3} option (x) = "${"x".repeat(3_000_000)}"; message M {}`)).messages).toHaveLength(1);
  });
});

test("names that JavaScript knows are names like any: of packages, messages, fields, values, oneofs, in JSON", () => {
  const source = `syntax = "proto3"; package constructor.prototype; message toString { int32 valueOf = 1; hasOwnProperty then = 2;
    oneof constructor { string length = 3; } map<string, toString> isPrototypeOf = 4; }
    enum hasOwnProperty { get = 0; set = 1; } message name { int32 a = 1 [json_name = "constructor"]; }`;
  const decoder = compile(source, "constructor.prototype.toString", {}, { body: "json" });
  expect(bodyOf(decoder, "0801 1001 1a0161 220b 0a095f5f70726f746f5f5f")).toBe(
    '{"valueOf":1,"then":"set","length":"a","isPrototypeOf":{"__proto__":{}}}',
  );
  const checks = createDescriptorChecks();
  expect(checks.compatibility({ before: [{ "t.proto": source }], after: { "t.proto": source } })).toEqual([]);
  const json = compile(source, "constructor.prototype.name", { a: { path: [1], type: "integer" } }, { format: "json" });
  expect(inputsOf(json, Buffer.from('{"constructor":5}').toString("hex"))).toEqual([5n]);
  expect(inputsOf(json, Buffer.from("{}").toString("hex"))).toEqual([undefined]);
});

/** Steps of a run: look-ups in maps and sets, and elements that methods of arrays go over. */
function workOf(run: () => unknown): number {
  let work = 0;
  const undo: (() => void)[] = [];
  const count = (prototype: object, name: string, cost: (self: unknown) => number): void => {
    const original: unknown = Reflect.get(prototype, name);
    if (typeof original !== "function") throw new Error(`no method ${name}`);
    Reflect.set(prototype, name, function counted(this: unknown, ...args: unknown[]): unknown {
      work += cost(this);
      return Reflect.apply(original, this, args);
    });
    undo.push(() => void Reflect.set(prototype, name, original));
  };
  for (const name of ["get", "set", "has"]) count(Map.prototype, name, () => 1);
  for (const name of ["has", "add"]) count(Set.prototype, name, () => 1);
  for (const name of ["find", "some", "every", "filter", "map", "flatMap", "includes", "indexOf", "toSorted"]) {
    count(Array.prototype, name, (self) => (Array.isArray(self) ? self.length : 0));
  }
  try {
    run();
  } finally {
    for (const restore of undo) restore();
  }
  return work;
}

describe("large descriptors cost in proportion to their size", () => {
  const shapes: readonly [string, (count: number) => string][] = [
    [
      "messages",
      (count) =>
        `${P3} ${many(count, (index) => `message M${index} { M${(index + 1) % count} next = 1; }`)} message M {}`,
    ],
    ["fields", (count) => `${P3} message M { ${many(count, (index) => `int32 f${index} = ${numberOf(index)};`)} }`],
    [
      "members of a oneof",
      (count) => `${P3} message M { oneof o { ${many(count, (index) => `int32 f${index} = ${numberOf(index)};`)} } }`,
    ],
    [
      "oneofs",
      (count) =>
        `${P3} message M { ${many(count, (index) => `oneof o${index} { int32 f${index} = ${numberOf(index)}; }`)} }`,
    ],
    [
      "values of an enum",
      (count) => `${P3} message M { E e = 1; } enum E { ${many(count, (index) => `V${index} = ${index};`)} }`,
    ],
    [
      "reserved ranges",
      (count) =>
        `${P3} message M { ${many(count, (index) => `reserved ${index * 2 + 1};`)} ${many(count, (index) => `int32 f${index} = ${20_000 + index * 2};`)} }`,
    ],
    [
      "extensions",
      (count) =>
        `${P2} message M { extensions 20000 to max; } ${many(count, (index) => `extend M { optional int32 f${index} = ${20_000 + index}; }`)}`,
    ],
    ["options", (count) => `${P3} message M { option (x) = { ${many(count, (index) => `a${index}: 1`)} }; }`],
  ];

  test.each(shapes)("many %s", (_, source) => {
    const work = (count: number) => {
      const files = { "t.proto": source(count) };
      const mapped = [{ message: "t.M", path: [1] }];
      return workOf(() => {
        compile(files, "t.M", {}, { body: "json" });
        compile(files, "t.M", {}, { format: "json", body: "json" });
        const checks = createDescriptorChecks();
        checks.digest(files);
        checks.compatibility({ before: [files, files], after: files, mapped });
      });
    };
    const small = work(500);
    expect(work(2_000)).toBeLessThan(small * 5 + 1_000);
  });

  test("10,000 messages with 10 fields each, and what has changed in all of them", () => {
    const source = (type: string) =>
      `${P3} ${many(9_000, (index) => `message M${index} { ${many(9, (field) => `${type} f${field} = ${field + 1};`)} }`)}`;
    const reasons = createDescriptorChecks().compatibility({
      before: [{ "t.proto": source("int32") }],
      after: { "t.proto": source("string") },
    });
    expect(reasons).toHaveLength(81_000);
  });

  test("types that hold one another over 6,000 steps", () => {
    const files = {
      "t.proto": `${P3} message M { M0 m = 1; } ${many(6_000, (index) => `message M${index} { M${index + 1} m = 1; repeated M${index + 1} l = 2; map<string, M${index + 1}> by = 3; }`)} message M6000 { int32 a = 1; }`,
    };
    expect(bodyOf(compile(files, "t.M", {}, { body: "json" }), "0a020a00")).toBe('{"m":{"m":{}}}');
    const json = compile(files, "t.M", {}, { format: "json", body: "json" });
    expect(inputsOf(json, Buffer.from('{"m":{"m":{}}}').toString("hex"))).toEqual([]);
    const checks = createDescriptorChecks();
    expect(checks.digest(files).content).toHaveLength(64);
    expect(checks.compatibility({ before: [files], after: files })).toEqual([]);
  });

  test("inputs within a oneof of many members", () => {
    const source = `${P3} message M { oneof o { ${many(2_000, (index) => `int32 f${index} = ${index + 1};`)} } }`;
    const work = workOf(() =>
      compile(source, "t.M", { a: { path: [1], type: "integer" }, b: { path: [2_000], type: "integer" } }),
    );
    expect(work).toBeLessThan(100_000);
  });
});

describe("records of a wide message", () => {
  const wide = (count: number) =>
    `${P3} message M { repeated M ms = 1; oneof o { ${many(count, (index) => `int32 f${index} = ${index + 2};`)} } map<string, M> by = 5000; }`;

  test("hold only what came: many empty ones take little", () => {
    const decoder = compile(wide(2_000), "t.M", {}, { body: "json" });
    expect(bodyOf(decoder, "0a00".repeat(100_000))).toHaveLength('{"ms":[]}'.length + 3 * 100_000 - 1);
  });

  test("a record that takes too much in memory is a fault, and the next one is read", () => {
    const decoder = compile(wide(100), "t.M", {}, { body: "json" }, { maxBodyCells: 1_000 });
    expect(bodyOf(decoder, "0a00".repeat(62))).toMatch(/^\{"ms"/);
    expect(bodyOf(decoder, "0a00".repeat(63))).toBe("DECODE_BODY_SIZE 1@124");
    const entries = many(200, (index) => `c2b802040a02${Buffer.from(String(index + 10).slice(-2)).toString("hex")}`);
    expect(bodyOf(decoder, entries)).toMatch(/^DECODE_BODY_SIZE 5000@/);
    expect(bodyOf(decoder, "1005")).toBe('{"f0":5}');
  });

  test("members of a oneof that take turns cost one step each", () => {
    const decoder = compile(wide(2_000), "t.M", {}, { body: "json" });
    const work = workOf(() => {
      expect(bodyOf(decoder, "10011801".repeat(10_000))).toBe('{"f1":1}');
    });
    expect(work).toBeLessThan(20_000 * 8);
  });

  test("lists count, too", () => {
    const source = `${P3} message M { repeated bool b = 1; }`;
    const decoder = compile(source, "t.M", {}, { body: "json" }, { maxBodyCells: 100 });
    expect(bodyOf(decoder, `0a64${"01".repeat(100)}`)).toMatch(/^\{"b"/);
    expect(bodyOf(decoder, `0a65${"01".repeat(101)}`)).toBe("DECODE_BODY_SIZE 1@102");
  });
});
