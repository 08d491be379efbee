import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { afterEach, beforeEach, expect, test } from "vitest";

import { useBroker } from "../support/broker.ts";

let folder: string;
let child: ChildProcessWithoutNullStreams | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "ysearch-demo-test-"));
});
afterEach(async () => {
  child?.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

/** Runs `npm run demo` without npm on the shared broker, until it wrote a line that matches. Returns the lines. */
async function demoUntil(pattern: RegExp): Promise<readonly string[]> {
  child = spawn(process.execPath, ["--import", "tsx", "local/demo/main.ts"], {
    env: { ...process.env, TMPDIR: folder, KAFKA_BROKERS: useBroker().join(",") },
  });
  child.stderr.resume();
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (pattern.test(line)) return lines;
  }
  throw new Error(`it ended: ${lines.join("\n")}`);
}

/** What the demo left; tsx keeps a cache beside it. */
const left = async () => (await readdir(folder)).filter((name) => name.startsWith("ysearch-"));

test.each(["SIGHUP", "SIGTERM"] as const)(
  "%s after its terminal was closed: it ends in order and leaves nothing",
  async (signal) => {
    const lines = await demoUntil(/Ctrl-C stops all of it/);
    expect(lines.join("\n")).toMatch(
      /dead letters: one so far.*\n +npm run topic -- read articles-\w+\.dlq --brokers \S+:\d+/,
    );
    expect(await left()).toHaveLength(1);
    child?.stdout.destroy();
    child?.stderr.destroy();
    child?.kill(signal);
    expect(await once(child as ChildProcessWithoutNullStreams, "exit")).toEqual([0, null]);
    expect(await left()).toEqual([]);
  },
);
