import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it, vi } from "vitest";
import { bundle, bundledOwner } from "./bundled.ts";
import { digestOf } from "./load.ts";
import { isRunning } from "./owner-pids.ts";
import { type Site, makeSite } from "./support.ts";

/** What the process is at, the kind of message before which it dies, to whom, and the how manieth of them. */
type Step = readonly [
  scenario: "write" | "wiped" | "corrupt" | "void" | "crash",
  kind: string,
  owner: string,
  nth: number,
];

/** A sample; `KV_CRASH_STEPS=all` takes every one. */
const SAMPLE: readonly Step[] = [
  ["write", "write", "b", 3],
  ["wiped", "identify", "c", 1],
  ["corrupt", "spawn", "b", 2],
  ["wiped", "absorb", "b", 1],
  ["void", "identify", "b", 2],
];
const ALL: readonly Step[] = [
  ["write", "write", "a", 5],
  ["write", "write", "b", 5],
  ["write", "write", "c", 5],
  ["wiped", "identify", "a", 1],
  ["wiped", "identify", "c", 1],
  ["wiped", "spawn", "b", 1],
  ["wiped", "identify", "b", 1],
  ["wiped", "digest", "a", 1],
  ["wiped", "scan", "c", 1],
  ["wiped", "absorb", "b", 1],
  ["wiped", "absorb", "b", 2],
  ["wiped", "digest", "b", 2],
  ["wiped", "identify", "b", 2],
  ["void", "identify", "a", 1],
  ["void", "identify", "c", 1],
  ["void", "spawn", "b", 1],
  ["void", "identify", "b", 1],
  ["void", "digest", "b", 1],
  ["void", "digest", "b", 2],
  ["void", "identify", "b", 2],
  ["corrupt", "identify", "a", 1],
  ["corrupt", "spawn", "b", 1],
  ["corrupt", "identify", "a", 2],
  ["corrupt", "spawn", "b", 2],
  ["corrupt", "identify", "b", 1],
  ["corrupt", "identify", "b", 2],
  ["crash", "spawn", "b", 1],
  ["crash", "digest", "b", 1],
  ["crash", "scan", "b", 1],
  ["crash", "absorb", "b", 1],
];
const STEPS = process.env["KV_CRASH_STEPS"] === "all" ? ALL : SAMPLE;

const sites: Site[] = [];
const running = new Set<{ kill(signal: "SIGKILL"): boolean }>();
afterEach(async () => {
  for (const child of running) child.kill("SIGKILL");
  await Promise.all(sites.splice(0).map((site) => site.destroy()));
});

/** Runs `crash-child` until it ends; returns the lines that it reported. */
async function runChild(script: URL, root: string, step: Step, run: number): Promise<readonly string[]> {
  const args = [fileURLToPath(script), root, (await bundledOwner()).href, ...step.map(String), `${run}`];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  running.add(child);
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    // It came through the step without meeting it.
    if (line === "alive" && step[0] !== "write") child.kill("SIGTERM");
  });
  const [, signal]: unknown[] = await once(child, "close");
  running.delete(child);
  expect([step, signal, lines]).toEqual([step, "SIGKILL", lines]);
  return lines;
}

it(`killed at ${STEPS.length} steps, one after the other: nothing acknowledged is lost, and nobody counts too early`, async () => {
  const site = makeSite();
  sites.push(site);
  const script = await bundle(fileURLToPath(new URL("./crash-child.ts", import.meta.url)), "crash-child");
  for (const [run, step] of STEPS.entries()) {
    const lines = await runChild(script, site.root, step, run + 1);
    expect(lines.filter((line) => line.startsWith("wrong"))).toEqual([]);
    expect(lines[0]).toMatch(run === 0 ? /^checked 0 / : /^checked [1-9]\d+ /);
    const pids =
      lines
        .find((line) => line.startsWith("pids "))
        ?.split(" ")
        .slice(1)
        .map(Number) ?? [];
    expect(pids).toHaveLength(3);
    // The next one starts while they end.
    void vi.waitFor(() => expect(pids.filter(isRunning)).toEqual([]), { timeout: 5_000 });
  }
  const plane = await site.open({ limits: { retryInitialMs: 10, retryMaxMs: 50 } });
  await vi.waitFor(() => expect(plane.owners().map(({ state }) => state)).toEqual(["up", "up", "up"]), {
    timeout: 10_000,
  });
  await plane.compareOwners();
  await plane.close();
  const [a, b, c] = await Promise.all(site.directories.map((directory) => digestOf(directory)));
  expect(b).toEqual(a);
  expect(c).toEqual(a);
  expect(readdirSync(site.directories[1]).filter((name) => name.startsWith("set-aside"))).toEqual([]);
}, 300_000);
