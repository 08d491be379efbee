import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LIMIT_NAMES } from "../../src/config/limits.ts";
import { BUILTIN_SUBJECTS } from "../../src/descriptors/builtin.ts";
import { BUILT_IN_SUBJECTS } from "../../src/config/index.ts";
import { ROOT } from "../tidy/files.ts";
import { BEGIN, END, keys, reference } from "./reference.ts";

const FILE = join(ROOT, "docs/configuration.md");

test("docs/configuration.md has the reference of every key as the code knows it", () => {
  const text = readFileSync(FILE, "utf8");
  const [before = "", rest = ""] = text.split(BEGIN);
  const [generated = "", after = ""] = rest.split(END);
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync(FILE, `${before}${BEGIN}\n\n${reference()}\n\n${END}${after}`);
  else expect(generated.trim()).toBe(reference());
  expect([before.length > 0, after.length > 0]).toEqual([true, true]);
});

test("the reference has every key, each with a meaning", () => {
  const text = reference();
  expect(keys()).toContain("limits.drainTimeout");
  expect(keys()).toContain("sources[].descriptor.version");
  const told = (path: string) =>
    [path, `${path}[]`, path.split(".").at(-1)].some((name) => text.includes(`\`${name}\``));
  expect(keys().filter((path) => !told(path))).toEqual([]);
  expect(text.split("\n").filter((line) => line.endsWith("|  |") || line.includes("undefined"))).toEqual([]);
  expect(LIMIT_NAMES.filter((name) => !keys().includes(`limits.${name}`))).toEqual([]);
});

test("the built-in descriptor of every kind ships with the build", () => {
  expect(Object.values(BUILT_IN_SUBJECTS).filter((subject) => !BUILTIN_SUBJECTS.has(subject))).toEqual([]);
});
