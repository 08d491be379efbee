import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Environment } from "../../../src/kv/embedded/environment.ts";
import { CorruptStore, checkStoreFile, hasStore } from "../../../src/kv/embedded/store-file.ts";
import { Entries, packCells } from "../../../src/kv/embedded/wire.ts";
import { MIB } from "./support.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "ysearch-kv-file-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A small generator of uint32, the same in every run. */
function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

const INCARNATIONS = { a: "1", b: "2", c: "3" };

describe("the look at a store's file", () => {
  it("finds none in an empty directory", () => {
    expect(hasStore(directory)).toBe(false);
    expect(checkStoreFile(directory)).toBeUndefined();
  });

  it("agrees with lmdb about the pages in use, after every transaction", async () => {
    const environment = new Environment(directory, MIB);
    for (let round = 0; round < 8; round += 1) {
      environment.identify({
        format: 2,
        deployment: "x".repeat(round * 50_000),
        owner: "a",
        phase: "formed",
        membership: { generation: 1, incarnations: INCARNATIONS },
      });
      const extent = checkStoreFile(directory);
      expect(((extent?.lastPage ?? 0) + 1) * (extent?.pageBytes ?? 0)).toBe(environment.mark().storedBytes);
    }
    await environment.close();
  });

  it("never finds a sound store too short, whatever sizes values have and however often a key is written", async () => {
    const environment = new Environment(directory, MIB);
    const random = mulberry(7);
    const sizes = [1, 100, 1_000, 1_900, 2_100, 5_000, 40_000, 200_000];
    for (let order = 1; order <= 150; order += 1) {
      const batch = Array.from({ length: 1 + (random() % 12) }, (_, index) => ({
        space: "document" as const,
        key: Buffer.from(`key-${random() % 6}`),
        order: order * 100 + index,
        bytes: new Uint8Array(sizes[random() % sizes.length] ?? 1),
      }));
      const target = new Uint8Array(4 * MIB);
      const { length } = packCells(batch, 0, target);
      environment.merge(new Entries([Buffer.from(target.buffer, 0, length)]), batch.length);
      expect(() => checkStoreFile(directory)).not.toThrow();
    }
    await environment.close();
  });

  it("refuses a file that is cut, overwritten or too short", async () => {
    const environment = new Environment(directory, MIB);
    environment.identify({
      format: 2,
      deployment: "d",
      owner: "a",
      phase: "formed",
      membership: { generation: 1, incarnations: INCARNATIONS },
    });
    await environment.close();
    const file = join(directory, "data.mdb");
    const whole = readFileSync(file);
    for (const damage of [whole.subarray(0, 8_192), whole.subarray(0, 100), Buffer.alloc(whole.length, 7)]) {
      writeFileSync(file, damage);
      expect(() => checkStoreFile(directory)).toThrow(CorruptStore);
    }
    writeFileSync(file, whole);
    expect(checkStoreFile(directory)).toBeDefined();
    truncateSync(file, whole.length - 1);
    expect(() => checkStoreFile(directory)).toThrow(CorruptStore);
  });
});
