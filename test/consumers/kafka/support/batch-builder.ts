import { crc32c } from "@node-rs/crc32";

import { encodeBatch, encodeRecord } from "../../../../consumers/kafka/records/encode-batch.ts";
import type { RecordHeader } from "../../../../src/ports/record-batch.ts";

const RECORDS_AT = 61;

/** One record of a crafted batch. */
export interface CraftedRecord {
  readonly delta?: number;
  readonly key?: Uint8Array | string | null;
  readonly value?: Uint8Array | string | null;
  readonly headers?: readonly RecordHeader[];
  readonly timestampMs?: number;
}

/** A record batch as a broker could send it, with any of its fields bent. */
export interface CraftedBatch {
  readonly base: number;
  readonly records: readonly CraftedRecord[];
  readonly lastDelta?: number;
  readonly codec?: { readonly number: number; readonly deflate: (records: Buffer) => Buffer };
  readonly transactional?: boolean;
  readonly control?: "abort" | "commit";
  readonly producerId?: bigint;
  readonly appendTimestampMs?: number;
  readonly magic?: number;
  readonly count?: number;
  /** Replaces the record bytes, whatever the records are. */
  readonly body?: Buffer;
}

/** Encodes a crafted batch with a valid CRC. */
export function craft(batch: CraftedBatch): Buffer {
  const records = batch.control === undefined ? batch.records : [controlRecord(batch.control)];
  const baseTimestamp = records[0]?.timestampMs ?? 1_000;
  const plain = Buffer.concat(records.map((record, index) => encode(record, record.delta ?? index, baseTimestamp)));
  const body = batch.body ?? batch.codec?.deflate(plain) ?? plain;
  const template = encodeBatch([{ key: null, value: null, headers: [], timestampMs: baseTimestamp }]);
  const bytes = Buffer.concat([template.subarray(0, RECORDS_AT), body]);
  const append = batch.appendTimestampMs === undefined ? 0 : 0x08;
  const flags = (batch.transactional === true || batch.control !== undefined ? 0x10 : 0) | (batch.control ? 0x20 : 0);
  bytes.writeBigInt64BE(BigInt(batch.base), 0);
  bytes.writeInt32BE(bytes.length - 12, 8);
  bytes.writeInt8(batch.magic ?? 2, 16);
  bytes.writeInt16BE((batch.codec?.number ?? 0) | append | flags, 21);
  bytes.writeInt32BE(batch.lastDelta ?? Math.max(0, records.length - 1), 23);
  bytes.writeBigInt64BE(BigInt(batch.appendTimestampMs ?? baseTimestamp), 35);
  bytes.writeBigInt64BE(batch.producerId ?? -1n, 43);
  bytes.writeInt32BE(batch.count ?? records.length, 57);
  bytes.writeUInt32BE(crc32c(bytes.subarray(21)), 17);
  return bytes;
}

/** `count` records with the values `v<offset>`. */
export function numbered(base: number, count: number): CraftedRecord[] {
  return Array.from({ length: count }, (_, index) => ({ key: `k${base + index}`, value: `v${base + index}` }));
}

function encode(record: CraftedRecord, delta: number, baseTimestamp: number): Buffer {
  const bytes = (field: Uint8Array | string | null | undefined): Uint8Array | null =>
    field === null || field === undefined ? null : Buffer.from(field);
  const timestampMs = record.timestampMs ?? baseTimestamp;
  const whole = { key: bytes(record.key), value: bytes(record.value), headers: record.headers ?? [], timestampMs };
  return encodeRecord(whole, delta, baseTimestamp);
}

function controlRecord(type: "abort" | "commit"): CraftedRecord {
  return { key: Buffer.from([0, 0, 0, type === "abort" ? 0 : 1]), value: Buffer.from([0, 0, 0, 0, 0, 0]) };
}
