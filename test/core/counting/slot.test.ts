import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareOrdered } from "../../../src/core/cell.ts";
import { VisitorSketch } from "../../../src/core/counting/sketch.ts";
import { decodeSlot, encodeSlot, sumSlots } from "../../../src/core/counting/slot.ts";

const counters = fc.array(fc.bigInt({ min: 0n, max: 2n ** 90n }), { maxLength: 12 });

function sketchOf(visitors: readonly number[]): VisitorSketch {
  const sketch = new VisitorSketch();
  for (const visitor of visitors) sketch.add(0, visitor);
  return sketch;
}

describe("a slot", () => {
  it("comes back from its cell, however large its counts", () => {
    fc.assert(
      fc.property(fc.nat(), counters, (offset, values) => {
        const back = decodeSlot(encodeSlot({ offset, counters: values, visitors: undefined }));
        expect(back).toEqual({ offset, counters: values, visitors: undefined });
      }),
    );
  });

  it("counts past what a double holds exactly", () => {
    const seeded = { offset: 5, counters: [9_007_199_254_740_991n], visitors: undefined };
    const sum = sumSlots([decodeSlot(encodeSlot(seeded)), { counters: [2n], visitors: undefined }]);
    expect(sum.counters).toEqual([9_007_199_254_740_993n]);
  });

  it("of a later offset wins the merge whatever its values, and of equal offset has equal bytes", () => {
    const slot = (offset: number, count: bigint) =>
      encodeSlot({ offset, counters: [count], visitors: sketchOf([1, 2, 3]) });
    expect(compareOrdered(slot(9, 1n), slot(8, 500n))).toBeGreaterThan(0);
    const other = encodeSlot({ offset: 9, counters: [1n], visitors: sketchOf([3, 2, 1, 1]) });
    expect(compareOrdered(slot(9, 1n), other)).toBe(0);
  });

  it("refuses foreign, cut and padded bytes", () => {
    const { order, bytes } = encodeSlot({ offset: 3, counters: [300n, 1n], visitors: sketchOf([7]) });
    for (let length = 0; length < bytes.length; length += 1) {
      expect(() => decodeSlot({ order, bytes: bytes.subarray(0, length) })).toThrow();
    }
    expect(() => decodeSlot({ order, bytes: Uint8Array.of(...bytes, 0) })).toThrow();
    expect(() => decodeSlot({ order, bytes: Uint8Array.of(9, ...bytes.subarray(1)) })).toThrow();
  });
});

describe("the sum of slots", () => {
  it("is the sum of their counts and the union of their visitors, whatever the order", () => {
    const slots = [
      { counters: [1n, 10n], visitors: sketchOf([1, 2]) },
      { counters: [2n, 20n], visitors: sketchOf([2, 3]) },
      { counters: [4n, 40n], visitors: undefined },
    ];
    const sum = sumSlots(slots);
    expect(sum.counters).toEqual([7n, 70n]);
    expect(sum.visitors?.estimate()).toBe(3);
    expect(sumSlots(slots.slice(0, 2).toReversed()).visitors?.estimate()).toBe(3);
    expect(slots[0]?.visitors?.estimate()).toBe(2);
  });

  it("is nothing without slots, and refuses slots that count differently", () => {
    expect(sumSlots([])).toEqual({ counters: [], visitors: undefined });
    const shapes = [[1n], [1n, 2n]].map((list) => ({ counters: list, visitors: undefined }));
    expect(() => sumSlots(shapes)).toThrow("different shapes");
  });
});
