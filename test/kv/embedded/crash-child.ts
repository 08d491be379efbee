import { appendFileSync, existsSync, readFileSync, readdirSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { EmbeddedPlane } from "../../../src/kv/embedded/plane.ts";
import type { ToOwner } from "../../../src/kv/embedded/protocol.ts";
import { type CellWrite, KvFault } from "../../../src/ports/kv-plane.ts";
import { spawnFrom } from "./bundled.ts";
import { ownerPids } from "./owner-pids.ts";
import { siteAt, text } from "./support.ts";
import { Tamper } from "./tamper.ts";

/**
 * A process that takes over a site as the last one left it, checks what that one acknowledged, and kills itself at one step
 * of what it then does. Arguments: the folder of the site, the bundled owner, the scenario, the kind of message (or `spawn`),
 * the owner, and before which of those messages it dies; then the number of the run. Reports on stdout, one line each.
 */
const [root = "", worker = "", scenario, kind, target, nth, run] = process.argv.slice(2);
/** Keys that every write has; keys of the first run alone; and keys that take turns, so that who misses a write lacks it. */
const HOT = 20;
const COLD = 60;
const TURNS = 500;
const ACKS = join(root, "acknowledged");
const LIMITS = { retryInitialMs: 10, retryMaxMs: 50, compareSoonMs: 3_600_000 };

function report(line: string): void {
  writeSync(1, `${line}\n`);
}

function cell(key: number, order: number): CellWrite {
  return { space: "slot", key: text(`key-${key}`), order, bytes: text(`${key} at ${order}`) };
}

/** Dies at the step that was asked for. */
class Death {
  #armed = false;
  #seen = 0;

  arm(): void {
    this.#armed = true;
  }

  at(step: ToOwner["kind"] | "spawn", owner: string): void {
    if (!this.#armed || step !== kind || owner !== target) return;
    this.#seen += 1;
    if (this.#seen === Number(nth)) process.kill(process.pid, "SIGKILL");
  }
}

/** Every acknowledged write is where every read that may be answered meets it. */
async function checkAcknowledged(plane: EmbeddedPlane): Promise<void> {
  const lines = existsSync(ACKS) ? readFileSync(ACKS, "utf8").trimEnd().split("\n") : [];
  const least = new Map(lines.map((line) => line.split(" ").map(Number)).map(([key = 0, order = 0]) => [key, order]));
  const up = plane.owners().filter(({ state }) => state === "up").length;
  for (const [key, order] of least) {
    const answers = await plane.inspect(cell(key, 0));
    const holders = answers.filter((answer) => (answer.cell?.order ?? 0) >= order).length;
    if (holders < up - 1) report(`wrong: key ${key} at ${order} is held by ${holders} of ${up}`);
    const whole = answers.every(
      ({ cell: held }) => !held || text(`${key} at ${held.order}`).join() === held.bytes.join(),
    );
    if (!whole) report(`wrong: key ${key} has foreign bytes`);
  }
  report(`checked ${least.size} with ${up} owners up`);
}

/** Brings every owner up, with a repair where one is lost. */
async function untilWhole(plane: EmbeddedPlane): Promise<void> {
  while (plane.owners().some(({ state }) => state !== "up")) {
    const lost = plane.owners().find(({ state, reason }) => state === "lost" || reason?.code === "OWNER_CORRUPT");
    // Refused while it is being looked at.
    if (lost !== undefined) await plane.repair(lost.owner, false).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function writeOn(plane: EmbeddedPlane): Promise<void> {
  let keys = Number(run) === 1 ? HOT + COLD : HOT;
  for (let order = Number(run) * 1_000_000; ; order += 1) {
    const turn = HOT + COLD + (order % TURNS);
    const written = [...Array.from({ length: keys }, (_, key) => key), turn];
    try {
      await plane.write(written.map((key) => cell(key, order)));
      appendFileSync(ACKS, written.map((key) => `${key} ${order}\n`).join(""));
      keys = HOT;
    } catch (error) {
      if (!(error instanceof KvFault)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

async function main(): Promise<void> {
  const tamper = new Tamper(spawnFrom(new URL(worker)));
  const death = new Death();
  tamper.onSend = (owner, message) => death.at(message.kind, owner);
  const site = siteAt(root);
  const plane = await site.open({
    limits: LIMITS,
    spawn: (setup, events) => {
      death.at("spawn", setup.owner);
      return tamper.spawn(setup, events);
    },
  });
  await checkAcknowledged(plane);
  await untilWhole(plane);
  report(`pids ${site.directories.flatMap((directory) => ownerPids(directory)).join(" ")}`);
  const writing = writeOn(plane);
  await new Promise((resolve) => setTimeout(resolve, 50));
  death.arm();
  const b = site.directories[1];
  if (scenario === "wiped") {
    for (const name of readdirSync(b).filter((file) => file.endsWith(".mdb"))) rmSync(join(b, name));
    while (plane.owners()[1]?.state !== "lost") await new Promise((resolve) => setTimeout(resolve, 2));
  }
  if (scenario === "void") tamper.fail("b", { code: "OWNER_IO", text: "Input/output error" });
  if (scenario === "corrupt") tamper.fail("b", { code: "OWNER_CORRUPT", text: "a cell fails its checksum" });
  if (scenario === "crash") tamper.crash("b");
  await untilWhole(plane);
  if (scenario === "crash") await plane.compareOwners();
  report("alive");
  await writing;
}

await main();
