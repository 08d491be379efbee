import { BatchFault } from "./batch-fault.ts";

/** LZ4 frame format 1.6: magic, descriptor (FLG, BD, sizes, checksum), blocks behind their lengths, an end mark of 0. */
const MAGIC = 0x184d2204;
const STORED = 0x80000000;
const BLOCK_BYTES: Readonly<Record<number, number>> = { 4: 1 << 16, 5: 1 << 18, 6: 1 << 20, 7: 1 << 22 };

interface FrameShape {
  readonly blocksAt: number;
  readonly blockBytesMax: number;
  readonly blockChecksum: boolean;
  readonly contentChecksum: boolean;
}

/**
 * How many bytes LZ4 frames inflate to, without inflating them: an upper bound from the block count, and only where
 * that exceeds `limit` the exact sum of the blocks' sequences.
 * @throws BatchFault `undecodable` when the bytes are not LZ4 frames.
 */
export function lz4InflatedBytes(input: Buffer, limit: number): number {
  let total = 0;
  let at = 0;
  while (at + 7 <= input.length && input.readUInt32LE(at) === MAGIC) {
    const shape = frameShape(input, at);
    const frame = frameBytes(input, shape, limit - total);
    total += frame.bytes;
    at = frame.end;
  }
  if (at === 0) throw new BatchFault("undecodable", "not an LZ4 frame");
  return total;
}

function frameShape(input: Buffer, at: number): FrameShape {
  const flags = input.readUInt8(at + 4);
  const blockBytesMax = BLOCK_BYTES[(input.readUInt8(at + 5) >>> 4) & 7];
  if (flags >>> 6 !== 1 || blockBytesMax === undefined) throw new BatchFault("undecodable", "an unknown LZ4 frame");
  const sizes = ((flags & 0x08) === 0 ? 0 : 8) + ((flags & 0x01) === 0 ? 0 : 4);
  return {
    blocksAt: at + 7 + sizes,
    blockBytesMax,
    blockChecksum: (flags & 0x10) !== 0,
    contentChecksum: (flags & 0x04) !== 0,
  };
}

function frameBytes(input: Buffer, shape: FrameShape, limit: number): { bytes: number; end: number } {
  let bytes = 0;
  let at = shape.blocksAt;
  const blocks: Array<readonly [from: number, to: number]> = [];
  while (at + 4 <= input.length) {
    const word = input.readUInt32LE(at);
    at += 4;
    if (word === 0) break;
    const length = word & ~STORED;
    if (at + length > input.length) throw new BatchFault("undecodable", "an LZ4 block reaches past its frame");
    if (word >= STORED) bytes += length;
    else blocks.push([at, at + length]);
    at += length + (shape.blockChecksum ? 4 : 0);
  }
  if (shape.contentChecksum) at += 4;
  const bound = bytes + blocks.length * shape.blockBytesMax;
  if (bound <= limit) return { bytes: bound, end: at };
  return { bytes: blocks.reduce((sum, [from, to]) => sum + blockBytes(input, from, to), bytes), end: at };
}

/** Adds up the literals and matches of one block. */
function blockBytes(input: Buffer, from: number, to: number): number {
  let total = 0;
  let at = from;
  const extended = (nibble: number): number => {
    let length = nibble;
    if (nibble !== 15) return length;
    for (let byte = 255; byte === 255 && at < to;) {
      byte = input[at++] ?? 0;
      length += byte;
    }
    return length;
  };
  while (at < to) {
    const token = input[at++] ?? 0;
    const literals = extended(token >>> 4);
    total += literals;
    at += literals;
    if (at >= to) break;
    at += 2;
    total += extended(token & 15) + 4;
  }
  return total;
}
