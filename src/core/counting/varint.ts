import { invariant } from "../invariant.ts";
import type { ByteChunks } from "./byte-chunks.ts";

/** Unsigned integers of any size in LEB128: seven bits a byte, the lowest first. One number has one encoding. */

/** Bytes that are being written; it grows. */
export class ByteSink {
  #bytes = new Uint8Array(256);
  #length = 0;

  /** Appends one byte. */
  push(byte: number): void {
    if (this.#length === this.#bytes.length) {
      const bytes = new Uint8Array(2 * this.#length);
      bytes.set(this.#bytes);
      this.#bytes = bytes;
    }
    this.#bytes[this.#length] = byte;
    this.#length += 1;
  }

  /** A copy of what was written: a piece of `chunks`, or by itself. It is empty again. */
  take(chunks?: ByteChunks): Uint8Array {
    const taken = chunks?.take(this.#length) ?? new Uint8Array(this.#length);
    // A call costs more than a few bytes.
    if (this.#length > 64) taken.set(this.#bytes.subarray(0, this.#length));
    else for (let index = 0; index < this.#length; index += 1) taken[index] = this.#bytes[index] ?? 0;
    this.#length = 0;
    return taken;
  }
}

/** Appends `value`. @throws InvariantViolation when it is negative */
export function putUnsigned(target: ByteSink, value: bigint): void {
  invariant(value >= 0n, "COUNTER_NEGATIVE", `${value} is negative`);
  let rest = value;
  // Numbers are much faster than bigints, and nearly all counts are small.
  while (rest > 0x1f_ffff_ffff_ffffn) {
    target.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  putNumber(target, Number(rest));
}

/** Appends a safe integer, 0 or more. */
export function putNumber(target: ByteSink, value: number): void {
  let rest = value;
  while (rest > 0x7fff_ffff) {
    target.push((rest % 128) | 0x80);
    rest = Math.floor(rest / 128);
  }
  while (rest > 0x7f) {
    target.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  target.push(rest);
}

/** A place in bytes that are being read. */
export interface Cursor {
  readonly bytes: Uint8Array;
  at: number;
}

/** Reads what {@link putNumber} wrote. Undefined, and nothing read, for what is beyond 2^49. @throws as {@link takeUnsigned} */
export function takeSmall(cursor: Cursor): number | undefined {
  const { bytes } = cursor;
  let value = 0;
  let weight = 1;
  for (let at = cursor.at; at < cursor.at + SMALL_BYTES; at += 1) {
    const byte = bytes[at];
    invariant(byte !== undefined, "SLOT_BYTES", "a number is cut");
    value += (byte & 0x7f) * weight;
    if (byte < 0x80) {
      invariant(byte !== 0 || weight === 1, "SLOT_BYTES", "a number is padded");
      cursor.at = at + 1;
      return value;
    }
    weight *= 128;
  }
  return undefined;
}

/** Reads a number that has to be a small one. @throws as {@link takeUnsigned} */
export function takeNumber(cursor: Cursor): number {
  return takeSmall(cursor) ?? Number(takeUnsigned(cursor));
}

/** Bytes of numbers below 2^49. */
const SMALL_BYTES = 7;

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
