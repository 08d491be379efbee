import type { OrderedBytes } from "../../core/cell.ts";
import { invariant } from "../../core/invariant.ts";
import type { CellSpace } from "../../ports/kv-plane.ts";

/**
 * How cells travel between the main thread and an owner's thread, and how an owner stores them.
 *
 * A store key is one byte for the space and the cell's key; a stored value is the order as 8 bytes big-endian and the
 * cell's bytes, so that comparing two stored values byte by byte is `compareOrdered`. A packed entry carries both just as
 * they are stored, so that an owner hands LMDB slices of the message:
 *
 *   uint32 value length · uint16 store key length · store key · value
 */

/** Spaces of an owner: the port's, control records, and the start number of processes. Stored; never renumber. */
const SPACE_CODES = { document: 1, dial: 2, slot: 3, copy: 4, control: 16, start: 17 } as const;
export type StoreSpace = CellSpace | "control" | "start";

export interface StoreAddress {
  readonly space: StoreSpace;
  readonly key: Uint8Array;
}

export interface StoreWrite extends StoreAddress, OrderedBytes {}

/** Part of a buffer that holds packed entries. */
export interface Packed {
  readonly buffer: ArrayBuffer;
  readonly length: number;
}

const ENTRY_HEAD_BYTES = 6;
const ORDER_BYTES = 8;
const TWO_POW_32 = 2 ** 32;

/** Bytes that a packed entry takes. */
export function entryBytes(cell: StoreWrite): number {
  return ENTRY_HEAD_BYTES + 1 + cell.key.length + ORDER_BYTES + cell.bytes.length;
}

/** Bytes that a packed address takes. */
function addressBytes(address: StoreAddress): number {
  return ENTRY_HEAD_BYTES + 1 + address.key.length;
}

/** The key under which an owner stores a cell. */
export function storeKey(address: StoreAddress): Uint8Array {
  const key = new Uint8Array(1 + address.key.length);
  key[0] = SPACE_CODES[address.space];
  key.set(address.key, 1);
  return key;
}

/** Packs cells from index `from` on into `target` while they fit. Returns where it stopped and the bytes used. */
export function packCells(
  cells: readonly StoreWrite[],
  from: number,
  target: Uint8Array,
): { readonly next: number; readonly length: number } {
  const view = new DataView(target.buffer, target.byteOffset, target.byteLength);
  let at = 0;
  let index = from;
  for (; index < cells.length; index += 1) {
    const cell = cells[index];
    if (cell === undefined || at + entryBytes(cell) > target.length) break;
    at = putHead(view, at, ORDER_BYTES + cell.bytes.length, cell);
    target.set(cell.key, at);
    at += cell.key.length;
    view.setUint32(at, Math.floor(cell.order / TWO_POW_32));
    view.setUint32(at + 4, cell.order % TWO_POW_32);
    target.set(cell.bytes, at + ORDER_BYTES);
    at += ORDER_BYTES + cell.bytes.length;
  }
  return { next: index, length: at };
}

/** Packs addresses `[from, to)`, as entries with empty values. */
export function packAddresses(addresses: readonly StoreAddress[], from: number, to: number): ArrayBuffer {
  const part = addresses.slice(from, to);
  const buffer = new ArrayBuffer(part.reduce((sum, address) => sum + addressBytes(address), 0));
  const view = new DataView(buffer);
  const target = new Uint8Array(buffer);
  let at = 0;
  for (const address of part) {
    at = putHead(view, at, 0, address);
    target.set(address.key, at);
    at += address.key.length;
  }
  return buffer;
}

function putHead(view: DataView, at: number, valueLength: number, address: StoreAddress): number {
  view.setUint32(at, valueLength);
  view.setUint16(at + 4, 1 + address.key.length);
  view.setUint8(at + ENTRY_HEAD_BYTES, SPACE_CODES[address.space]);
  return at + ENTRY_HEAD_BYTES + 1;
}

/**
 * Walks packed entries and hands each one's store key and value, as slices of `bytes`, to `take`.
 * @throws InvariantViolation when the bytes are not packed entries.
 */
export function eachEntry(bytes: Buffer, take: (key: Buffer, value: Buffer) => void): void {
  let at = 0;
  while (at < bytes.length) {
    const keyAt = at + ENTRY_HEAD_BYTES;
    invariant(keyAt <= bytes.length, "KV_WIRE", "an entry is cut");
    const valueAt = keyAt + bytes.readUInt16BE(at + 4);
    const end = valueAt + bytes.readUInt32BE(at);
    invariant(end <= bytes.length, "KV_WIRE", "an entry is cut");
    take(bytes.subarray(keyAt, valueAt), bytes.subarray(valueAt, end));
    at = end;
  }
}

/** Reads a stored value. The bytes are copied, so that keeping one does not keep its whole message. */
export function decodeStored(stored: Uint8Array): OrderedBytes {
  invariant(stored.length >= ORDER_BYTES, "KV_STORED_VALUE", `${stored.length} bytes`);
  const view = new DataView(stored.buffer, stored.byteOffset, ORDER_BYTES);
  const order = view.getUint32(0) * TWO_POW_32 + view.getUint32(4);
  invariant(Number.isSafeInteger(order), "KV_STORED_VALUE", "the order is not a safe integer");
  return { order, bytes: stored.slice(ORDER_BYTES) };
}
