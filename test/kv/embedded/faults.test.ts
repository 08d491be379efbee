import { cpSync, mkdirSync, renameSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { lockDirectory } from "../../../src/kv/embedded/directory-lock.ts";
import { Environment } from "../../../src/kv/embedded/environment.ts";
import { DATA_FILE } from "../../../src/kv/embedded/store-file.ts";
import { empty, fill, flip, wipe } from "./damage.ts";
import { ownerOf, reasonOf } from "./load.ts";
import { anonymousBytes, isRunning } from "./owner-pids.ts";
import { NAMES, type Scene, WAIT, atEnd, endScenes, newScene } from "./scene.ts";
import { SmallDisks, noDisks } from "./small-disks.ts";
import { MIB } from "./support.ts";

afterEach(endScenes);

/** What may wait for an owner, and as much garbage again as a collector may leave lying on a busy machine. */
const QUEUES_AND_GARBAGE = 256 * MIB;
const STALL_MS = 2_000;
const HEAVY = { keys: 400, batch: 20, bytes: 20_000, writers: 4 };

/** A site whose directories are filled and closed, with what may be put in the place of b's. */
async function withSpares(): Promise<{ readonly scene: Scene; readonly spare: (name: string) => string }> {
  const scene = await newScene();
  const spare = (name: string): string => join(scene.site.root, `spare-${name}`);
  await scene.open();
  scene.load.start();
  await scene.load.passes(20);
  await scene.load.stop();
  await scene.plane.close();
  for (const name of ["older", "newer", "used"]) cpSync(scene.directory("b"), spare(name), { recursive: true });
  cpSync(scene.directory("c"), spare("swapped"), { recursive: true });
  cpSync(scene.directory("b"), spare("foreign"), { recursive: true });
  await rewriteIdentity(spare("newer"), { format: 9 });
  await rewriteIdentity(spare("foreign"), { deployment: "another" });
  await scene.open();
  scene.load.start();
  return { scene, spare };
}

async function rewriteIdentity(directory: string, change: { format?: number; deployment?: string }): Promise<void> {
  const environment = new Environment(directory, MIB);
  const identity = environment.identity();
  if (identity !== undefined) environment.identify({ ...identity, ...change });
  await environment.close();
}

/** Waits for b to be down for each of these in turn, with what is put in its place, and to be back with its own. */
const REPLACEMENTS = [
  [undefined, "OWNER_DIRECTORY"],
  ["swapped", "OWNER_SWAPPED"],
  ["foreign", "OWNER_FOREIGN"],
  ["newer", "OWNER_FORMAT"],
  ["used", "OWNER_IN_USE"],
] as const;

describe("a directory, under load", () => {
  // Once in some ten runs it did not end within a minute, for a reason that is not known; it ends within 20 s otherwise.
  const once = { retry: 1, timeout: 60_000 };
  it("keeps its owner down while it is away or foreign, loses it when empty, merges it when older", once, async () => {
    const { scene, spare } = await withSpares();
    const b = scene.directory("b");
    const before = ownerOf(scene.plane, "b").incarnation;
    const lock = await lockDirectory(spare("used"));
    atEnd(() => lock.release());
    renameSync(b, spare("kept"));
    for (const [name, code] of REPLACEMENTS) {
      if (name !== undefined) renameSync(spare(name), b);
      await scene.untilDown("b", code);
      if (name === undefined) continue;
      await expect(scene.plane.repair("b", false)).rejects.toMatchObject({ code: "KV_REPAIR_REFUSED" });
      renameSync(b, spare(name));
    }
    mkdirSync(b);
    await scene.untilDown("b", "OWNER_EMPTY");
    expect(ownerOf(scene.plane, "b").state).toBe("lost");
    rmSync(b, { recursive: true });
    renameSync(spare("kept"), b);
    expect(await scene.untilUp("b")).toBe(before);
    renameSync(b, spare("newest"));
    renameSync(spare("older"), b);
    await vi.waitFor(() => expect(ownerOf(scene.plane, "b").incarnation).not.toBe(before), WAIT);
    await scene.untilUp("b");
    expect(scene.tamper.answers("b", "absorbed")).toBeGreaterThan(0);
    wipe(b);
    await scene.untilDown("b", "OWNER_EMPTY");
    await scene.repaired("b");
    await scene.finish();
  });
});

describe("an owner's process, under load", () => {
  it("that is killed again and again, or frozen, comes back as it was and takes nobody along", async () => {
    const scene = await newScene(HEAVY);
    await scene.open();
    scene.load.start();
    await scene.load.passes(20);
    const before = NAMES.map((name) => ownerOf(scene.plane, name).incarnation);
    for (const name of ["b", "c", "b", "b"] as const) {
      process.kill(scene.pid(name) ?? 0, "SIGKILL");
      await vi.waitFor(() => expect(reasonOf(scene.plane, name)).toBe("OWNER_CRASHED"), WAIT);
      await scene.untilUp(name);
    }
    const frozen = scene.pid("b") ?? 0;
    const memory = anonymousBytes(process.pid);
    process.kill(frozen, "SIGSTOP");
    await scene.untilDown("b", "OWNER_BEHIND");
    expect(anonymousBytes(process.pid) - memory).toBeLessThan(QUEUES_AND_GARBAGE);
    await vi.waitFor(() => expect(isRunning(frozen)).toBe(false), WAIT);
    await scene.untilUp("b");
    expect(scene.load.refused).toBe(0);
    await scene.load.stop();
    process.kill(scene.pid("a") ?? 0, "SIGSTOP");
    await scene.load.verify();
    await vi.waitFor(() => expect(reasonOf(scene.plane, "a")).toBe("OWNER_STALLED"), WAIT);
    scene.load.start();
    await scene.untilUp("a");
    expect(NAMES.map((name) => ownerOf(scene.plane, name).incarnation)).toEqual(before);
    await scene.finish();
  }, 60_000);
});

describe("one owner left", () => {
  it("refuses everything at once, in bounded memory, and goes on by itself", async () => {
    const scene = await newScene(HEAVY);
    await scene.open();
    scene.load.start();
    await scene.load.passes(20);
    const memory = anonymousBytes(process.pid);
    for (const name of ["b", "c"] as const) renameSync(scene.directory(name), `${scene.directory(name)}.away`);
    await vi.waitFor(() => expect(scene.load.refused).toBeGreaterThan(200), WAIT);
    const started = performance.now();
    await expect(scene.plane.control.read("n")).rejects.toMatchObject({ code: "KV_NO_QUORUM" });
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(anonymousBytes(process.pid) - memory).toBeLessThan(QUEUES_AND_GARBAGE);
    for (const name of ["c", "b"] as const) renameSync(`${scene.directory(name)}.away`, scene.directory(name));
    await scene.untilUp("b");
    await scene.untilUp("c");
    await scene.finish();
  }, 60_000);
});

describe("two owners frozen at once", () => {
  it("hold writers up to the stall limit, are then named, and are replaced without anybody's help", async () => {
    const scene = await newScene(HEAVY);
    await scene.open({ stallMs: STALL_MS, retryInitialMs: 1_000, retryMaxMs: 1_000 });
    scene.load.start();
    await scene.load.passes(20);
    const before = NAMES.map((name) => ownerOf(scene.plane, name).incarnation);
    const frozen = [scene.pid("b") ?? 0, scene.pid("c") ?? 0];
    const memory = anonymousBytes(process.pid);
    for (const pid of frozen) process.kill(pid, "SIGSTOP");
    const started = performance.now();
    const cell = { space: "slot" as const, key: Buffer.from("waits"), order: 1, bytes: Buffer.from("1") };
    await expect(scene.plane.write([cell])).rejects.toMatchObject({ code: "KV_NO_QUORUM" });
    expect(performance.now() - started).toBeLessThan(2 * STALL_MS);
    await vi.waitFor(() => {
      for (const name of ["b", "c"]) expect(reasonOf(scene.plane, name)).toBe("OWNER_STALLED");
    }, WAIT);
    const refusing = performance.now();
    const named = expect.stringMatching(/not up: b OWNER_STALLED, c OWNER_STALLED$/);
    await expect(scene.plane.write([cell])).rejects.toMatchObject({ code: "KV_NO_QUORUM", message: named });
    expect(performance.now() - refusing).toBeLessThan(STALL_MS / 2);
    expect(anonymousBytes(process.pid) - memory).toBeLessThan(QUEUES_AND_GARBAGE);
    for (const name of ["b", "c"] as const) await scene.untilUp(name);
    expect(frozen.filter(isRunning)).toEqual([]);
    expect(NAMES.map((name) => ownerOf(scene.plane, name).incarnation)).toEqual(before);
    expect(scene.load.refused).toBeGreaterThan(0);
    await scene.plane.write([cell]);
    await scene.finish();
  }, 60_000);
});

describe("an owner that is slow by seconds, under load", () => {
  it("is taken down as behind, costs the writers no more than that, and returns as it was once it is quick", async () => {
    const scene = await newScene(HEAVY);
    await scene.open();
    scene.load.start();
    await scene.load.passes(20);
    const before = ownerOf(scene.plane, "b").incarnation;
    const memory = anonymousBytes(process.pid);
    let slow = true;
    scene.tamper.delayMs = (owner) => (slow && owner === "b" ? 2_000 : 0);
    await scene.untilDown("b", "OWNER_BEHIND", "OWNER_STALLED");
    expect(scene.load.refused).toBe(0);
    expect(anonymousBytes(process.pid) - memory).toBeLessThan(QUEUES_AND_GARBAGE);
    slow = false;
    expect(await scene.untilUp("b")).toBe(before);
    await scene.finish();
  }, 60_000);
});

describe("a map at its limit, under load", () => {
  it("grows by itself, without a refusal and with nobody down", async () => {
    const scene = await newScene({ keys: 2_000, batch: 20, bytes: 4_000 });
    await scene.open({ mapSizeBytes: MIB });
    const down: string[] = [];
    scene.plane.onChange(() => down.push(...NAMES.map((name) => reasonOf(scene.plane, name))));
    scene.load.start();
    await vi.waitFor(() => {
      for (const name of NAMES) expect(ownerOf(scene.plane, name).storedBytes).toBeGreaterThan(6 * MIB);
    }, WAIT);
    expect(down.filter((reason) => reason !== "up")).toEqual([]);
    expect(scene.load.refused).toBe(0);
    await scene.finish();
  }, 60_000);
});

const DAMAGED = ["OWNER_CORRUPT"] as const;

describe("damage to a file, under load", () => {
  it("ends its owner alone, is never taken for data, and waits for a repair", async () => {
    const scene = await newScene();
    await scene.open();
    scene.load.start();
    await scene.load.passes(20);
    const pids = [scene.pid("a"), scene.pid("c")];
    const file = join(scene.directory("b"), DATA_FILE);
    for (const damage of [
      () => truncateSync(file, 3 * 4_096),
      () => flip(scene.directory("b"), 2),
      () => flip(scene.directory("b")),
    ]) {
      damage();
      const comparing = scene.plane.compareOwners();
      // Nothing may need the damaged part as long as the process lives: the next one looks.
      const pid = scene.pid("b");
      if (pid !== undefined) setTimeout(() => kill(pid), 1_000).unref();
      await scene.untilDown("b", ...DAMAGED);
      await comparing;
      expect([scene.pid("a"), scene.pid("c")]).toEqual(pids);
      await scene.repaired("b");
    }
    await scene.finish();
  }, 60_000);

  it("before the start is found, whatever it hit", async () => {
    const { scene } = await withSpares();
    await scene.load.stop();
    await scene.plane.close();
    flip(scene.directory("b"), 2);
    await scene.open();
    scene.load.start();
    await scene.plane.compareOwners();
    await scene.untilDown("b", ...DAMAGED);
    await scene.repaired("b");
    await scene.finish();
  }, 60_000);
});

describe("a disk, under load", () => {
  if (noDisks !== undefined) process.stderr.write(`skipped: ${noDisks}\n`);

  it.skipIf(noDisks !== undefined)(
    "that is full, then read-only, keeps its owner down as long as it is",
    async () => {
      const disks = new SmallDisks();
      atEnd(() => disks.close());
      const shape = await newScene();
      mkdirSync(join(shape.site.root, "b"));
      const mounted = await disks.mount(shape.site.root, 24);
      const scene = await newScene(undefined, {
        directories: [shape.site.directories[0], join(mounted, "b"), shape.site.directories[2]],
      });
      await scene.open();
      scene.load.start();
      await scene.load.passes(20);
      const before = ownerOf(scene.plane, "b").incarnation;
      fill(scene.directory("b"));
      await scene.untilDown("b", "OWNER_DISK_FULL");
      await disks.run(`until mount -o remount,ro '${shape.site.root}' 2>/dev/null; do :; done`);
      await scene.untilDown("b", "OWNER_READ_ONLY");
      await disks.run(`mount -o remount,rw '${shape.site.root}'`);
      empty(scene.directory("b"));
      expect(await scene.untilUp("b")).toBe(before);
      await scene.finish();
    },
    60_000,
  );
});

function kill(pid: number): void {
  if (isRunning(pid)) process.kill(pid, "SIGKILL");
}
