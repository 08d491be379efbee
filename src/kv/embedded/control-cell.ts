import type { OrderedBytes } from "../../core/cell.ts";
import { invariant } from "../../core/invariant.ts";
import type { ControlRecord } from "../../ports/kv-plane.ts";

/**
 * How a control record is stored. The order of its cell is (start number of the process, attempt); the bytes are state,
 * the order of the compare-and-set that wrote this value, as 8 bytes big-endian, and the value. The tag is that second
 * order: writing a record again under a higher order, to settle it, does not change what callers see.
 */

const ATTEMPTS_PER_START = 2 ** 24;
/** Start numbers stay below this, so that an order is a safe integer. */
export const START_NUMBERS_MAX = 2 ** 29;
const STATE_ABSENT = 0;
const STATE_PRESENT = 1;
const HEAD_BYTES = 9;

/** Attempts that one start number has. */
export const ATTEMPTS_MAX = ATTEMPTS_PER_START - 1;

/** The order of an attempt. @throws InvariantViolation when a number does not fit. */
export function controlOrder(start: number, attempt: number): number {
  invariant(start > 0 && start < START_NUMBERS_MAX, "KV_START_NUMBER", `start number ${start}`);
  invariant(attempt >= 0 && attempt <= ATTEMPTS_MAX, "KV_ATTEMPT", `attempt ${attempt}`);
  return start * ATTEMPTS_PER_START + attempt;
}

/** Bytes of a record's cell: its value as the attempt of `order` wrote it. */
export function encodePresent(order: number, value: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEAD_BYTES + value.length);
  bytes[0] = STATE_PRESENT;
  new DataView(bytes.buffer).setBigUint64(1, BigInt(order));
  bytes.set(value, HEAD_BYTES);
  return bytes;
}

/** Bytes of a cell that says: there is no such record. */
export function encodeAbsent(): Uint8Array {
  return Uint8Array.of(STATE_ABSENT);
}

/** The record of a cell; undefined when there is none. @throws InvariantViolation on foreign bytes. */
export function decodeControl(cell: OrderedBytes | undefined): ControlRecord | undefined {
  if (cell === undefined) return undefined;
  const { bytes } = cell;
  if (bytes[0] === STATE_ABSENT) return undefined;
  invariant(bytes[0] === STATE_PRESENT && bytes.length >= HEAD_BYTES, "KV_CONTROL_CELL", "foreign control record");
  const order = Number(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigUint64(1));
  const tag = `${Math.floor(order / ATTEMPTS_PER_START)}.${order % ATTEMPTS_PER_START}`;
  return { tag, value: bytes.subarray(HEAD_BYTES) };
}
