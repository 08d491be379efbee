import { crc32c } from "@node-rs/crc32";
import type { RecordHeader } from "../../../src/ports/record-batch.ts";

const HEADER_BYTES = 61;
const MAGIC = 2;

/** One record to encode; null is Kafka's null, not an empty value. */
export interface RecordToEncode {
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers: readonly RecordHeader[];
  readonly timestampMs: number;
}

/**
 * Encodes records as one uncompressed batch of record format 2, headers byte for byte and in order (layout: see
 * `batch-header.ts`). Offsets are relative to 0: the broker sets the base.
 * @throws RangeError without any record.
 */
export function encodeBatch(records: readonly RecordToEncode[]): Buffer {
  const [first] = records;
  if (first === undefined) throw new RangeError("a record batch needs a record");
  const baseTimestamp = first.timestampMs;
  const body = Buffer.concat(records.map((record, delta) => encodeRecord(record, delta, baseTimestamp)));
  const batch = Buffer.alloc(HEADER_BYTES + body.length);
  batch.writeBigInt64BE(0n, 0);
  batch.writeInt32BE(batch.length - 12, 8);
  batch.writeInt32BE(-1, 12);
  batch.writeInt8(MAGIC, 16);
  batch.writeInt16BE(0, 21);
  batch.writeInt32BE(records.length - 1, 23);
  batch.writeBigInt64BE(BigInt(baseTimestamp), 27);
  batch.writeBigInt64BE(BigInt(Math.max(...records.map((record) => record.timestampMs))), 35);
  batch.writeBigInt64BE(-1n, 43);
  batch.writeInt16BE(-1, 51);
  batch.writeInt32BE(-1, 53);
  batch.writeInt32BE(records.length, 57);
  body.copy(batch, HEADER_BYTES);
  batch.writeUInt32BE(crc32c(batch.subarray(21)), 17);
  return batch;
}

/** Encodes one record of a batch: see Apache Kafka's protocol documentation, "Record". */
export function encodeRecord(record: RecordToEncode, offsetDelta: number, baseTimestampMs: number): Buffer {
  const parts: Uint8Array[] = [
    Buffer.from([0]),
    varint(record.timestampMs - baseTimestampMs),
    varint(offsetDelta),
    ...lengthAndBytes(record.key),
    ...lengthAndBytes(record.value),
    varint(record.headers.length),
    ...record.headers.flatMap((header) => [...lengthAndBytes(header.name), ...lengthAndBytes(header.value)]),
  ];
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([varint(length), ...parts]);
}

function lengthAndBytes(bytes: Uint8Array | null): Uint8Array[] {
  return bytes === null ? [varint(-1)] : [varint(bytes.length), bytes];
}

/** A zigzag base-128 number of up to 53 bits. */
function varint(value: number): Uint8Array {
  let rest = BigInt.asUintN(64, (BigInt(value) << 1n) ^ (BigInt(value) >> 63n));
  const bytes: number[] = [];
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}
