import { invariant } from "../invariant.ts";

/** Unsigned integers of any size in LEB128: seven bits a byte, the lowest first. One number has one encoding. */

/** Appends `value`. @throws InvariantViolation when it is negative */
export function putUnsigned(target: number[], value: bigint): void {
  invariant(value >= 0n, "COUNTER_NEGATIVE", `${value} is negative`);
  let rest = value;
  // Numbers are much faster than bigints, and nearly all counts are small.
  while (rest > 0x1f_ffff_ffff_ffffn) {
    target.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  let small = Number(rest);
  while (small > 0x7f) {
    target.push((small % 128) | 0x80);
    small = Math.floor(small / 128);
  }
  target.push(small);
}

/** A place in bytes that are being read. */
export interface Cursor {
  readonly bytes: Uint8Array;
  at: number;
}

/** Reads what {@link putUnsigned} wrote. @throws InvariantViolation on cut or padded bytes */
export function takeUnsigned(cursor: Cursor): bigint {
  let value = 0n;
  let shift = 0n;
  for (;;) {
    const byte = cursor.bytes[cursor.at];
    invariant(byte !== undefined, "SLOT_BYTES", "a number is cut");
    cursor.at += 1;
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) {
      invariant(byte !== 0 || shift === 0n, "SLOT_BYTES", "a number is padded");
      return value;
    }
    shift += 7n;
  }
}
