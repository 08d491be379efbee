import { uncompressSync } from "snappy";
import { BatchFault } from "./batch-fault.ts";

/** Java producers wrap snappy blocks in the framing of xerial's snappy-java: 16 bytes of header, then length + block. */
const XERIAL = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const XERIAL_HEADER_BYTES = 16;

/**
 * Inflates snappy, in xerial framing or as one raw block.
 * @throws BatchFault `batch-too-large` above `limit`, `undecodable` for broken framing; the decoder's error for damage.
 */
export function inflateSnappy(input: Buffer, limit: number): Buffer {
  const blocks = input.subarray(0, XERIAL.length).equals(XERIAL) ? xerialBlocks(input) : [input];
  const total = blocks.reduce((sum, block) => sum + rawBytes(block), 0);
  if (total > limit)
    throw new BatchFault("batch-too-large", `a record batch inflates to ${total} bytes, limit ${limit}`);
  const [only] = blocks;
  if (blocks.length === 1 && only !== undefined) return inflateBlock(only);
  return Buffer.concat(blocks.map(inflateBlock), total);
}

function inflateBlock(block: Buffer): Buffer {
  const bytes = uncompressSync(block);
  return typeof bytes === "string" ? Buffer.from(bytes) : bytes;
}

function xerialBlocks(input: Buffer): Buffer[] {
  const blocks: Buffer[] = [];
  let at = XERIAL_HEADER_BYTES;
  while (at < input.length) {
    const length = at + 4 <= input.length ? input.readInt32BE(at) : -1;
    if (length < 0 || at + 4 + length > input.length) {
      throw new BatchFault("undecodable", "a snappy block reaches past its batch");
    }
    blocks.push(input.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return blocks;
}

/** A raw block begins with its inflated length, a plain base-128 number. */
function rawBytes(block: Buffer): number {
  let value = 0;
  for (let at = 0, unit = 1; at < 5; at += 1, unit *= 128) {
    const byte = block[at];
    if (byte === undefined) break;
    value += (byte & 0x7f) * unit;
    if (byte < 0x80) return value;
  }
  throw new BatchFault("undecodable", "a snappy block has no length");
}
