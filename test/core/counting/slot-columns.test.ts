import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteChunks } from "../../../src/core/counting/byte-chunks.ts";
import { CellArena } from "../../../src/core/counting/cell-arena.ts";
import { EMPTY_SLOT, SlotCache } from "../../../src/core/counting/slot-cache.ts";
import { decodeSlot, encodeSlot } from "../../../src/core/counting/slot.ts";
import { Tally } from "../../../src/core/counting/tally.ts";
import { WorkingSlot } from "../../../src/core/counting/working-slot.ts";

const bytesOf = (length: number, byte: number): Uint8Array => new Uint8Array(length).fill(byte);

describe("cells in one array", () => {
  it("are what was put last, whatever grows, shrinks or is released", () => {
    const step = fc.record({ slot: fc.nat({ max: 9 }), length: fc.nat({ max: 300 }), release: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const arena = new CellArena();
        const held = new Map<number, { readonly start: number; readonly cell: Uint8Array }>();
        for (const [index, { slot, length, release }] of steps.entries()) {
          const before = held.get(slot);
          const cell = bytesOf(length, 1 + (index % 255));
          if (before === undefined) held.set(slot, { start: arena.put(cell), cell });
          else if (release) {
            arena.release(before.start, before.cell.length);
            held.delete(slot);
          } else held.set(slot, { start: arena.replace(before.start, before.cell.length, cell), cell });
          for (const { start, cell: expected } of held.values()) {
            expect(arena.bytes.slice(start, start + expected.length)).toEqual(expected);
          }
        }
      }),
    );
  });

  it("use the room of released ones again", () => {
    const arena = new CellArena();
    for (let round = 0; round < 100; round += 1) arena.release(arena.put(bytesOf(200, round)), 200);
    expect(arena.byteLength).toBeLessThan(300);
  });
});

it("a slot takes about a hundred bytes with a key of 40", () => {
  const families = [{ name: "counters", values: 1, wide: false, visitors: false }];
  const count = 30_000;
  const tally = new Tally(families);
  const cache = new SlotCache(1e9);
  const key = bytesOf(40, 7);
  for (let index = 0; index < count; index += 1) {
    key.set([index >> 8, index & 0xff], 38);
    tally.begin(index);
    tally.open({ bytes: key, hash: Math.imul(index, 0x9e37_79b1) });
    tally.select(0);
  }
  const cell = encodeSlot({ offset: 1, counters: [1_000n], visitors: undefined }).bytes;
  for (let entry = 0; entry < count; entry += 1) cache.keep(1, tally, entry, EMPTY_SLOT, cell, 1, 0);
  expect([cache.size, Math.floor(cache.byteLength / count)]).toEqual([count, expect.any(Number)]);
  expect(cache.byteLength / count).toBeLessThan(120);
});

describe("the slot that is counted on", () => {
  const family = { name: "sums", values: 3, wide: true, visitors: false };
  const chunks = new ByteChunks();

  it("goes on from totals of any size, and forgets those of the slot before", () => {
    const total = fc.oneof(fc.bigInt({ min: 0n, max: 300n }), fc.bigInt({ min: 2n ** 48n, max: 2n ** 66n }));
    const slot = new WorkingSlot(family);
    fc.assert(
      fc.property(fc.array(total, { minLength: 3, maxLength: 3 }), (counters) => {
        const { bytes } = encodeSlot({ offset: 4, counters, visitors: undefined });
        const padded = Uint8Array.of(9, ...bytes, 9);
        slot.load(padded, 1, 1 + bytes.length);
        expect(slot.encode(4, chunks).bytes).toEqual(bytes);
        slot.totals.add(1, 5);
        expect(decodeSlot(slot.encode(5, chunks)).counters[1]).toBe((counters[1] ?? 0n) + 5n);
        slot.clear();
        expect(decodeSlot(slot.encode(6, chunks)).counters).toEqual([0n, 0n, 0n]);
      }),
    );
  });

  it("refuses cells of another shape, cut ones and padded ones", () => {
    const slot = new WorkingSlot(family);
    const load = (bytes: Uint8Array) => () => slot.load(bytes, 0, bytes.length);
    const of = (counters: readonly bigint[]) => encodeSlot({ offset: 4, counters, visitors: undefined }).bytes;
    expect(load(of([1n, 2n]))).toThrow("SLOT_SHAPE");
    expect(load(of([1n, 2n, 3n]).subarray(0, 4))).toThrow("SLOT_BYTES");
    expect(load(Uint8Array.of(...of([1n, 2n, 3n]), 0))).toThrow("SLOT_BYTES");
    expect(load(Uint8Array.of(1, 3, 0x80, 0, 1, 1, 0))).toThrow("SLOT_BYTES");
    expect(() => new WorkingSlot({ ...family, visitors: true }).load(of([1n, 2n, 3n]), 0, 6)).toThrow("SLOT_SHAPE");
  });
});
