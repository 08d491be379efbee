import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { type RootDatabase, open } from "lmdb";
import { systemClock } from "../src/clock.ts";
import { openEmbeddedPlane } from "../src/kv/embedded/open.ts";
import type { CellWrite } from "../src/ports/kv-plane.ts";
import type { Logger } from "../src/ports/logger.ts";

/**
 * Documents of 1 KB, keys uniform over a million, into three stores, durable: the plane at 2 of 3, timed until the third is
 * flushed as well, against bare LMDB as one would use it, which puts each batch into three environments and awaits their
 * flush. Rounds alternate, so that what else the machine does meets both. Run: `npx tsx bench/kv.ts [seconds per round]`.
 */

const KEYS = 1_000_000;
const BODY_BYTES = 1_024;
const ROUNDS = 3;
const IN_FLIGHT = 2;
const seconds = Number(process.argv[2] ?? 6);

interface Store {
  write(batch: readonly CellWrite[]): Promise<unknown>;
  /** Waits until every store has everything. */
  drain(): Promise<void>;
}

const quiet: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (fields, text) => console.error(text, fields),
  child: () => quiet,
};

let order = 0;

function makeBatch(size: number): CellWrite[] {
  return Array.from({ length: size }, () => {
    order += 1;
    const bytes = Buffer.alloc(BODY_BYTES, order & 0xff);
    return { space: "document", key: Buffer.from(`article-${Math.floor(Math.random() * KEYS)}`), order, bytes };
  });
}

function bareLmdb(root: string): Store & { close(): Promise<void> } {
  const stores: RootDatabase<Buffer, Buffer>[] = ["x", "y", "z"].map((name) =>
    open<Buffer, Buffer>({ path: join(root, name), noSubdir: false, encoding: "binary", keyEncoding: "binary" }),
  );
  return {
    async write(batch) {
      await Promise.all(
        stores.map(async (store) => {
          let last: Promise<boolean> = Promise.resolve(true);
          for (const { key, bytes } of batch) last = store.put(Buffer.from(key), Buffer.from(bytes));
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

/** The cells under new orders: an equal one would not be written again. In slices, so that the loop's delay is the store's. */
async function renewed(batch: readonly CellWrite[]): Promise<CellWrite[]> {
  const cells: CellWrite[] = [];
  for (let from = 0; from < batch.length; from += 1_000) {
    for (const cell of batch.slice(from, from + 1_000)) cells.push({ ...cell, order: (order += 1) });
    await new Promise((resolve) => setImmediate(resolve));
  }
  return cells;
}

async function run(store: Store, size: number): Promise<{ readonly rate: number; readonly loopMaxMs: number }> {
  const batches = Array.from({ length: Math.ceil(100_000 / size) }, () => makeBatch(size));
  const delay = monitorEventLoopDelay({ resolution: 5 });
  const cpu = process.cpuUsage();
  let cells = 0;
  let next = 0;
  delay.enable();
  const start = performance.now();
  const writer = async (): Promise<void> => {
    while (performance.now() - start < seconds * 1_000) {
      const batch = await renewed(batches[next % batches.length] ?? []);
      next += 1;
      await store.write(batch);
      cells += batch.length;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, writer));
  await store.drain();
  const elapsed = performance.now() - start;
  delay.disable();
  const { user, system } = process.cpuUsage(cpu);
  console.log(
    `    ${Math.round(cells / elapsed)} k/s, ${((user + system) / cells).toFixed(1)} s CPU of this process per million, loop max ${(delay.max / 1e6).toFixed(0)} ms`,
  );
  return { rate: (cells / elapsed) * 1_000, loopMaxMs: delay.max / 1e6 };
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

async function main(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "ysearch-bench-kv-"));
  const directories = [join(root, "a"), join(root, "b"), join(root, "c")] as const;
  const plane = await openEmbeddedPlane({ directories, writeAcks: 2, clock: systemClock, logger: quiet });
  const bare = bareLmdb(root);
  const ours: Store = {
    write: (batch) => plane.write(batch),
    async drain() {
      while (plane.owners().some(({ pendingBytes }) => pendingBytes > 0)) await plane.write([]);
    },
  };
  const results: Record<string, unknown>[] = [];
  for (const size of [2_000, 20_000]) {
    const rates: { ours: number[]; bare: number[]; loop: number[] } = { ours: [], bare: [], loop: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      console.log(`batches of ${size}, round ${round + 1}: plane, then bare LMDB`);
      const measured = await run(ours, size);
      rates.ours.push(measured.rate);
      rates.loop.push(measured.loopMaxMs);
      rates.bare.push((await run(bare, size)).rate);
    }
    const ratio = median(rates.ours) / median(rates.bare);
    const loopMaxMs = Math.max(...rates.loop);
    console.log(
      `batches of ${size}: ratio ${ratio.toFixed(2)} (target 0.6), loop delay max ${loopMaxMs.toFixed(0)} ms`,
    );
    results.push({ size, ratio, loopMaxMs, ours: median(rates.ours), bare: median(rates.bare) });
  }
  await plane.close();
  await bare.close();
  rmSync(root, { recursive: true, force: true });
  mkdirSync("bench/results", { recursive: true });
  writeFileSync("bench/results/kv.json", `${JSON.stringify({ node: process.version, results }, undefined, 2)}\n`);
}

await main();
