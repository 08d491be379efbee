import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { freePorts, isPortFree } from "../../local/broker/ports.ts";
import { createTopic, topicBounds } from "../../local/broker/topics.ts";

let folder: string;
const started: ChildProcessWithoutNullStreams[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "ysearch-main-"));
});
afterEach(async () => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  // The broker of a parent that was killed may be writing its last files.
  await rm(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
});

/** Runs `npm run broker` without npm, with temporary folders of its own. */
function run(...args: readonly string[]): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, ["--import", "tsx", "local/broker/main.ts", ...args], {
    env: { ...process.env, TMPDIR: folder, KAFKA_BROKERS: "" },
  });
  child.stderr.resume();
  started.push(child);
  return child;
}

/** The port that it prints when the broker is ready. */
async function portOf(child: ChildProcessWithoutNullStreams): Promise<number> {
  for await (const line of createInterface({ input: child.stdout })) {
    const match = /^KAFKA_BROKERS=127\.0\.0\.1:(\d+)$/.exec(line);
    if (match !== null) return Number(match[1]);
  }
  throw new Error("it ended without an address");
}

function becomesFree(port: number): Promise<void> {
  return vi.waitFor(async () => expect(await isPortFree(port)).toBe(true), { timeout: 15_000, interval: 100 });
}

test("SIGTERM ends it in order; its data folder starts again at the same address with the same topics", async () => {
  const [port = 0] = await freePorts(1);
  const data = join(folder, "data");
  const first = run("--port", String(port), "--data", data);
  expect(await portOf(first)).toBe(port);
  await createTopic([`127.0.0.1:${port}`], { topic: "kept", partitions: 2 });
  first.kill("SIGTERM");
  expect(await once(first, "exit")).toEqual([0, null]);
  expect(await isPortFree(port)).toBe(true);

  const second = run("--data", data);
  expect(await portOf(second)).toBe(port);
  expect(await topicBounds([`127.0.0.1:${port}`], "kept")).toHaveLength(2);
  second.kill("SIGKILL");
  await becomesFree(port);
});

test("a broker does not outlive a parent that was killed, and its temporary folder goes with it", async () => {
  const parent = run();
  const port = await portOf(parent);
  expect(await isPortFree(port)).toBe(false);
  parent.kill("SIGKILL");
  await becomesFree(port);
  const left = async (): Promise<readonly string[]> =>
    (await readdir(folder)).filter((name) => name.startsWith("ysearch-broker-"));
  await vi.waitFor(async () => expect(await left()).toEqual([]), { timeout: 10_000, interval: 100 });
});

test.each([["--prot", "1"], ["--port", "0"], ["--port", "x"], ["extra"]])("refuses %s %s", async (...args) => {
  const child = run(...args);
  let text = "";
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));
  expect((await once(child, "close"))[0]).toBe(1);
  expect(text).toContain("npm run broker [-- --port N]");
  expect(text).not.toContain("    at ");
});
