import { mkdtempSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Random } from "../../../bench/support/random.ts";
import { Environment } from "../../../src/kv/embedded/environment.ts";
import { checkStoreFile, CorruptStore, DATA_FILE, StoreFile } from "../../../src/kv/embedded/store-file.ts";
import { reachOf } from "../../../src/kv/embedded/transaction-size.ts";
import { Entries, packCells, type StoreWrite } from "../../../src/kv/embedded/wire.ts";
import { MIB } from "./support.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "ysearch-kv-reach-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Cells of a large transaction, in the order of their keys. */
function cellsOf(random: Random, round: number): Buffer {
  const numbers = new Set(Array.from({ length: 4_000 }, () => random.below(20_000)));
  const cells = [...numbers]
    .toSorted((a, b) => a - b)
    .map((number): StoreWrite => {
      const bytes = new Uint8Array(random.below(60));
      return { space: "slot", key: Buffer.from(`a${String(number).padStart(8, "0")}`.repeat(4)), order: round, bytes };
    });
  const target = Buffer.alloc(MIB);
  return target.subarray(0, packCells(cells, 0, target).length);
}

it("a file reaches as far as a transaction may come, before it and whatever of it is written", async () => {
  const environment = new Environment(directory, 64 * MIB);
  const file = new StoreFile(directory);
  const path = join(directory, DATA_FILE);
  const random = new Random(1);
  // LMDB leaves pages at the end unwritten once in a hundred large transactions on a store of 80 MB: too rare to wait for.
  for (let round = 1; round <= 20; round += 1) {
    const cells = new Entries([cellsOf(random, round)]);
    const before = environment.mark().storedBytes;
    const reach = reachOf(4_000, cells.bytesLeft);
    environment.merge(cells, 4_000);
    expect(environment.mark().storedBytes - before, "killed here").toBeLessThan(reach);
    file.reach(before + reach);
    expect(() => checkStoreFile(directory)).not.toThrow();
  }
  const { size } = statSync(path);
  file.reach(size + 512 * MIB);
  expect(statSync(path)).toMatchObject({ size: size + 512 * MIB });
  expect(statSync(path).blocks * 512, "a hole takes no room").toBeLessThan(64 * MIB);
  file.reach(size);
  expect(statSync(path).size).toBe(size + 512 * MIB);
  await environment.close();
  const again = new Environment(directory, 64 * MIB);
  expect(again.scan({ after: undefined, upTo: undefined, bytes: MIB }).cells).toBeGreaterThan(0);
  await again.close();
});

it("the room for a transaction grows with its cells, up to what its pages may be", () => {
  expect(reachOf(2_048, 100)).toBeLessThan(64 * 1_024);
  expect(reachOf(131_072, 64 * MIB)).toBe(320 * MIB);
});

it("a store that was cut is found, hole or not", async () => {
  const environment = new Environment(directory, 64 * MIB);
  new StoreFile(directory).reach(environment.mark().storedBytes);
  environment.merge(new Entries([cellsOf(new Random(1), 1)]), 4_000);
  const { storedBytes } = environment.mark();
  await environment.close();
  truncateSync(join(directory, DATA_FILE), storedBytes);
  expect(() => checkStoreFile(directory)).not.toThrow();
  truncateSync(join(directory, DATA_FILE), storedBytes - 1);
  expect(() => checkStoreFile(directory)).toThrow(CorruptStore);
});

it("a file that is cut while it is open is not made whole by a hole", async () => {
  const environment = new Environment(directory, 64 * MIB);
  const file = new StoreFile(directory);
  file.reach(environment.mark().storedBytes + MIB);
  truncateSync(join(directory, DATA_FILE), 3 * 4_096);
  expect(() => file.reach(environment.mark().storedBytes + MIB)).toThrow(CorruptStore);
  await environment.close();
});
