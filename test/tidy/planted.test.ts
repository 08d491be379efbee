import { expect, test } from "vitest";
import { CHECKS, foldersOf, isMapped, stateNames } from "./checks.ts";
import { LAYERS, MAPPED } from "./rules.ts";

/** A planted violation must be found, and its neighbour that is right must not. */
const planted: readonly [keyof typeof CHECKS, string, string, RegExp | undefined][] = [
  ["layers", "src/core/a.ts", 'import { b } from "../ports/b.ts";', /imports src\/ports\/b\.ts/],
  ["layers", "src/core/a.ts", 'import { b } from "./b.ts";', undefined],
  ["layers", "src/ports/a.ts", 'import type { B } from "../kv/b.ts";', /imports src\/kv\/b\.ts/],
  ["layers", "src/ports/a.ts", 'import type { B } from "../core/b.ts";', undefined],
  ["layers", "src/kv/a.ts", 'import { b } from "../decoding/b.ts";', /imports src\/decoding/],
  ["layers", "src/fleet/a.ts", 'import { b } from "../kv/b.ts";', /imports src\/kv/],
  ["layers", "src/fleet/a.ts", 'import { b } from "../lag/b.ts";', undefined],
  ["layers", "routes/a.ts", 'import { b } from "../consumers/b.ts";', /imports consumers/],
  ["layers", "routes/a.ts", 'export { b } from "../src/kv/b.ts";', /imports src\/kv/],
  ["layers", "routes/a/b.ts", 'import { c } from "../../src/lag/c.ts";', undefined],
  ["layers", "consumers/a.ts", 'const b = await import("../routes/b.ts");', /imports routes/],
  ["layers", "consumers/a.ts", 'import { b } from "./kafka/b.ts";', undefined],
  ["layers", "consumers/kafka/a.ts", 'import { b } from "../b.ts";', /imports consumers\/b\.ts/],
  ["layers", "src/wiring/wire.ts", 'import { main } from "../main.ts";', /imports src\/main\.ts/],
  ["layers", "src/wiring/wire.ts", 'import { b } from "../../routes/index.ts";', undefined],
  ["layers", "src/wiring/wire.ts", 'import { b } from "../../test/b.ts";', /imports test/],
  ["layers", "src/novel/a.ts", "", /in no layer/],
  ["packages", "src/fleet/a.ts", 'import { Kafka } from "kafkajs";', /belongs to consumers\/kafka/],
  ["packages", "consumers/kafka/a.ts", 'import { Kafka } from "kafkajs";', undefined],
  ["packages", "consumers/a.ts", 'import { Kafka } from "kafkajs/src/index.js";', /imports kafkajs/],
  ["packages", "src/a.ts", 'import fp from "fastify-plugin";', /does not know/],
  ["packages", "src/core/a.ts", 'import { readFile } from "node:fs/promises";', /take what is needed as a value/],
  ["packages", "src/kv/a.ts", 'import { readFile } from "node:fs/promises";', undefined],
  ["packages", "src/kv/a.ts", "const a = await import(name);", /computed name/],
  ["lengths", "src/a.ts", "a();\n".repeat(301), /301 lines/],
  ["lengths", "src/a.ts", "a();\n".repeat(300), undefined],
  ["lengths", "test/a.test.ts", "a();\n".repeat(501), /501 lines/],
  ["lengths", "test/a.test.ts", "a();\n".repeat(301), undefined],
  ["lengths", "src/a.ts", `function f() {\n${"a();\n".repeat(59)}}`, /function of 61 lines/],
  ["lengths", "src/a.ts", `function f() {\n${"a();\n".repeat(58)}}`, undefined],
  ["code", "src/fleet/a.ts", "const now = Date.now();", /use Clock\.now/],
  ["code", "src/clock.ts", "const now = Date.now();", undefined],
  ["code", "src/fleet/a.ts", 'log("Date.now"); // Date.now()', undefined],
  ["code", "src/fleet/a.ts", "const now = new Date();", /use Clock\.now/],
  ["code", "src/fleet/a.ts", "const at = new Date(ms);", undefined],
  ["code", "src/fleet/a.ts", "performance.now()", /Clock\.monotonic/],
  ["code", "src/fleet/a.ts", "process.hrtime.bigint()", /Clock\.monotonic/],
  ["code", "src/fleet/a.ts", "setTimeout(f, 1)", /Clock\.after/],
  ["code", "src/fleet/a.ts", "globalThis.setInterval(f, 1)", /Clock\.after/],
  ["code", "src/fleet/a.ts", "Math.random()", /seeded generator/],
  ["code", "src/fleet/a.ts", "process.env.A", /src\/config/],
  ["code", "src/config/a.ts", "process.env.A", undefined],
  ["code", "src/fleet/a.ts", "console.log(1)", /Logger/],
  ["code", "src/fleet/a.ts", "function f(a: any) {}", /unknown/],
  ["code", "test/a.ts", "const a = b as any;", /unknown/],
  ["code", "src/fleet/a.ts", "Promise.any(a); f.any(b); const any = 1; g(any);", undefined],
  ["code", "test/a.ts", "a as unknown as B", /type guard/],
  ["code", "src/fleet/a.ts", "export default f;", /named export/],
  ["code", "src/fleet/a.ts", "export enum A { B }", /as const/],
  ["text", "docs/a.md", ["TO", "DO: later"].join(""), /do it/],
  ["text", "src/a.ts", `// ${["FIX", "ME"].join("")}`, /do it/],
  ["text", "src/a.ts", `// ${["@ts", "ignore"].join("-")}`, /expect-error/],
  ["text", "docs/a.md", `see ${["", "work", "main"].join("/")}`, /relative to the repository/],
  ["text", "docs/a.md", `see ${["", "root", "x"].join("/")}`, /relative to the repository/],
  ["text", "docs/a.md", `see ${["", "home", "me"].join("/")}`, /relative to the repository/],
  ["text", "docs/a.md", `npm at ${["registry", "corp.example"].join(".")}`, /registry that npm/],
  ["text", "package-lock.json", `${['"resolved":', '"https'].join(" ")}://mirror.example/a.tgz"`, /without addresses/],
  ["comments", "src/core/a.ts", "export const a = 1;", /a has no doc comment/],
  ["comments", "src/core/a.ts", "/** A. */\nexport const a = 1;", undefined],
  ["comments", "src/ports/a.ts", "/** A. */\n\nexport interface A {}", /A has no doc comment/],
  ["comments", "src/fleet/a.ts", "export const a = 1;", undefined],
];

test.each(planted)("%s in %s: %j", (check, path, text, found) => {
  expect(CHECKS[check]({ path, text })).toEqual(found === undefined ? [] : [expect.stringMatching(found)]);
});

test("every layer's places are judged by their own row", () => {
  const places = LAYERS.flatMap(({ places: own }) => own);
  expect(new Set(places).size).toBe(places.length);
});

test("folders and states are found", () => {
  const some = [
    { path: "src/a/b/c.ts", text: 'export const X_STATES = [\n  "one",\n  "two",\n] as const;' },
    { path: "src/main.ts", text: "" },
    { path: "local/d/e.ts", text: "" },
  ];
  expect(foldersOf(some, MAPPED)).toEqual(["src/a/b"]);
  expect([...stateNames(some)]).toEqual([["X_STATES", ["one", "two"]]]);
});

test.each([
  ["src/a", "| `src/a/` | what it does |", true],
  ["src/a/b", "| `src/a/` | `b/` and others |", true],
  ["routes/b", "| `routes/` | a folder per resource (`b`, `c`) |", true],
  ["src/a/b/c", "| `src/a/` | `b/`, `c/` |", true],
  ["src/a/b", "see `src/a/b/` for more", true],
  ["src/a/b", "| `src/a/` | what it does |", false],
  ["src/a/b", "| `src/x/` | `b/` and others |", false],
  ["src/a", "| `src/ab/` | what it does |", false],
  ["src/a", "", false],
])("%s in %j: %s", (folder, design, mapped) => {
  expect(isMapped(folder, design)).toBe(mapped);
});
