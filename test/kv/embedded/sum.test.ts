import * as fc from "fast-check";
import { expect, it } from "vitest";
import { sumOf } from "../../../src/kv/embedded/sum.ts";

/** CRC-32, bit by bit. */
function crc32(bytes: Uint8Array, before = 0): number {
  let sum = ~before;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum & 1) === 1 ? (sum >>> 1) ^ 0xedb8_8320 : sum >>> 1;
  }
  return ~sum >>> 0;
}

it("is CRC-32, of any length and going on from any sum", () => {
  expect(sumOf(Buffer.from("123456789"), 0, 9)).toBe(0xcbf4_3926);
  const bytes = fc.uint8Array({ maxLength: 300, size: "max" });
  fc.assert(
    fc.property(bytes, fc.nat({ max: 300 }), fc.nat({ max: 0xffff_ffff }), (all, cut, before) => {
      const from = Math.min(cut, all.length);
      expect(sumOf(all, from, all.length, before)).toBe(crc32(all.subarray(from), before));
      expect(sumOf(all, from, all.length, sumOf(all, 0, from))).toBe(crc32(all));
    }),
  );
});
