import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SKETCH_STANDARD_ERROR, VisitorSketch } from "../../../src/core/counting/sketch.ts";
import { ByteSink } from "../../../src/core/counting/varint.ts";

function bytesOf(sketch: VisitorSketch): Uint8Array {
  const bytes = new ByteSink();
  sketch.encode(bytes);
  return bytes.take();
}

/** A sketch of visitors `[from, to)`, whose hashes are their numbers: the worst that a producer may send. */
function visitors(from: number, to: number): VisitorSketch {
  const sketch = new VisitorSketch();
  for (let visitor = from; visitor < to; visitor += 1) sketch.add(Math.floor(visitor / 2 ** 32), visitor % 2 ** 32);
  return sketch;
}

const hashes = fc.array(fc.tuple(fc.nat(2 ** 32 - 1), fc.nat(2 ** 32 - 1)), { maxLength: 60 });

function sketchOf(list: readonly (readonly [number, number])[]): VisitorSketch {
  const sketch = new VisitorSketch();
  for (const [high, low] of list) sketch.add(high, low);
  return sketch;
}

describe("the sketch of distinct visitors", () => {
  it("is exact for none, and within four standard errors of the exact number up to a million", () => {
    expect(new VisitorSketch().estimate()).toBe(0);
    for (const count of [1, 2, 10, 100, 500, 1_000, 1_500, 5_000, 20_000, 100_000, 1_000_000]) {
      const error = Math.abs(visitors(0, count).estimate() - count) / count;
      expect(error, `${count} visitors`).toBeLessThan(4 * SKETCH_STANDARD_ERROR);
    }
  });

  it("has the standard error that it states, over many sets", () => {
    const count = 3_000;
    const errors = Array.from(
      { length: 60 },
      (_, set) => visitors(set * 1e6, set * 1e6 + count).estimate() / count - 1,
    );
    const rms = Math.sqrt(errors.reduce((sum, error) => sum + error ** 2, 0) / errors.length);
    expect(rms).toBeLessThan(1.35 * SKETCH_STANDARD_ERROR);
    expect(rms).toBeGreaterThan(0.5 * SKETCH_STANDARD_ERROR);
  });

  it("does not depend on order or repetition", () => {
    fc.assert(
      fc.property(hashes, (list) => {
        const once = bytesOf(sketchOf(list));
        expect(bytesOf(sketchOf([...list.toReversed(), ...list]))).toEqual(once);
      }),
    );
  });

  it("of a union is the union of sketches, across the change of its form", () => {
    for (const [size, overlap] of [
      [10, 3],
      [800, 100],
      [1_500, 700],
      [6_000, 1],
    ] as const) {
      const left = visitors(0, size);
      left.union(visitors(size - overlap, 2 * size));
      expect(bytesOf(left), `${size}`).toEqual(bytesOf(visitors(0, 2 * size)));
    }
  });

  it("comes back from its bytes, in either form", () => {
    for (const size of [0, 1, 50, 1_000, 1_200, 1_300, 1_400, 50_000]) {
      const bytes = bytesOf(visitors(0, size));
      const cursor = { bytes, at: 0 };
      const back = VisitorSketch.decode(cursor);
      expect(cursor.at).toBe(bytes.length);
      expect(bytesOf(back)).toEqual(bytes);
      expect(bytes.length).toBeLessThanOrEqual(3_073);
    }
    expect(bytesOf(visitors(0, 1)).length).toBeLessThan(8);
  });

  it("refuses bytes that no sketch has", () => {
    const bad = [
      [],
      [2],
      [0, 1],
      [0, 1, 0],
      [0, 2, 65, 0],
      [0, 1, 0xff, 0xff, 0xff, 0x7f],
      [1, 0, 0],
      [1, ...Array.from({ length: 3_072 }, () => 0)],
      [0, 0x81, 0x00],
    ];
    for (const bytes of bad) {
      expect(
        () => VisitorSketch.decode({ bytes: Uint8Array.from(bytes), at: 0 }),
        bytes.slice(0, 6).join(" "),
      ).toThrow();
    }
  });

  it("a clone goes its own way", () => {
    const sketch = visitors(0, 10);
    const before = bytesOf(sketch);
    sketch.clone().union(visitors(10, 5_000));
    expect(bytesOf(sketch)).toEqual(before);
  });
});
