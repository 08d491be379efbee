import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { type RootDatabase, open } from "lmdb";
import { systemClock } from "../src/clock.ts";
import { openEmbeddedPlane } from "../src/kv/embedded/open.ts";
import type { CellSpace, CellWrite } from "../src/ports/kv-plane.ts";
import type { Logger } from "../src/ports/logger.ts";
import { cpuSeconds, familyOf, loadAverage, rssAnonMiB } from "./support/processes.ts";
import { Random, Zipf } from "./support/random.ts";
import { median, writeResult } from "./support/result.ts";

/**
 * Cells into three stores, durable: the plane at 2 of 3, timed until the third is flushed as well, against bare LMDB as one
 * would use it, which puts each batch into three environments and awaits their flush. Two batches are under way at a time.
 * Rounds alternate, so that what else the machine does meets both. Batches are made before the time runs, so that processor
 * time and the delay of the event loop are the store's alone. Run: `npx tsx bench/kv.ts [rounds] [text in a case's name]`.
 */

const ROUNDS = Number(process.argv[2] ?? 5);
const ONLY = process.argv[3] ?? "";
const IN_FLIGHT = 2;
const BODIES = 64;
const TARGET = 0.6;
/** Five cases end within five minutes. */
const CASE_MS = 55_000;
const ROUNDS_MIN = 2;

interface Case {
  readonly name: string;
  readonly space: CellSpace;
  readonly bytes: number;
  readonly batch: number;
  /** Cells of one round. */
  readonly cells: number;
  readonly keys: number;
  readonly skew: "uniform" | "zipf";
}

const documents = { space: "document", bytes: 1_024, keys: 1_000_000, skew: "uniform", cells: 120_000 } as const;
const slots = { space: "slot", bytes: 100, keys: 1_000_000, cells: 400_000 } as const;
const CASES: readonly Case[] = [
  { name: "documents, batches of 2,000", ...documents, batch: 2_000 },
  { name: "documents, batches of 20,000", ...documents, batch: 20_000 },
  { name: "slots, batches of 5,000", ...slots, skew: "uniform", batch: 5_000 },
  { name: "slots, batches of 50,000", ...slots, skew: "uniform", batch: 50_000 },
  { name: "slots, batches of 50,000, Zipf", ...slots, skew: "zipf", batch: 50_000 },
];

interface Store {
  write(batch: readonly CellWrite[]): Promise<unknown>;
  /** Waits until every store has everything. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

const quiet: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (fields, text) => console.error(text, fields),
  child: () => quiet,
};

async function openPlane(root: string): Promise<Store> {
  const directories = [join(root, "a"), join(root, "b"), join(root, "c")] as const;
  const plane = await openEmbeddedPlane({ directories, writeAcks: 2, clock: systemClock, logger: quiet });
  return {
    write: (batch) => plane.write(batch),
    async drain() {
      while (plane.owners().some(({ pendingBytes }) => pendingBytes > 0)) await plane.write([]);
    },
    close: () => plane.close(),
  };
}

function openBare(root: string): Store {
  const stores: RootDatabase<Uint8Array, Uint8Array>[] = ["x", "y", "z"].map((name) =>
    open({ path: join(root, name), noSubdir: false, encoding: "binary", keyEncoding: "binary" }),
  );
  return {
    async write(batch) {
      await Promise.all(
        stores.map(async (store) => {
          let last: Promise<boolean> = Promise.resolve(true);
          for (const { key, bytes } of batch) last = store.put(key, bytes);
          await last;
          await store.flushed;
        }),
      );
    },
    drain: () => Promise.resolve(),
    close: async () => {
      await Promise.all(stores.map((store) => store.close()));
    },
  };
}

/** The batches of a round, each under orders above those of the round before. */
function batchesOf({ space, bytes, batch, cells, keys, skew }: Case, round: number): readonly (readonly CellWrite[])[] {
  const random = new Random(round + 1);
  const zipf = skew === "zipf" ? new Zipf(keys, random) : undefined;
  const bodies = Array.from({ length: BODIES }, (_, body) => Buffer.alloc(bytes, body));
  const made: CellWrite[][] = [];
  let order = round * cells;
  while (order < (round + 1) * cells) {
    const taken = new Map<number, CellWrite>();
    for (let cell = 0; cell < batch; cell += 1) {
      const number = zipf?.next() ?? random.below(keys);
      const key = Buffer.from(`articles article-${String(number).padStart(8, "0")} views 0000000000000000 beacons`);
      order += 1;
      taken.set(number, { space, key, order, bytes: bodies[order % BODIES] ?? Buffer.alloc(bytes) });
    }
    // Whoever counts folds first: a batch names a key once.
    made.push([...taken.values()]);
  }
  return made;
}

interface Measured {
  readonly perSecond: number;
  readonly loopMaxMs: number;
  /** Processor seconds per million cells: of this process, and of all owners together. */
  readonly mainCpu: number;
  readonly ownersCpu: number;
  readonly ownerMiB: number;
}

async function measure(store: Store, batches: readonly (readonly CellWrite[])[]): Promise<Measured> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const owners = familyOf(process.pid).slice(1);
  const cells = batches.reduce((sum, batch) => sum + batch.length, 0);
  let next = 0;
  const writer = async (): Promise<void> => {
    for (let batch = batches[next++]; batch !== undefined; batch = batches[next++]) await store.write(batch);
  };
  globalThis.gc?.();
  const cpu = { main: process.cpuUsage(), owners: cpuSeconds(owners) };
  delay.enable();
  const start = performance.now();
  await Promise.all(Array.from({ length: IN_FLIGHT }, writer));
  await store.drain();
  const seconds = (performance.now() - start) / 1_000;
  delay.disable();
  const { user, system } = process.cpuUsage(cpu.main);
  return {
    perSecond: cells / seconds,
    loopMaxMs: delay.max / 1e6,
    mainCpu: (user + system) / cells,
    ownersCpu: ((cpuSeconds(owners) - cpu.owners) * 1e6) / cells,
    ownerMiB: Math.max(0, ...owners.map((pid) => rssAnonMiB(pid))),
  };
}

interface Rounds {
  readonly plane: readonly Measured[];
  readonly bare: readonly Measured[];
}

async function rounds(chosen: Case, plane: Store, bare: Store): Promise<Rounds> {
  const measured: { plane: Measured[]; bare: Measured[] } = { plane: [], bare: [] };
  const began = performance.now();
  let longest = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    if (round >= ROUNDS_MIN && start - began + longest > CASE_MS) break;
    const batches = batchesOf(chosen, round);
    const planeFirst = round % 2 === 0;
    if (planeFirst) measured.plane.push(await measure(plane, batches));
    measured.bare.push(await measure(bare, batches));
    if (!planeFirst) measured.plane.push(await measure(plane, batches));
    longest = Math.max(longest, performance.now() - start);
    console.log(`  ${show(measured.plane.at(-1))} · bare ${show(measured.bare.at(-1))} · load ${loadAverage()}`);
  }
  return measured;
}

async function compare(chosen: Case): Promise<Record<string, number>> {
  const root = mkdtempSync(join(tmpdir(), "ysearch-bench-kv-"));
  const plane = await openPlane(root);
  const bare = openBare(root);
  const measured = await rounds(chosen, plane, bare);
  await plane.close();
  await bare.close();
  rmSync(root, { recursive: true, force: true });
  const middle = (of: readonly Measured[], what: keyof Measured): number => median(of.map((one) => one[what]));
  const ratios = measured.plane.map((one, round) => one.perSecond / (measured.bare[round]?.perSecond ?? Number.NaN));
  return {
    ratio: rounded(median(ratios), 2),
    ratioLeast: rounded(Math.min(...ratios), 2),
    ratioMost: rounded(Math.max(...ratios), 2),
    rounds: ratios.length,
    perSecond: Math.round(middle(measured.plane, "perSecond")),
    barePerSecond: Math.round(middle(measured.bare, "perSecond")),
    loopMaxMs: rounded(Math.max(...measured.plane.map(({ loopMaxMs }) => loopMaxMs)), 1),
    bareLoopMaxMs: rounded(Math.max(...measured.bare.map(({ loopMaxMs }) => loopMaxMs)), 1),
    mainCpuPerMillion: rounded(middle(measured.plane, "mainCpu"), 1),
    ownersCpuPerMillion: rounded(middle(measured.plane, "ownersCpu"), 1),
    bareCpuPerMillion: rounded(middle(measured.bare, "mainCpu"), 1),
    ownerRssAnonMiB: Math.round(Math.max(...measured.plane.map(({ ownerMiB }) => ownerMiB))),
  };
}

function show(measured: Measured | undefined): string {
  if (measured === undefined) return "";
  const { perSecond, loopMaxMs, mainCpu, ownersCpu } = measured;
  const thousands = (perSecond / 1_000).toFixed(1);
  return `${thousands} k/s, CPU ${mainCpu.toFixed(1)} + ${ownersCpu.toFixed(1)} s/M, loop ${loopMaxMs.toFixed(0)} ms`;
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

async function main(): Promise<void> {
  const table: Record<string, Record<string, number>> = {};
  for (const chosen of CASES.filter(({ name }) => name.includes(ONLY))) {
    console.log(chosen.name);
    table[chosen.name] = await compare(chosen);
  }
  console.table(table);
  if (ONLY === "") writeResult("kv", { rounds: ROUNDS, target: TARGET, loadAverageAtEnd: loadAverage(), cases: table });
}

await main();
