import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadConfig, readBounded, rereadSources } from "../../src/config/index.ts";

let cwd: string;
let file: string;
let warned: string[];

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "ysearch-reread-"));
  file = join(cwd, "streams.yaml");
  warned = [];
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const write = (topic: string, into = file) =>
  writeFileSync(into, `sources: [{ name: a, kind: documents, topic: ${topic} }]`);

/** Topics of the file's sources at each call. */
function opened(env: Record<string, string> = {}): () => readonly string[] {
  const inputs = { env, cwd, readFile: readBounded };
  const read = rereadSources(loadConfig(inputs), inputs, (text) => warned.push(text));
  return () => read().map(({ topic }) => topic);
}

test("an edited and an exchanged file show, an untouched one is not read again", () => {
  write("first");
  const topics = opened();
  expect(topics()).toEqual(["first"]);
  write("second");
  expect(topics()).toEqual(["second"]);
  write("third!".slice(0, 5), join(cwd, "next"));
  renameSync(join(cwd, "next"), file);
  expect(topics()).toEqual(["third"]);
  expect(warned).toEqual([]);
});

test("while it is invalid or gone the last valid sources stand, and each state is told once", () => {
  write("first");
  const topics = opened();
  writeFileSync(file, "sources: [");
  expect([topics(), topics()]).toEqual([["first"], ["first"]]);
  expect(warned).toHaveLength(1);
  rmSync(file);
  expect([topics(), topics()]).toEqual([["first"], ["first"]]);
  expect(warned).toHaveLength(2);
  expect(warned[1]).toMatch(/what the configuration file said before: .*ENOENT/);
  write("second");
  expect(topics()).toEqual(["second"]);
});

test("without a file there is nothing to read again", () => {
  expect(opened()()).toEqual([]);
});
