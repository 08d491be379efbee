import { crc32c } from "@node-rs/crc32";
import { BatchFault } from "./batch-fault.ts";

/**
 * Layout of a record batch, format 2 (Apache Kafka's protocol documentation, "Record Batch"): base offset int64, length
 * int32 (of all that follows it), leader epoch int32, magic int8, CRC-32C uint32 (of all that follows it), attributes
 * int16, last offset delta int32, base timestamp int64, max timestamp int64, producer id int64, producer epoch int16,
 * base sequence int32, record count int32, records.
 */
export const LENGTH_END = 12;
const LEADER_EPOCH_AT = 12;
const MAGIC_AT = 16;
const CRC_AT = 17;
const ATTRIBUTES_AT = 21;
const LAST_DELTA_AT = 23;
const BASE_TIMESTAMP_AT = 27;
const MAX_TIMESTAMP_AT = 35;
const PRODUCER_AT = 43;
const COUNT_AT = 57;
/** Where the records begin, from the start of a batch. */
export const RECORDS_AT = 61;

const CODEC_MASK = 0x07;
const APPEND_TIME = 0x08;
const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;

/** What one record batch says about itself. */
export interface BatchHeader {
  readonly baseOffset: number;
  readonly lastOffset: number;
  /** Of the leader that appended the batch; it never falls along a log. −1 where the broker kept none. */
  readonly leaderEpoch: number;
  /** Compression codec number, 0 to 7. */
  readonly codec: number;
  readonly baseTimestampMs: number;
  /** Set where the broker stamped the batch: the one timestamp of all its records. */
  readonly appendTimestampMs: number | undefined;
  /** Read for transactional and control batches alone; −1 for all others. */
  readonly producerId: bigint;
  readonly transactional: boolean;
  readonly control: boolean;
  readonly count: number;
}

/** Length of the whole batch at `at` in bytes, its first two fields included; undefined when not even these are there. */
export function batchLength(bytes: Buffer, at: number): number | undefined {
  if (at + LENGTH_END > bytes.length) return undefined;
  return LENGTH_END + bytes.readInt32BE(at + 8);
}

/**
 * Reads and checks the header of the whole batch `[at, end)`.
 * @throws BatchFault `undecodable` for another message format or impossible fields, `checksum` when the CRC differs.
 */
export function readBatchHeader(bytes: Buffer, at: number, end: number): BatchHeader {
  requireFormat2(bytes, at, end);
  const crc = bytes.readUInt32BE(at + CRC_AT);
  if (crc32c(bytes.subarray(at + ATTRIBUTES_AT, end)) !== crc) {
    throw new BatchFault("checksum", "the CRC-32C of a record batch does not match its bytes");
  }
  const attributes = bytes.readInt16BE(at + ATTRIBUTES_AT);
  const baseOffset = int64At(bytes, at);
  const lastDelta = bytes.readInt32BE(at + LAST_DELTA_AT);
  const count = bytes.readInt32BE(at + COUNT_AT);
  if (baseOffset < 0 || lastDelta < 0 || !Number.isSafeInteger(baseOffset + lastDelta)) {
    throw new BatchFault("undecodable", `a record batch claims the offsets ${baseOffset} + ${lastDelta}`);
  }
  if (count < 0 || count > lastDelta + 1) {
    throw new BatchFault("undecodable", `a record batch claims ${count} records in ${lastDelta + 1} offsets`);
  }
  return {
    baseOffset,
    lastOffset: baseOffset + lastDelta,
    leaderEpoch: bytes.readInt32BE(at + LEADER_EPOCH_AT),
    codec: attributes & CODEC_MASK,
    baseTimestampMs: int64At(bytes, at + BASE_TIMESTAMP_AT),
    appendTimestampMs: (attributes & APPEND_TIME) === 0 ? undefined : int64At(bytes, at + MAX_TIMESTAMP_AT),
    producerId: (attributes & (TRANSACTIONAL | CONTROL)) === 0 ? -1n : bytes.readBigInt64BE(at + PRODUCER_AT),
    transactional: (attributes & TRANSACTIONAL) !== 0,
    control: (attributes & CONTROL) !== 0,
    count,
  };
}

/** A signed 64-bit number as a Number, without a BigInt on the way; beyond the safe integers it is rounded. */
function int64At(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);
}

function requireFormat2(bytes: Buffer, at: number, end: number): void {
  const magic = end - at > MAGIC_AT ? bytes.readInt8(at + MAGIC_AT) : -1;
  if (magic === 0 || magic === 1) {
    throw new BatchFault("undecodable", `message format ${magic} is not supported: format 2 is required`);
  }
  if (magic !== 2 || end - at < RECORDS_AT) {
    throw new BatchFault("undecodable", `not a record batch: magic ${magic} in ${end - at} bytes`);
  }
}
