import { crc32 } from "@node-rs/crc32";

/** Up to so many bytes, leaving JavaScript takes longer than the sum. */
const SHORT_BYTES = 128;
/** Reflected polynomial of CRC-32 (IEEE 802.3). */
const POLYNOMIAL = 0xedb8_8320;
const TABLES = 4;

const table = tables();

/** CRC-32 of `bytes` from `from` to `to`, going on from that of what comes before them. */
export function sumOf(bytes: Uint8Array, from: number, to: number, before = 0): number {
  if (to - from > SHORT_BYTES) return crc32(bytes.subarray(from, to), before);
  let sum = ~before;
  let at = from;
  for (; at + TABLES <= to; at += TABLES) {
    sum ^= (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
    sum =
      (table[768 + (sum & 0xff)] ?? 0) ^
      (table[512 + ((sum >>> 8) & 0xff)] ?? 0) ^
      (table[256 + ((sum >>> 16) & 0xff)] ?? 0) ^
      (table[sum >>> 24] ?? 0);
  }
  for (; at < to; at += 1) sum = (table[(sum ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ (sum >>> 8);
  return ~sum >>> 0;
}

/** What a byte does to a sum, followed by 0, 1, 2 or 3 zeros. */
function tables(): Int32Array {
  const made = new Int32Array(256 * TABLES);
  for (let byte = 0; byte < 256; byte += 1) {
    let sum = byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum & 1) === 1 ? (sum >>> 1) ^ POLYNOMIAL : sum >>> 1;
    made[byte] = sum;
  }
  for (let place = 256; place < made.length; place += 1) {
    const sum = made[place - 256] ?? 0;
    made[place] = (made[sum & 0xff] ?? 0) ^ (sum >>> 8);
  }
  return made;
}
