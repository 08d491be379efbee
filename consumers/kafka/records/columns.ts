import type { RecordHeader } from "../../../src/ports/record-batch.ts";
import { BatchFault } from "./batch-fault.ts";
import type { BatchHeader } from "./batch-header.ts";
import { ByteReader } from "./byte-reader.ts";

const ABSENT = -1;
/** Bytes of the typed arrays per record: two doubles and four 32-bit numbers. */
const COLUMN_BYTES = 2 * 8 + 4 * 4;

/** Records as positions in one byte array: nothing is allocated per record. */
export class RecordColumns {
  readonly #bytes: Uint8Array;
  readonly #reader: ByteReader;
  readonly #offsets: Float64Array;
  readonly #timestamps: Float64Array;
  readonly #keyAt: Int32Array;
  readonly #keyBytes: Int32Array;
  readonly #valueAt: Int32Array;
  readonly #valueBytes: Int32Array;
  #count = 0;

  /** @param capacity most records that will be added. */
  constructor(bytes: Uint8Array, capacity: number) {
    this.#bytes = bytes;
    this.#reader = new ByteReader(bytes);
    this.#offsets = new Float64Array(capacity);
    this.#timestamps = new Float64Array(capacity);
    this.#keyAt = new Int32Array(capacity);
    this.#keyBytes = new Int32Array(capacity);
    this.#valueAt = new Int32Array(capacity);
    this.#valueBytes = new Int32Array(capacity);
  }

  get count(): number {
    return this.#count;
  }

  /** Bytes held: the records and the columns. */
  get byteLength(): number {
    return this.#bytes.byteLength + this.#offsets.length * COLUMN_BYTES;
  }

  /**
   * Adds those records of a batch that are at or after offset `position`, all of them or none. They stand, inflated, in
   * `[from, to)` of the bytes.
   * @throws BatchFault `undecodable` when they are not exactly the records that the header claims.
   */
  add(header: BatchHeader, from: number, to: number, position: number): void {
    const before = this.#count;
    const reader = this.#reader;
    reader.at = from;
    let previous = header.baseOffset - 1;
    try {
      for (let index = 0; index < header.count; index += 1) {
        previous = this.#addRecord(header, to, previous, position);
      }
      if (reader.at !== to) throw malformed("bytes are left after its last record");
    } catch (error) {
      this.#count = before;
      throw error;
    }
  }

  /** Reads one record at the reader; returns its offset. */
  #addRecord(header: BatchHeader, to: number, previous: number, position: number): number {
    const reader = this.#reader;
    const length = reader.varint();
    const end = reader.at + length;
    if (length <= 0 || end > to) throw malformed("a record reaches past it");
    reader.at += 1; // attributes: unused in format 2
    const delta = reader.varlong();
    const offset = header.baseOffset + reader.varint();
    if (offset <= previous || offset > header.lastOffset) throw malformed(`offset ${offset} is out of order`);
    const keyBytes = reader.varint();
    const keyAt = reader.at;
    if (keyBytes > 0) reader.at += keyBytes;
    const valueBytes = reader.varint();
    const valueAt = reader.at;
    if (valueBytes > 0) reader.at += valueBytes;
    if (keyBytes < ABSENT || valueBytes < ABSENT || reader.at >= end)
      throw malformed("a field reaches past its record");
    this.#skipHeaders(end);
    if (reader.at !== end) throw malformed("a record's length does not fit its fields");
    if (offset < position) return offset;
    const index = this.#count++;
    this.#offsets[index] = offset;
    this.#timestamps[index] = header.appendTimestampMs ?? header.baseTimestampMs + delta;
    this.#keyAt[index] = keyAt;
    this.#keyBytes[index] = keyBytes;
    this.#valueAt[index] = valueAt;
    this.#valueBytes[index] = valueBytes;
    return offset;
  }

  /** Walks the headers so that reading them later cannot fail. */
  #skipHeaders(end: number): void {
    const reader = this.#reader;
    const headers = reader.varint();
    if (headers < 0) throw malformed("a record has a negative header count");
    for (let header = 0; header < headers && reader.at <= end; header += 1) {
      const nameBytes = reader.varint();
      if (nameBytes < 0) throw malformed("a header has no name");
      reader.at += nameBytes;
      const valueBytes = reader.varint();
      if (valueBytes < ABSENT) throw malformed("a header's value has a negative length");
      if (valueBytes > 0) reader.at += valueBytes;
    }
  }

  offsetAt(index: number): number {
    return this.#offsets[this.#checked(index)] ?? ABSENT;
  }

  timestampAt(index: number): number {
    return this.#timestamps[this.#checked(index)] ?? ABSENT;
  }

  keyAt(index: number): Uint8Array | null {
    this.#checked(index);
    return this.#slice(this.#keyAt[index] ?? 0, this.#keyBytes[index] ?? ABSENT);
  }

  valueAt(index: number): Uint8Array | null {
    this.#checked(index);
    return this.#slice(this.#valueAt[index] ?? 0, this.#valueBytes[index] ?? ABSENT);
  }

  /** Reads the headers from the bytes: names as they are, duplicates and order kept, null values as null. */
  headersAt(index: number): readonly RecordHeader[] {
    this.#checked(index);
    const at = (this.#valueAt[index] ?? 0) + Math.max(0, this.#valueBytes[index] ?? 0);
    const reader = new ByteReader(this.#bytes, at);
    const count = reader.varint();
    const headers: RecordHeader[] = [];
    for (let header = 0; header < count; header += 1) {
      const name = this.#take(reader, reader.varint());
      headers.push({ name: name ?? this.#bytes.subarray(0, 0), value: this.#take(reader, reader.varint()) });
    }
    return headers;
  }

  #take(reader: ByteReader, length: number): Uint8Array | null {
    const at = reader.at;
    if (length > 0) reader.at += length;
    return this.#slice(at, length);
  }

  #slice(at: number, length: number): Uint8Array | null {
    return length === ABSENT ? null : this.#bytes.subarray(at, at + length);
  }

  #checked(index: number): number {
    if (index >= 0 && index < this.#count) return index;
    throw new RangeError(`record ${index} of ${this.#count}`);
  }
}

function malformed(what: string): BatchFault {
  return new BatchFault("undecodable", `a record batch is malformed: ${what}`);
}
