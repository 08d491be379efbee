import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import type { JarSet } from "../../local/broker/jars.ts";
import { areJarsCached, fetchJars } from "../../local/broker/jars.ts";
import type { CommandResult } from "../../local/process/command.ts";

const SET: JarSet = { name: "set-1", artifacts: ["g:a:1"], witness: "a-1.jar" };
const DONE: CommandResult = { code: 0, stdout: "", output: "", failure: undefined };

let cacheDirectory: string;
beforeEach(async () => {
  cacheDirectory = await mkdtemp(join(tmpdir(), "ysearch-jars-"));
});
afterEach(() => rm(cacheDirectory, { recursive: true }));

/** A Maven that writes the witness with `content` into the folder that it is told. */
async function maven(args: readonly string[], content: string): Promise<CommandResult> {
  const lib = outputOf(args);
  await mkdir(lib);
  await writeFile(join(lib, SET.witness), content);
  return DONE;
}

function outputOf(args: readonly string[]): string {
  const prefix = "-DoutputDirectory=";
  return args.find((arg) => arg.startsWith(prefix))?.slice(prefix.length) ?? "";
}

test("a set is fetched once", async () => {
  let runs = 0;
  const run = (_: string, args: readonly string[]): Promise<CommandResult> => maven(args, `run ${(runs += 1)}`);
  const first = await fetchJars(SET, { cacheDirectory, run });
  expect(await fetchJars(SET, { cacheDirectory, run })).toBe(first);
  expect(runs).toBe(1);
  expect(await readdir(cacheDirectory)).toEqual([SET.name]);
});

test("Maven is asked for what the set names", async () => {
  let pom = "";
  await fetchJars(SET, {
    cacheDirectory,
    run: async (command, args) => {
      expect(command).toBe("mvn");
      pom = await readFile(join(dirname(outputOf(args)), "pom.xml"), "utf8");
      return maven(args, "");
    },
  });
  expect(pom).toContain("<groupId>g</groupId><artifactId>a</artifactId><version>1</version>");
});

test("of two that fetch at once, both get the first one's set, and nothing is left over", async () => {
  let first = "";
  const second = await fetchJars(SET, {
    cacheDirectory,
    run: async (_, args) => {
      first = await fetchJars(SET, { cacheDirectory, run: (__, others) => maven(others, "first") });
      return maven(args, "second");
    },
  });
  expect(second).toBe(first);
  expect(await readFile(join(first, SET.witness), "utf8")).toBe("first");
  expect(await readdir(cacheDirectory)).toEqual([SET.name]);
});

test("a fetch that fails leaves nothing that looks like a set, and tells Maven's last lines", async () => {
  const run = async (_: string, args: readonly string[]): Promise<CommandResult> => {
    await mkdir(outputOf(args));
    return { ...DONE, code: 1, output: "line\n[ERROR] could not transfer" };
  };
  await expect(fetchJars(SET, { cacheDirectory, run })).rejects.toThrow(/mvn ended with code 1[^]*could not transfer/);
  expect(await readdir(cacheDirectory)).toEqual([]);
});

test("a Maven that says it is done without the jar is a failure", async () => {
  await expect(fetchJars(SET, { cacheDirectory, run: async () => DONE })).rejects.toThrow(/could not be fetched/);
});

test("what has the name without being whole is replaced", async () => {
  await mkdir(join(cacheDirectory, SET.name, "lib"), { recursive: true });
  await writeFile(join(cacheDirectory, SET.name, "lib", "other.jar"), "");
  expect(await areJarsCached(SET, cacheDirectory)).toBe(false);
  await fetchJars(SET, { cacheDirectory, run: (_, args) => maven(args, "whole") });
  expect(await areJarsCached(SET, cacheDirectory)).toBe(true);
});
