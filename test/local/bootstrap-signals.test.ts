import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { ROOT } from "../tidy/files.ts";

/** Stands in for the service: notes each signal, and ends with 0 a moment after the first, as a drain does. */
const SERVICE = `
import { appendFileSync } from "node:fs";
const note = (line) => appendFileSync("events", line + "\\n");
let draining = false;
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {
  note(signal);
  if (draining) return;
  draining = true;
  setTimeout(() => { note("drained"); process.exit(0); }, 500);
});
setInterval(() => {}, 1000);
note("pid " + process.pid);
`;

let folder: string;
let npm: ChildProcess | undefined;

/** A checkout with the real scripts and bootstrap, in which everything that takes long is a stand-in. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ysearch-signals-"));
  for (const path of ["local", "src", "routes", "consumers", "node_modules/typescript/bin", "dist/src"])
    mkdirSync(join(folder, path), { recursive: true });
  for (const path of ["local/bootstrap.mjs", "local/bootstrap-plan.mjs"])
    copyFileSync(join(ROOT, path), join(folder, path));
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: object };
  const files = {
    "package.json": JSON.stringify({ name: "stand-in", version: "0.0.0", type: "module", scripts }),
    "package-lock.json": JSON.stringify({ packages: {} }),
    "node_modules/.package-lock.json": JSON.stringify({ packages: {} }),
    "node_modules/typescript/bin/tsc": "",
    "tsconfig.json": "{}",
    "tsconfig.build.json": "{}",
    "dist/src/main.js": SERVICE,
  };
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
});

afterEach(() => {
  const pid = existsSync(join(folder, "events")) ? servicePid() : undefined;
  for (const left of [npm?.pid, pid]) if (left !== undefined && isRunning(left)) process.kill(left, "SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const events = () => readFileSync(join(folder, "events"), "utf8").trimEnd().split("\n");
const servicePid = () => Number(events()[0]?.slice("pid ".length));

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** `npm start` as a process manager runs it: without a terminal, in a group of its own. Returns npm's pid. */
async function start(): Promise<number> {
  const { npm_lifecycle_event: _ours, ...env } = process.env;
  npm = spawn("npm", ["start"], { cwd: folder, env, stdio: "ignore", detached: true });
  await vi.waitFor(() => expect(servicePid()).toBeGreaterThan(1), { timeout: 15_000, interval: 50 });
  return npm.pid ?? 0;
}

const isDrained = () =>
  vi.waitFor(
    () =>
      expect({ last: events().at(-1), running: isRunning(servicePid()) }).toEqual({ last: "drained", running: false }),
    { timeout: 10_000, interval: 50 },
  );

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s to npm alone drains what it runs, and npm ends with its code",
  async (signal) => {
    const pid = await start();
    const ended = once(npm as ChildProcess, "exit");
    process.kill(pid, signal);
    expect(await ended).toEqual([0, null]);
    await isDrained();
  },
);

test.each(["SIGHUP", "SIGKILL"] as const)(
  "%s to npm alone, which it cannot pass on, drains what it runs",
  async (signal) => {
    process.kill(await start(), signal);
    await isDrained();
  },
);

test("Ctrl-C twice, to the whole group and passed on as well: one drain, exit code 0", async () => {
  const pid = await start();
  const ended = once(npm as ChildProcess, "exit");
  process.kill(-pid, "SIGINT");
  await delay(50);
  process.kill(-pid, "SIGINT");
  expect(await ended).toEqual([0, null]);
  await isDrained();
  expect(events().filter((line) => line === "SIGINT").length).toBeGreaterThan(1);
});
