import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { open as openLmdb } from "lmdb";
import { afterAll, describe, expect, it } from "vitest";
import { Environment } from "../../../src/kv/embedded/environment.ts";
import { type Span, keyText } from "../../../src/kv/embedded/protocol.ts";
import { CorruptStore } from "../../../src/kv/embedded/store-file.ts";
import {
  Entries,
  type StoreWrite,
  decodeStored,
  packAddresses,
  packCells,
  storeKey,
} from "../../../src/kv/embedded/wire.ts";
import { splitAnswers } from "../../../src/kv/embedded/answers.ts";
import { MemoryStore } from "./memory-owner.ts";
import { MIB } from "./support.ts";

const root = mkdtempSync(join(tmpdir(), "ysearch-environment-"));
const opened: Environment[] = [];
afterAll(async () => {
  for (const environment of opened) await environment.close();
  rmSync(root, { recursive: true, force: true });
});

function open(): Environment {
  const environment = new Environment(mkdtempSync(join(root, "e")), 16 * MIB);
  opened.push(environment);
  return environment;
}

/** Merges everything, in transactions of two changes. */
function merge(environment: Environment, parts: readonly Buffer[]): number {
  const entries = new Entries(parts);
  let changed = 0;
  while (!entries.ended) changed += environment.merge(entries, 2);
  return changed;
}

function pack(cells: readonly StoreWrite[]): Buffer {
  const target = Buffer.alloc(64 * 1024);
  return target.subarray(0, packCells(cells, 0, target).length);
}

const KEYS = ["", "\0", "\0\0", "a", "a\0", "ab", "b", "ÿ", "ÿÿ"].map((key) => Buffer.from(key, "latin1"));
const cellOf = (key: number, order: number, bytes: Uint8Array): StoreWrite => ({
  space: key % 2 === 0 ? "slot" : "control",
  key: KEYS[key] ?? Buffer.from("none"),
  order,
  bytes,
});
const cells = fc.array(
  fc.tuple(fc.nat(KEYS.length - 1), fc.nat(3), fc.uint8Array({ maxLength: 2 })).map((args) => cellOf(...args)),
  { maxLength: 6 },
);

const slotText = (key: string): string => keyText(storeKey({ space: "slot", key: Buffer.from(key, "latin1") }));
const RANGES = [
  ["", "ÿÿÿ", MIB],
  ["", "b", 40],
  ["a\0", "b\0", 1],
  ["b", "a", MIB],
  ["ÿ", "ÿ", MIB],
] as const;

describe("an environment", () => {
  it("holds, lists, scans and hashes what a map of the same merges does", () => {
    const spans: Span[] = [undefined, ...KEYS].flatMap((after) =>
      [undefined, ...KEYS.slice(3, 6)].map((upTo) => ({
        after: after && keyText(storeKey({ space: "slot", key: after })),
        upTo: upTo && keyText(storeKey({ space: "control", key: upTo })),
        bytes: 60,
      })),
    );
    const addresses = packAddresses(
      KEYS.flatMap((key) => [
        { space: "slot", key },
        { space: "control", key },
      ]),
      0,
      99,
    );
    const asked = Buffer.from(addresses.buffer, 0, addresses.length);
    fc.assert(
      fc.property(fc.array(cells, { maxLength: 6 }), (batches) => {
        const environment = open();
        const memory = new MemoryStore();
        for (const batch of batches) expect(merge(environment, [pack(batch)])).toBe(memory.merge(pack(batch)));
        expect(environment.read(asked, MIB)).toEqual(memory.read(asked, 1_000));
        for (const span of spans) expect(environment.scan(span)).toEqual(memory.scan(span));
        for (const limit of [1, 3, 100]) {
          const range = {
            prefix: keyText(storeKey({ space: "control", key: Buffer.from("a") })),
            after: undefined,
            limit,
          };
          expect(environment.list(range)).toEqual(memory.list(range));
          for (const [from, to, bytes] of RANGES) {
            const cellRange = { from: slotText(from), to: slotText(to), limit, bytes };
            expect(environment.range(cellRange)).toEqual(memory.range(cellRange));
          }
        }
      }),
      { seed: 1, numRuns: 12 },
    );
  });

  it("lets the bytes decide at one order, whatever their sums are", () => {
    // The sum of the smaller is the larger one, in one pair or the other.
    for (let byte = 0; byte < 12; byte += 1) {
      const environment = open();
      const pair = [Uint8Array.of(byte), Uint8Array.of(byte, 0)];
      merge(environment, [pack(pair.map((bytes) => cellOf(0, 1, bytes)).toReversed())]);
      merge(environment, [pack([cellOf(0, 1, Uint8Array.of(byte))])]);
      const address = packAddresses([cellOf(0, 0, Uint8Array.of())], 0, 1);
      const { packed } = environment.read(Buffer.from(address.buffer, 0, address.length), MIB);
      expect(decodeStored(splitAnswers(packed, 1)[0] ?? Buffer.alloc(0)).bytes).toEqual(Uint8Array.of(byte, 0));
    }
  });

  it("refuses to read, scan or send a cell that fails its sum", async () => {
    const directory = mkdtempSync(join(root, "e"));
    const address = cellOf(0, 5, Uint8Array.of(1));
    const raw = openLmdb<Buffer, Buffer>({
      path: directory,
      noSubdir: false,
      encoding: "binary",
      keyEncoding: "binary",
    });
    await raw.put(Buffer.from(storeKey(address)), Buffer.alloc(20, 1));
    await raw.close();
    const environment = new Environment(directory, 16 * MIB);
    opened.push(environment);
    const { buffer, length } = packAddresses([address], 0, 1);
    const range = { from: slotText(""), to: slotText("b"), limit: 9, bytes: MIB };
    const span = { after: undefined, upTo: undefined, bytes: MIB };
    expect(() => environment.read(Buffer.from(buffer, 0, length), MIB)).toThrow(CorruptStore);
    expect(() => environment.range(range)).toThrow(CorruptStore);
    expect(() => environment.scan(span)).toThrow(CorruptStore);
    expect(() => environment.digest(span)).toThrow(CorruptStore);
    expect(() => merge(environment, [pack([address])])).toThrow(CorruptStore);
  });

  it("takes nothing of a batch in which one cell fails its sum", () => {
    const environment = open();
    const good = pack([cellOf(0, 5, Uint8Array.of(1))]);
    const bad = pack([cellOf(2, 5, Uint8Array.of(1))]);
    for (const at of [good.length - 1, good.length - 5, 8]) {
      const damaged = Buffer.from(bad);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      expect(() => merge(environment, [good, damaged])).toThrow(CorruptStore);
    }
    expect(environment.scan({ after: undefined, upTo: undefined, bytes: MIB }).cells).toBe(0);
    expect(merge(environment, [good, bad])).toBe(2);
  });
});
