import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pageOf, STOPS, type StopCode } from "../../src/core/partition/stop.ts";
import { ResumeBody } from "../../routes/sources/operator-schema.ts";
import { Value } from "@sinclair/typebox/value";
import { ROOT } from "../tidy/files.ts";

const CODES = Object.keys(STOPS).filter((code): code is StopCode => code in STOPS);
const page = (code: StopCode) => readFileSync(join(ROOT, pageOf(code)), "utf8");
const contract = JSON.parse(readFileSync(join(ROOT, "openapi/openapi.json"), "utf8")) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

/** Operations that a text names, such as `POST /v1/sources/{source}/epochs`. */
function operationsOf(text: string): readonly (readonly [string, string])[] {
  return [...text.matchAll(/\b(GET|PUT|POST|DELETE) +(\/v1\/[^\s`?]+)/g)].map(([, method = "", path = ""]) => [
    method.toLowerCase(),
    path.replace(/[.,:;]$/, ""),
  ]);
}

describe.each(CODES)("docs/stops/%s.md", (code) => {
  test("says what happened, what to check, what to do and what each choice loses", () => {
    const text = page(code);
    expect(text.startsWith(`# ${code}\n`)).toBe(true);
    expect(text).toMatch(/\n## What to check\n\n- /);
    const ways = text.split("\n### ").slice(1);
    expect(ways.length).toBeGreaterThan(0);
    for (const way of ways) expect(way).toMatch(/\nPOST \/v1\/sources\/[\s\S]*\nLoses: \S/);
  });

  test("names operations of the contract only", () => {
    const named = operationsOf(page(code));
    expect(named.length).toBeGreaterThan(0);
    for (const [method, path] of named) expect(contract.paths[path]?.[method], `${method} ${path}`).toBeDefined();
  });

  test("shows bodies that the resumption takes", () => {
    const bodies = [...page(code).matchAll(/\/resume\nIf-Match[^\n]*\nContent-Type[^\n]*\n\n(\{[\s\S]*?\})\n```/g)];
    for (const [, body = ""] of bodies) {
      const filled: unknown = JSON.parse(body.replaceAll(/"<(?!why)[^>]*>"/g, '"17"'));
      expect([...Value.Errors(ResumeBody, filled)], body).toEqual([]);
    }
  });

  test("is listed, and the stop's remedy is one line", () => {
    expect(readFileSync(join(ROOT, "docs/stops/README.md"), "utf8")).toContain(`[${code}](${code}.md)`);
    expect(STOPS[code].remedy).toMatch(/^[A-Z][^\n]+\.$/);
  });
});

test("docs/stops has a page for nothing else", () => {
  const pages = readdirSync(join(ROOT, "docs/stops")).filter((name) => name !== "README.md");
  expect(pages.toSorted()).toEqual(CODES.map((code) => `${code}.md`).toSorted());
});

test("every stop has a story on a real broker, which asserts its code", () => {
  const folder = join(ROOT, "test/integration");
  const stories = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
  const told = (code: StopCode) => stories.some((text) => text.includes(`"${code}"`));
  expect(CODES.filter((code) => !told(code))).toEqual([]);
});
