// Makes a fresh clone able to run a task: checks Node, installs the packages, builds, runs the task and returns its exit
// code. Plain JavaScript without packages. The package scripts call it: node local/bootstrap.mjs TASK [ARGUMENT…]

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { closingLine, isInstalled, nodeObstacle, planTask } from "./bootstrap-plan.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const BUILD_STAMP = join(ROOT, "dist", ".built");
const BUILD_INPUTS = ["src", "routes", "consumers"];

function say(line) {
  process.stderr.write(`[ysearch-streams] ${line}\n`);
}

/** Pid of the npm that runs us, if one does. */
const NPM = process.env.npm_lifecycle_event === undefined ? undefined : process.ppid;
const PARENT_TURN_MS = 250;

/** Calls `then` once when npm is gone without having passed a signal on: killed, or ended by its terminal. */
function whenOrphaned(then) {
  if (NPM === undefined) return () => {};
  const turn = setInterval(() => {
    if (process.ppid === NPM) return;
    clearInterval(turn);
    then();
  }, PARENT_TURN_MS);
  return () => clearInterval(turn);
}

/**
 * Runs a command in the checkout with our terminal, passes signals on, and returns its exit code. It ends with npm. A
 * terminal sends Ctrl-C to the child as well: `endsAtTwo` tells that the child takes the second one for "at once".
 */
function run(command, args, { environment = {}, endsAtTwo = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: "inherit", env: { ...process.env, ...environment } });
    const pass = (signal) => {
      if (signal !== "SIGINT" || !endsAtTwo || !process.stdin.isTTY) child.kill(signal);
    };
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
    for (const signal of signals) process.on(signal, pass);
    const forget = whenOrphaned(() => pass("SIGTERM"));
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      forget();
      for (const name of signals) process.off(name, pass);
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT" || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function install() {
  const lock = readJson(join(ROOT, "package-lock.json"));
  if (isInstalled(lock, readJson(join(ROOT, "node_modules", ".package-lock.json")))) return 0;
  say("installing the packages with npm ci (about half a minute, once) …");
  const npm = process.env.npm_execpath;
  return npm?.endsWith(".js") ? run(process.execPath, [npm, "ci"]) : run("npm", ["ci"]);
}

function sourceDigest() {
  const hash = createHash("sha256").update(process.version);
  const files = BUILD_INPUTS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name)),
  ).toSorted((left, right) => (left < right ? -1 : 1));
  for (const file of [...files, ...["tsconfig.json", "tsconfig.build.json"].map((name) => join(ROOT, name))]) {
    hash.update(`\0${file}\0`).update(readFileSync(file));
  }
  return hash.digest("hex");
}

async function build() {
  const digest = sourceDigest();
  let built;
  try {
    built = readFileSync(BUILD_STAMP, "utf8");
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
  if (built === digest) return 0;
  say("building …");
  const code = await run(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"]);
  if (code === 0) writeFileSync(BUILD_STAMP, digest);
  return code;
}

/** Runs the tests and closes with the count, so that it is the last line whatever else was written. */
async function runTests(command) {
  const folder = mkdtempSync(join(tmpdir(), "ysearch-count-"));
  try {
    const file = join(folder, "count.json");
    const code = await run(process.execPath, command, { environment: { YSEARCH_TEST_COUNT: file }, endsAtTwo: true });
    const { line, ran } = closingLine(readJson(file));
    if (!ran) say("no test ran, which is a failure");
    process.stdout.write(`${line}\n`);
    return code === 0 && !ran ? 1 : code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main([name, ...args]) {
  const obstacle = nodeObstacle(process.versions.node);
  if (obstacle !== undefined) {
    say(obstacle);
    return 1;
  }
  const task = planTask(name, args);
  if (typeof task === "string") {
    say(task);
    return 2;
  }
  const before = [
    install,
    ...(task.build ? [build] : []),
    ...(task.check ? [() => run("npm", ["run", "--silent", "check"])] : []),
  ];
  for (const step of before) {
    const code = await step();
    if (code !== 0) return code;
  }
  return task.countsTests ? runTests(task.command) : run(process.execPath, task.command);
}

// A terminal that was closed takes no more lines; what runs must end in order all the same.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
process.exitCode = await main(process.argv.slice(2));
