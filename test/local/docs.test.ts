import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BUILTIN_DESCRIPTORS } from "../../src/descriptors/builtin.ts";
import { HELP } from "../../src/cli/help.ts";
import { ROOT } from "../tidy/files.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> };
const PAGES = ["README.md", "docs/configuration.md", "docs/http.md", "deploy/README.md", "CHANGELOG.md"];

/** Flags that the usage of a program names. */
const flagsOf = (text: string) => new Set(text.match(/--[a-z][a-z-]+/g));

test.each(PAGES)("%s names only scripts that there are", (page) => {
  const named = [...read(page).matchAll(/npm run ([a-z][a-z:-]*)/g)].map(([, name = ""]) => name);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

test.each([
  ["npm run broker", "local/broker/main.ts"],
  ["npm run topic", "local/topic/main.ts"],
  ["npm run demo", "local/demo/main.ts"],
])("flags of %s in the documents are those of its usage, and all of them are named", (command, file) => {
  const usage = flagsOf(/const USAGE = `([^`]+)`/.exec(read(file))?.[1] ?? "");
  const used = PAGES.flatMap((page) => read(page).split("\n"))
    .filter((line) => line.includes(command))
    .flatMap((line) => [...flagsOf(line.slice(line.indexOf(command)))]);
  const known = new Set([...usage, "--help"]);
  expect(used.filter((flag) => !known.has(flag))).toEqual([]);
  expect([...usage].filter((flag) => !used.includes(flag))).toEqual([]);
});

test.each(PAGES)("%s calls the service only with flags that its help names", (page) => {
  const known = flagsOf(HELP);
  const lines = read(page).match(/(?:ysearch-streams|dist\/src\/main\.js) [^\n`#]*/g) ?? [];
  expect(lines.flatMap((line) => [...flagsOf(line)]).filter((flag) => !known.has(flag))).toEqual([]);
});

test("the table of built-in descriptors is what the build has", () => {
  const rows = [...read("docs/configuration.md").matchAll(/^\| `(ysearch\.\w+)` \| `([\w.]+)` \|/gm)];
  const documented = rows.map(([, subject = "", message = ""]) => ({ subject, message }));
  const order = (a: { subject: string }, b: { subject: string }) => (a.subject < b.subject ? -1 : 1);
  expect(documented.toSorted(order)).toEqual(
    BUILTIN_DESCRIPTORS.map(({ subject, message }) => ({ subject, message })).toSorted(order),
  );
});

test.each(PAGES)("links of %s lead somewhere", (page) => {
  const links = [...read(page).matchAll(/\]\(([^)#:]+)(?:#([^)]+))?\)/g)];
  for (const [, path = "", anchor] of links) {
    const target = join(page, "..", path);
    expect(existsSync(join(ROOT, target)), target).toBe(true);
    if (anchor === undefined) continue;
    const headings = [...read(target).matchAll(/^#+ (.+)$/gm)].map(([, text = ""]) => text);
    expect(headings.map((text) => text.toLowerCase().replaceAll(" ", "-"))).toContain(anchor);
  }
});
