import { describe, expect, test } from "vitest";
import { CHECKS, foldersOf, isMapped, stateNames } from "./checks.ts";
import { isCode, repositoryFiles, ROOT, type SourceFile } from "./files.ts";
import { MAPPED, PACKAGES } from "./rules.ts";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const files = repositoryFiles();
const code = files.filter(isCode);

test("there are files to check", () => {
  expect(code.length).toBeGreaterThan(100);
  expect(code.map(({ path }) => path)).toContain("src/core/source.ts");
});

describe.each<[keyof typeof CHECKS, readonly SourceFile[]]>([
  ["layers", code],
  ["packages", code],
  ["lengths", code],
  ["code", code],
  ["text", files],
  ["comments", code],
])("%s", (name, judged) => {
  test("holds everywhere", () => {
    expect(judged.flatMap(CHECKS[name])).toEqual([]);
  });
});

test("every dependency of package.json has its homes, and nothing else has", () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Record<
    string,
    Record<string, string>
  >;
  const named = Object.keys({ ...manifest["dependencies"], ...manifest["devDependencies"] });
  expect(Object.keys(PACKAGES).toSorted()).toEqual(named.toSorted());
});

test("every dependency that runs in production is imported by production code", () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Record<
    string,
    Record<string, string>
  >;
  const production = code.filter(({ path }) => /^(?:src|routes|consumers)\//.test(path)).map(({ text }) => text);
  const unused = Object.keys(manifest["dependencies"] ?? {}).filter(
    (name) => !production.some((text) => text.includes(`"${name}`)),
  );
  expect(unused).toEqual([]);
});

describe("src/DESIGN.md", () => {
  const path = join(ROOT, "src/DESIGN.md");
  const design = existsSync(path) ? readFileSync(path, "utf8") : "";

  test("its file map names every folder", () => {
    expect(foldersOf(files, MAPPED).filter((folder) => !isMapped(folder, design))).toEqual([]);
  });

  test("it names every state of every lifecycle", () => {
    const lists = stateNames(files);
    expect([...lists.keys()].toSorted()).toEqual(
      expect.arrayContaining(["OWNER_STATES", "PARTITION_STATES", "SOURCE_STATES"]),
    );
    const missing = [...lists].flatMap(([list, names]) =>
      names.filter((name) => !new RegExp(`\\b${name}\\b`).test(design)).map((name) => `${list}: ${name}`),
    );
    expect(missing).toEqual([]);
  });
});
