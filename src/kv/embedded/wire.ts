import type { OrderedBytes } from "../../core/cell.ts";
import { invariant } from "../../core/invariant.ts";
import type { CellSpace } from "../../ports/kv-plane.ts";
import { sumOf } from "./sum.ts";

/**
 * How cells travel between the plane and an owner's process, and how an owner stores them.
 *
 * A store key is one byte for the space and the cell's key; a stored value is the order as 8 bytes big-endian, the cell's
 * bytes, and a CRC-32 of all before it, store key included. Comparing two stored values byte by byte, without their sums, is
 * `compareOrdered`. A packed entry carries key and value just as they are stored, so that an owner hands LMDB slices of the
 * message:
 *
 *   uint32 value length · uint16 store key length · store key · order · bytes · CRC-32
 *
 * The sum is made where a cell enters the plane and checked wherever one is read, merged onto or sent on: LMDB has no sums of
 * its own, and a flipped bit in an order would otherwise win every merge and spread to the other owners.
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
  readonly buffer: ArrayBufferLike;
  /** Where it begins; 0 unless said. */
  readonly offset?: number;
  readonly length: number;
}

const ENTRY_HEAD_BYTES = 6;
const ORDER_BYTES = 8;
const SUM_BYTES = 4;
/** What a stored value has beside the cell's bytes. */
const VALUE_OVERHEAD_BYTES = ORDER_BYTES + SUM_BYTES;
const TWO_POW_32 = 2 ** 32;

/** Bytes that a packed entry takes. */
export function entryBytes(cell: StoreWrite): number {
  return ENTRY_HEAD_BYTES + 1 + cell.key.length + VALUE_OVERHEAD_BYTES + cell.bytes.length;
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
    at = putHead(view, at, VALUE_OVERHEAD_BYTES + cell.bytes.length, cell);
    const summedFrom = at - 1;
    target.set(cell.key, at);
    at += cell.key.length;
    view.setUint32(at, Math.floor(cell.order / TWO_POW_32));
    view.setUint32(at + 4, cell.order % TWO_POW_32);
    target.set(cell.bytes, at + ORDER_BYTES);
    at += ORDER_BYTES + cell.bytes.length;
    view.setUint32(at, sumOf(target, summedFrom, at));
    at += SUM_BYTES;
  }
  return { next: index, length: at };
}

/** Packs addresses `[from, to)`, as entries with empty values. */
export function packAddresses(addresses: readonly StoreAddress[], from: number, to: number): Packed {
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
  return { buffer, length: at };
}

/** Packs store keys, as entries with empty values. */
export function packKeys(keys: readonly Uint8Array[]): Buffer {
  const nothing = new Uint8Array(0);
  const packed = Buffer.allocUnsafeSlow(keys.reduce((sum, key) => sum + storedEntryBytes(key, nothing), 0));
  let at = 0;
  for (const key of keys) at = putEntry(packed, at, key, nothing);
  return packed;
}

function putHead(view: DataView, at: number, valueLength: number, address: StoreAddress): number {
  view.setUint32(at, valueLength);
  view.setUint16(at + 4, 1 + address.key.length);
  view.setUint8(at + ENTRY_HEAD_BYTES, SPACE_CODES[address.space]);
  return at + ENTRY_HEAD_BYTES + 1;
}

/** Walks the packed entries of several buffers, one at a time. */
export class Entries {
  readonly #parts: readonly Buffer[];
  #part = 0;
  #at = 0;
  /** Of the entry that it stands at, as slices. */
  key: Buffer = Buffer.alloc(0);
  value: Buffer = Buffer.alloc(0);

  constructor(parts: readonly Buffer[]) {
    this.#parts = parts;
    this.#skip();
  }

  /** How many buffers it went past. */
  get passed(): number {
    return this.#part;
  }

  /** Whether there are no more. */
  get ended(): boolean {
    return this.#part >= this.#parts.length;
  }

  /** Bytes of the entries that are still to come. */
  get bytesLeft(): number {
    return this.#parts.slice(this.#part).reduce((sum, { length }) => sum + length, 0) - this.#at;
  }

  /** Goes to the next entry; false at the end. @throws InvariantViolation when the bytes are not packed entries. */
  next(): boolean {
    const bytes = this.#parts[this.#part];
    if (bytes === undefined) return false;
    const keyAt = this.#at + ENTRY_HEAD_BYTES;
    invariant(keyAt <= bytes.length, "KV_WIRE", "an entry is cut");
    const valueAt = keyAt + bytes.readUInt16BE(this.#at + 4);
    const end = valueAt + bytes.readUInt32BE(this.#at);
    invariant(end <= bytes.length, "KV_WIRE", "an entry is cut");
    this.key = bytes.subarray(keyAt, valueAt);
    this.value = bytes.subarray(valueAt, end);
    this.#at = end;
    this.#skip();
    return true;
  }

  #skip(): void {
    while (this.#at === this.#parts[this.#part]?.length) {
      this.#part += 1;
      this.#at = 0;
    }
  }
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

/** Appends an entry for a store key and a stored value to `target` at `at`; returns where it ends. */
export function putEntry(target: Buffer, at: number, key: Uint8Array, value: Uint8Array): number {
  target.writeUInt32BE(value.length, at);
  target.writeUInt16BE(key.length, at + 4);
  target.set(key, at + ENTRY_HEAD_BYTES);
  target.set(value, at + ENTRY_HEAD_BYTES + key.length);
  return at + storedEntryBytes(key, value);
}

/** Bytes that an entry for a store key and a stored value takes. */
export function storedEntryBytes(key: Uint8Array, value: Uint8Array): number {
  return ENTRY_HEAD_BYTES + key.length + value.length;
}

/** What the sum of a value under a store key goes on from. */
export function sumOfKey(key: Uint8Array): number {
  return sumOf(key, 0, key.length);
}

/** Whether a stored value's sum fits it and its store key, which {@link sumOfKey} summed. */
export function isWhole(stored: Buffer, keySum: number): boolean {
  const summed = stored.length - SUM_BYTES;
  if (summed < ORDER_BYTES) return false;
  return stored.readUInt32BE(summed) === sumOf(stored, 0, summed, keySum);
}

/** The plane's order of stored values: `compareOrdered` of their cells. */
export function compareStored(a: Buffer, b: Buffer): number {
  return a.compare(b, 0, b.length - SUM_BYTES, 0, a.length - SUM_BYTES);
}

/** Reads a stored value. The bytes are copied, so that keeping one does not keep its whole message. */
export function decodeStored(stored: Uint8Array): OrderedBytes {
  invariant(stored.length >= VALUE_OVERHEAD_BYTES, "KV_STORED_VALUE", `${stored.length} bytes`);
  const view = new DataView(stored.buffer, stored.byteOffset, ORDER_BYTES);
  const order = view.getUint32(0) * TWO_POW_32 + view.getUint32(4);
  invariant(Number.isSafeInteger(order), "KV_STORED_VALUE", "the order is not a safe integer");
  return { order, bytes: new Uint8Array(stored.subarray(ORDER_BYTES, stored.length - SUM_BYTES)) };
}
