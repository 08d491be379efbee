import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, vi } from "vitest";
import { empty, fill, flip, wipe } from "./damage.ts";
import { type LoadOptions, ownerOf, reasonOf } from "./load.ts";
import { anonymousBytes, isRunning } from "./owner-pids.ts";
import { type Name, NAMES, type Scene, WAIT, atEnd, newScene } from "./scene.ts";
import { SmallDisks, noDisks } from "./small-disks.ts";

/** What happens to an owner. */
export type Fault = "full" | "wiped" | "corrupted" | "frozen" | "killed";

/** A disk of each owner. */
const DISK_MIB = 96;
const SAMPLE_MS = 100;
const CELL = { batch: 4, bytes: 300 };

export interface RunOptions {
  /** Writes to be acknowledged altogether. */
  readonly writes: number;
  readonly keys: number;
  /** Writes under way at a time. */
  readonly writers: number;
  readonly faults: readonly (readonly [Name, Fault])[];
}

export interface RunFigures {
  readonly writes: number;
  readonly cells: number;
  readonly reads: number;
  readonly refused: number;
  readonly faults: number;
  readonly repairs: number;
  readonly fullDisks: boolean;
  readonly writesPerSecond: number;
  readonly downMsMax: number;
  /** Of this process, the test and the bundler included: at the start, and the most in the first half and in all. */
  readonly mainRssAnonMiBAtStart: number;
  readonly mainRssAnonMiBFirstHalf: number;
  readonly mainRssAnonMiBMax: number;
  readonly ownerRssAnonMiBMax: number;
  readonly equal: true;
}

/**
 * Writes without a pause while one owner after the other fails and is healed; at the end nothing acknowledged is missing and
 * the three stores are the same, byte for byte.
 */
export async function runOwners({ writes, faults, keys, writers }: RunOptions): Promise<RunFigures> {
  const scene = await sceneOnDisks({ ...CELL, keys, writers });
  scene.tamper.recording = false;
  await scene.open({ pendingBytes: 4 * 1024 * 1024, commitBytes: 1024 * 1024 });
  const atStart = mib(anonymousBytes(process.pid));
  const memory = watchMemory(scene);
  const started = performance.now();
  scene.load.start();
  let repairs = 0;
  let downMsMax = 0;
  for (const [number, [name, fault]] of faults.entries()) {
    // The first half of each stretch with three owners, the second with two.
    await scene.load.reaches(Math.floor(((number + 0.5) / faults.length) * writes));
    const failed = performance.now();
    await harm(scene, name, fault);
    if (number === Math.floor(faults.length / 2)) memory.half();
    if (fault !== "killed") await scene.load.reaches(Math.floor(((number + 0.9) / faults.length) * writes));
    repairs += Number(await heal(scene, name, fault));
    downMsMax = Math.max(downMsMax, performance.now() - failed);
  }
  await scene.load.reaches(writes);
  const { firstHalf, main, owner } = memory.end();
  const seconds = (performance.now() - started) / 1_000;
  await scene.finish();
  const { load } = scene;
  return {
    writes: load.writes,
    cells: load.writes * CELL.batch,
    reads: load.reads,
    refused: load.refused,
    faults: faults.length,
    repairs,
    fullDisks: noDisks === undefined,
    writesPerSecond: Math.round(load.writes / seconds),
    downMsMax: Math.round(downMsMax),
    mainRssAnonMiBAtStart: atStart,
    mainRssAnonMiBFirstHalf: firstHalf,
    mainRssAnonMiBMax: main,
    ownerRssAnonMiBMax: owner,
    equal: true,
  };
}

async function sceneOnDisks(load: LoadOptions): Promise<Scene> {
  if (noDisks !== undefined) return await newScene(load);
  const disks = new SmallDisks();
  atEnd(() => disks.close());
  const { site } = await newScene();
  const mount = async (directory: string): Promise<string> => {
    mkdirSync(directory);
    return join(await disks.mount(directory, DISK_MIB), "data");
  };
  const [a, b, c] = site.directories;
  const directories = [await mount(a), await mount(b), await mount(c)] as const;
  // As this process sees the paths, to tell whether two are the same.
  for (const directory of site.directories) mkdirSync(join(directory, "data"));
  return await newScene(load, { directories });
}

async function harm(scene: Scene, name: Name, fault: Fault): Promise<void> {
  const directory = scene.directory(name);
  const pid = scene.pid(name) ?? 0;
  switch (fault) {
    case "full":
      fill(directory);
      return await scene.untilDown(name, "OWNER_DISK_FULL");
    case "wiped":
      wipe(directory);
      return await scene.untilDown(name, "OWNER_EMPTY");
    case "corrupted":
      flip(directory);
      return await scene.untilDown(name, "OWNER_CORRUPT");
    case "frozen":
      process.kill(pid, "SIGSTOP");
      await vi.waitFor(() => expect(isRunning(pid)).toBe(false), WAIT);
      return;
    case "killed":
      process.kill(pid, "SIGKILL");
      await vi.waitFor(() => expect(reasonOf(scene.plane, name)).toBe("OWNER_CRASHED"), WAIT);
  }
}

/** Returns whether a repair was needed. */
async function heal(scene: Scene, name: Name, fault: Fault): Promise<boolean> {
  if (fault === "full") empty(scene.directory(name));
  const before = ownerOf(scene.plane, name).incarnation;
  const needsRepair = fault === "wiped" || fault === "corrupted";
  if (needsRepair) await scene.repaired(name);
  else expect(await scene.untilUp(name)).toBe(before);
  await scene.plane.compareOwners();
  return needsRepair;
}

interface MemoryWatch {
  /** Half of the run is over. */
  half(): void;
  /** The most of the first half and of all, of this process, and of any owner's, in MiB. */
  end(): { readonly firstHalf: number; readonly main: number; readonly owner: number };
}

/** Samples the memory of this process and of the owners'. */
function watchMemory(scene: Scene): MemoryWatch {
  const most = { firstHalf: 0, main: 0, owner: 0 };
  const timer = setInterval(() => {
    most.main = Math.max(most.main, mib(anonymousBytes(process.pid)));
    for (const name of NAMES) most.owner = Math.max(most.owner, mib(anonymousBytes(scene.pid(name) ?? 0)));
  }, SAMPLE_MS);
  return {
    half() {
      most.firstHalf = most.main;
    },
    end() {
      clearInterval(timer);
      return most;
    },
  };
}

function mib(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}
