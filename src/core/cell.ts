import { invariant } from "./invariant.ts";

/**
 * One stored record of a versioned kind. Every engine orders cells by (order, bytes): `order` is the version, and the
 * bytes begin with big-endian revision, partition, state, so at one version the larger revision wins, then the larger
 * partition, then deleted over live, then the body, by the same byte-wise comparison everywhere.
 */
export interface DocumentCell {
  readonly revision: number;
  readonly partition: number;
  readonly state: "live" | "deleted";
  /** Encoding of `body`. `none` for tombstones. */
  readonly bodyFormat: BodyFormat;
  /** Version number of the descriptor that decoded the record; 0 where the format has none. */
  readonly descriptorVersion: number;
  /** Broker timestamp of the record, milliseconds since 1970; −1 when the broker had none. */
  readonly timestampMs: number;
  readonly body: Uint8Array;
}

/** How a stored body is encoded. */
export const BODY_FORMATS = ["none", "json", "protobuf", "raw"] as const;
export type BodyFormat = (typeof BODY_FORMATS)[number];

const HEADER_BYTES = 4 + 4 + 1 + 1 + 4 + 8;
const STATE_LIVE = 0;
const STATE_DELETED = 1;
const UINT32_MAX = 0xffff_ffff;

/** Bytes that a cell needs around a body. */
export const CELL_OVERHEAD_BYTES = HEADER_BYTES;

/** Encodes a cell. @throws InvariantViolation when a number does not fit its field. */
export function encodeDocumentCell(cell: DocumentCell): Uint8Array {
  const { revision, partition, descriptorVersion, timestampMs } = cell;
  for (const value of [revision, partition, descriptorVersion]) {
    invariant(Number.isInteger(value) && value >= 0 && value <= UINT32_MAX, "CELL_FIELD", `${value} is not a uint32`);
  }
  invariant(Number.isSafeInteger(timestampMs), "CELL_FIELD", `timestamp ${timestampMs}`);
  const bytes = new Uint8Array(HEADER_BYTES + cell.body.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, revision);
  view.setUint32(4, partition);
  view.setUint8(8, cell.state === "deleted" ? STATE_DELETED : STATE_LIVE);
  view.setUint8(9, BODY_FORMATS.indexOf(cell.bodyFormat));
  view.setUint32(10, descriptorVersion);
  view.setBigInt64(14, BigInt(timestampMs));
  bytes.set(cell.body, HEADER_BYTES);
  return bytes;
}

/** Decodes what {@link encodeDocumentCell} wrote. @throws InvariantViolation on foreign or truncated bytes. */
export function decodeDocumentCell(bytes: Uint8Array): DocumentCell {
  invariant(bytes.length >= HEADER_BYTES, "CELL_TRUNCATED", `${bytes.length} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const state = view.getUint8(8);
  const bodyFormat = BODY_FORMATS[view.getUint8(9)];
  invariant(state === STATE_LIVE || state === STATE_DELETED, "CELL_STATE", `state ${state}`);
  invariant(bodyFormat !== undefined, "CELL_FORMAT", `body format ${view.getUint8(9)}`);
  return {
    revision: view.getUint32(0),
    partition: view.getUint32(4),
    state: state === STATE_DELETED ? "deleted" : "live",
    bodyFormat,
    descriptorVersion: view.getUint32(10),
    timestampMs: Number(view.getBigInt64(14)),
    body: bytes.subarray(HEADER_BYTES),
  };
}

/** An order and bytes: all that merging needs to know of a cell. */
export interface OrderedBytes {
  readonly order: number;
  readonly bytes: Uint8Array;
}

/**
 * The one total order of the KV plane: larger order, then larger bytes (unsigned, byte by byte, a prefix is smaller).
 * Returns a negative, zero or positive number as `a` is below, equal to or above `b`.
 */
export function compareOrdered(a: OrderedBytes, b: OrderedBytes): number {
  if (a.order !== b.order) return a.order - b.order;
  return compareBytes(a.bytes, b.bytes);
}

/** Unsigned byte-wise comparison; a prefix is smaller. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index += 1) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
