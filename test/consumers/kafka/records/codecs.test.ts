import { compressFrameSync } from "lz4-napi";
import { describe, expect, it } from "vitest";

import { lz4InflatedBytes } from "../../../../consumers/kafka/records/lz4-size.ts";
import { inflate } from "../../../../consumers/kafka/records/codecs.ts";

const ZSTD = 4;
const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];

/** A block header: whether it is the last, its type (0 raw, 1 one byte repeated), its size. */
function block(last: boolean, type: number, size: number): number[] {
  const word = (size << 3) | (type << 1) | (last ? 1 : 0);
  return [word & 0xff, (word >> 8) & 0xff, word >> 16];
}

describe("lz4 sizes", () => {
  it("counts exactly where the bound from the block count is above the limit", () => {
    for (const bytes of [0, 1, 20, 300, 70_000, 300_000]) {
      const mixed = Buffer.from(
        Array.from({ length: bytes }, (_, index) => (index % 700 < 300 ? index * 7919 : 5) & 0xff),
      );
      const frame = compressFrameSync(mixed);
      expect(lz4InflatedBytes(frame, 0)).toBe(bytes);
      expect(lz4InflatedBytes(frame, 1 << 30)).toBeGreaterThanOrEqual(bytes);
    }
  });

  it("adds up frames that follow each other", () => {
    const frame = compressFrameSync(Buffer.alloc(1_000, 3));
    expect(lz4InflatedBytes(Buffer.concat([frame, frame]), 0)).toBe(2_000);
  });
});

describe("zstd", () => {
  it("reads frames with and without a content size", () => {
    const sized = Buffer.from([...MAGIC, 0x20, 5, ...block(true, 0, 5), ...Buffer.from("hello")]);
    expect(inflate(ZSTD, sized, 5).toString()).toBe("hello");
    const streamed = Buffer.from([
      ...MAGIC,
      0x00,
      0x58,
      ...block(false, 0, 5),
      ...Buffer.from("hello"),
      ...block(true, 1, 3),
      33,
    ]);
    expect(inflate(ZSTD, streamed, 8).toString()).toBe("hello!!!");
    expect(() => inflate(ZSTD, streamed, 7)).toThrow(expect.objectContaining({ code: "batch-too-large" }));
  });

  it("refuses a frame that asks for too much before allocating it", () => {
    const claims = Buffer.from([...MAGIC, 0xa0, 0, 0, 0, 0x70, ...block(true, 1, 100), 0]);
    const window = Buffer.from([...MAGIC, 0x00, 0xff, ...block(true, 1, 100), 0]);
    for (const frame of [claims, window]) expect(() => inflate(ZSTD, frame, 1 << 20)).toThrow(/inflate/);
  });

  it("refuses what is no frame", () => {
    for (const bytes of [[], [1], MAGIC, [...MAGIC, 0x20], [9, 9, 9, 9, 9, 9, 9, 9]]) {
      expect(() => inflate(ZSTD, Buffer.from(bytes), 100)).toThrow(expect.objectContaining({ code: "undecodable" }));
    }
  });
});
