import { BatchFault } from "./batch-fault.ts";

const LOW = 0x7f;
const MORE = 0x80;
const TWO_POW_28 = 2 ** 28;

/**
 * Reads the variable-length integers of record format 2 (zigzag, base 128, least significant group first).
 *
 * A read past the end yields zeros instead of a throw: the record's own length is checked after each record, which
 * costs one comparison where a check per byte would cost many.
 */
export class ByteReader {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  /** A signed 32-bit number. @throws BatchFault `undecodable` when it has more than five bytes. */
  varint(): number {
    const first = this.bytes[this.at++] ?? 0;
    if (first < MORE) return (first >>> 1) ^ -(first & 1);
    let value = first & LOW;
    for (let shift = 7; shift < 35; shift += 7) {
      const byte = this.bytes[this.at++] ?? 0;
      value |= (byte & LOW) << shift;
      if (byte < MORE) return (value >>> 1) ^ -(value & 1);
    }
    throw new BatchFault("undecodable", `a varint at byte ${this.at} has more than five bytes`);
  }

  /**
   * A signed 64-bit number as a Number: exact within the safe integers, rounded beyond (only a producer's nonsense
   * timestamp is that large, and it must not stop a partition).
   * @throws BatchFault `undecodable` when it has more than ten bytes.
   */
  varlong(): number {
    const first = this.bytes[this.at++] ?? 0;
    if (first < MORE) return (first >>> 1) ^ -(first & 1);
    let low = first & LOW;
    for (let shift = 7; shift < 28; shift += 7) {
      const byte = this.bytes[this.at++] ?? 0;
      low |= (byte & LOW) << shift;
      if (byte < MORE) return (low >>> 1) ^ -(low & 1);
    }
    let high = 0;
    for (let unit = 1, count = 0; count < 6; unit *= 128, count += 1) {
      const byte = this.bytes[this.at++] ?? 0;
      high += (byte & LOW) * unit;
      if (byte < MORE) return unzigzag(high * TWO_POW_28 + low, (low & 1) === 1);
    }
    throw new BatchFault("undecodable", `a varlong at byte ${this.at} has more than ten bytes`);
  }
}

function unzigzag(value: number, negative: boolean): number {
  return negative ? -(value - 1) / 2 - 1 : value / 2;
}
