import { expect, test } from "vitest";
import { functionsOf } from "./functions.ts";
import { importsOf, packageOf } from "./imports.ts";
import { scan } from "./lexer.ts";

const code = (text: string) => scan(text).code.replaceAll(/ +/g, " ");

test.each([
  ["a(); // b\nc();", "a(); \nc();"],
  ["a(/* b\n c */);", "a( \n );"],
  ['a("b // c");', 'a(" ");'],
  ["a('it\\'s');", "a(' ');"],
  ["a(`b ${c(`d ${e} f`)} g`);", "a(` ${c(` ${e} `)} `);"],
  ["a(`\\${b}`);", "a(` `);"],
  ["a = b / c / d;", "a = b / c / d;"],
  ["a = /[/\"]'/g; b()", "a = ; b()"],
  ["return /x'/.test(a)", "return .test(a)"],
  ["a(b) / c('d')", "a(b) / c(' ')"],
  ["x.y[0] / 2; f('z')", "x.y[0] / 2; f(' ')"],
  ["a ? /b'/ : /c\"/;", "a ? : ;"],
  ["'unclosed\nnext()", "' \nnext()"],
  ["/* never closed", " "],
  ["`${{ a: `}` }.a}` + b", "`${{ a: ` ` }.a}` + b"],
])("%j", (text, expected) => {
  expect(code(text)).toBe(expected.replaceAll(/ +/g, " "));
  expect(scan(text).code).toHaveLength(text.length);
});

test.each<[string, readonly string[]]>([
  ['import a from "a";', ["a"]],
  ["import { b } from 'b';", ["b"]],
  ['import type { C } from "./c.ts";', ["./c.ts"]],
  ['import * as d from "@s/d/e";', ["@s/d/e"]],
  ['import "side";', ["side"]],
  ['import {\n  a,\n  b,\n} from "multi";', ["multi"]],
  ['import a, { b } from "both"; import c from "c";', ["both", "c"]],
  ['export * from "e";\nexport { f } from "./f.ts";', ["e", "./f.ts"]],
  ['export type { F } from "./f.ts";', ["./f.ts"]],
  ['const a = await import("lazy");', ["lazy"]],
  ["const a = await import(`lazy`);", ["lazy"]],
  ["const a = await import(name);", [""]],
  ["const a = await import(`./${name}.ts`);", [""]],
  ['type A = import("typed").A;', ["typed"]],
  ['import a = require("old");', ["old"]],
  ['const r = createRequire(import.meta.url); r("x"); r.resolve("y/z"); r(name);', ["x", "y/z", ""]],
  ['createRequire(import.meta.url)("direct");', ["direct"]],
  ['// import a from "a"\n/* import "b" */ const c = \'import "d"\';', []],
  ['const t = `import x from "y"`;', []],
  ["store.import(name); plane.require(what); require(what, 1) {}", []],
  ['export const from = "x"; export function f() { return g("y"); }', []],
  ["const u = import.meta.url;", []],
])("modules of %j", (text, expected) => {
  expect(importsOf(text).map(({ specifier }) => specifier)).toEqual(expected);
});

test("a module has the line on which it is named", () => {
  expect(importsOf('\nimport {\n a,\n} from "b";\n')).toEqual([{ specifier: "b", line: 4 }]);
});

test.each([
  ["a", "a"],
  ["a/b/c", "a"],
  ["@s/a/b", "@s/a"],
  ["node:fs/promises", "node:fs/promises"],
])("%s is of package %s", (specifier, name) => {
  expect(packageOf(specifier)).toBe(name);
});

const BODY = "\n  a();\n}";

test.each<[string, number]>([
  [`function f() {${BODY}`, 1],
  [`async function* f(a = {}, { b }: B): AsyncGenerator<string> {${BODY}`, 1],
  [`function f(): { a: number } {${BODY}`, 1],
  [`function f(): Promise<() => void> {${BODY}`, 1],
  [`function f(a: unknown): a is { b: string } {${BODY}`, 1],
  [`const f = (a: string): void => {${BODY}`, 1],
  [`const f = a => {${BODY}`, 1],
  [`class A {\n  b() {${BODY}\n  get c(): number {${BODY}\n}`, 2],
  [`if (a) {${BODY}`, 0],
  [`for (const a of b()) {${BODY}`, 0],
  [`while (f(a)) {${BODY}`, 0],
  [`switch (a) { case f(b): {${BODY} }`, 0],
  [`try {${BODY} catch (e) {${BODY} finally {${BODY}`, 0],
  [`const a = {${BODY}`, 0],
  [`interface A {\n  b: string;\n}`, 0],
  [`call(function () {${BODY})`, 1],
])("functions of %j", (text, count) => {
  const multiline = functionsOf(text).filter(({ lines }) => lines === 3);
  expect(multiline).toHaveLength(count);
});

test("a function that declares tests is a chapter", () => {
  expect(
    functionsOf('describe("a", () => {\n test.each([1])("b", () => {\n  c();\n });\n});').map(
      ({ groupsTests }) => groupsTests,
    ),
  ).toEqual([false, true]);
  expect(functionsOf("function f() {\n pattern.test(a); latest(b);\n}")[0]?.groupsTests).toBe(false);
});
