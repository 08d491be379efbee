import { crc32c } from "@node-rs/crc32";

/** Layout of a record batch, format 2: Apache Kafka's protocol documentation, "Record Batch" and "Record". */
const HEADER_BYTES = 61;
const MAGIC = 2;
/** Room that the fields of a record take beside key and value, at most. */
const RECORD_ROOM = 40;

/** Builds one uncompressed record batch after the other, each in a buffer of its own, without an object for a record. */
export class BatchWriter {
  readonly #bytes: number;
  #buffer: Buffer;
  #at = HEADER_BYTES;
  #count = 0;

  /** @param bytes about how large a batch becomes */
  constructor(bytes: number) {
    this.#bytes = bytes;
    this.#buffer = Buffer.allocUnsafeSlow(bytes + RECORD_ROOM);
  }

  get count(): number {
    return this.#count;
  }

  /** Whether a record of `bytes` (key and value) still fits; the first one always does. */
  fits(bytes: number): boolean {
    return this.#count === 0 || this.#at + bytes + RECORD_ROOM <= this.#buffer.length;
  }

  add(key: Uint8Array, keyBytes: number, value: Uint8Array, valueBytes: number): void {
    const needed = HEADER_BYTES + keyBytes + valueBytes + RECORD_ROOM;
    if (this.#count === 0 && this.#buffer.length < needed) this.#buffer = Buffer.allocUnsafeSlow(needed);
    const delta = varintBytes(2 * this.#count);
    // Attributes, time delta and header count take one byte each.
    const length = 3 + delta + varintBytes(2 * keyBytes) + keyBytes + varintBytes(2 * valueBytes) + valueBytes;
    this.#varint(2 * length);
    this.#buffer[this.#at++] = 0;
    this.#buffer[this.#at++] = 0;
    this.#varint(2 * this.#count);
    this.#varint(2 * keyBytes);
    this.#copy(key, keyBytes);
    this.#varint(2 * valueBytes);
    this.#copy(value, valueBytes);
    this.#buffer[this.#at++] = 0;
    this.#count += 1;
  }

  /** The batch, all its records at one time; the writer begins anew. */
  take(timestampMs: number): Buffer {
    const batch = this.#buffer.subarray(0, this.#at);
    batch.fill(0, 0, HEADER_BYTES);
    batch.writeInt32BE(batch.length - 12, 8);
    batch.writeInt32BE(-1, 12);
    batch.writeInt8(MAGIC, 16);
    batch.writeInt32BE(this.#count - 1, 23);
    batch.writeBigInt64BE(BigInt(timestampMs), 27);
    batch.writeBigInt64BE(BigInt(timestampMs), 35);
    // No producer id, epoch or sequence: not idempotent.
    batch.fill(0xff, 43, 57);
    batch.writeInt32BE(this.#count, 57);
    batch.writeUInt32BE(crc32c(batch.subarray(21)), 17);
    this.#buffer = Buffer.allocUnsafeSlow(this.#bytes + RECORD_ROOM);
    this.#at = HEADER_BYTES;
    this.#count = 0;
    return batch;
  }

  #varint(value: number): void {
    let rest = value;
    for (; rest >= 0x80; rest >>>= 7) this.#buffer[this.#at++] = (rest & 0x7f) | 0x80;
    this.#buffer[this.#at++] = rest;
  }

  #copy(bytes: Uint8Array, length: number): void {
    for (let index = 0; index < length; index += 1) this.#buffer[this.#at + index] = bytes[index] ?? 0;
    this.#at += length;
  }
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes += 1;
  return bytes;
}
