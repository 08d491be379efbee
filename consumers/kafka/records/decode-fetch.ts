import type { LeaderEpochs } from "../../../src/core/partition/state.ts";
import { AbortedFilter, type AbortedTransaction } from "./aborted.ts";
import { BatchFault, type BatchFaultCode } from "./batch-fault.ts";
import { batchLength, LENGTH_END, readBatchHeader, RECORDS_AT, type BatchHeader } from "./batch-header.ts";
import { ByteReader } from "./byte-reader.ts";
import { inflate } from "./codecs.ts";
import { RecordColumns } from "./columns.ts";

/** Fewest bytes of a record: length, attributes, timestamp, offset, key, value, header count. */
const RECORD_BYTES_MIN = 7;

/** Bounds on what one fetch of one partition may become. */
export interface DecodeLimits {
  /** Most bytes that one record batch may inflate to; a larger one is a fault. */
  readonly batchInflatedBytesMax: number;
  /** Inflated bytes after which no further batch of the same fetch is taken: it is fetched again. */
  readonly fetchInflatedBytes: number;
}

/** The record bytes of one partition in one fetch response. */
export interface FetchedBytes {
  readonly bytes: Buffer;
  /** Position that was asked for; records below it are left out. */
  readonly position: number;
  readonly aborted: readonly AbortedTransaction[];
}

/** What a fetch held: a good prefix of records, and what stopped the walk, if anything did. */
export interface DecodedFetch {
  readonly columns: RecordColumns;
  /** Position after the good prefix; equals the fetched one when there was nothing. */
  readonly next: number;
  /** Of the first and the last record batch at or above the position; undefined where there was none. */
  readonly leaderEpochs: LeaderEpochs | undefined;
  readonly fault: { readonly code: BatchFaultCode; readonly text: string } | undefined;
}

/** The records of one batch, inflated: `[from, to)` of `source`. */
interface Section {
  readonly header: BatchHeader;
  readonly source: Buffer;
  readonly from: number;
  readonly to: number;
  /** Position to report when these records turn out to be malformed. */
  readonly before: number;
}

interface Walk {
  readonly sections: Section[];
  next: number;
  leaderEpochs: LeaderEpochs | undefined;
  inflatedBytes: number;
  fault: DecodedFetch["fault"];
}

/**
 * Turns the record bytes of a fetch into columns: whole batches only, control batches and aborted transactions left
 * out, `next` one past the last offset that a whole batch covers (compacted holes and empty batches included).
 * Never throws for anything the bytes hold: a batch that cannot be read is a fault behind the good prefix.
 */
export function decodeFetch(fetched: FetchedBytes, limits: DecodeLimits): DecodedFetch {
  const walk = walkBatches(fetched, limits);
  const arena = joinSections(walk.sections);
  const capacity = walk.sections.reduce((sum, section) => sum + section.header.count, 0);
  const columns = new RecordColumns(arena.bytes, capacity);
  for (const [index, section] of walk.sections.entries()) {
    const shift = arena.shifts[index] ?? 0;
    try {
      columns.add(section.header, section.from + shift, section.to + shift, fetched.position);
    } catch (error) {
      return { columns, next: section.before, leaderEpochs: walk.leaderEpochs, fault: faultOf(error) };
    }
  }
  return { columns, next: walk.next, leaderEpochs: walk.leaderEpochs, fault: walk.fault };
}

function walkBatches(fetched: FetchedBytes, limits: DecodeLimits): Walk {
  const { bytes, position } = fetched;
  const filter = new AbortedFilter(fetched.aborted);
  const walk: Walk = {
    sections: [],
    next: position,
    leaderEpochs: undefined,
    inflatedBytes: 0,
    fault: undefined,
  };
  let at = 0;
  let floor = 0;
  try {
    for (let end = endOfBatch(bytes, at, walk); end !== undefined; end = endOfBatch(bytes, at, walk)) {
      const header = readBatchHeader(bytes, at, end);
      if (header.baseOffset < floor) {
        throw new BatchFault("undecodable", `a batch at offset ${header.baseOffset} follows one that ends at ${floor}`);
      }
      floor = header.lastOffset + 1;
      if (!takeBatch({ bytes, at, end, header, filter, limits }, walk)) break;
      if (header.lastOffset >= position) noteEpoch(header.leaderEpoch, walk);
      at = end;
    }
  } catch (error) {
    walk.fault = faultOf(error);
  }
  return walk;
}

function noteEpoch(epoch: number, walk: Walk): void {
  if (epoch >= 0) walk.leaderEpochs = { first: walk.leaderEpochs?.first ?? epoch, last: epoch };
}

/** End of the batch at `at`; undefined where only the cut rest of one is left, which a broker's size limit may cause. */
function endOfBatch(bytes: Buffer, at: number, walk: Walk): number | undefined {
  const length = batchLength(bytes, at);
  if (length !== undefined && length < LENGTH_END) {
    throw new BatchFault("undecodable", `a record batch claims a length of ${length} bytes`);
  }
  if (length !== undefined && at + length <= bytes.length) return at + length;
  const nothingWhole = at === 0 && bytes.length > 0 && walk.sections.length === 0;
  if (nothingWhole) {
    throw new BatchFault("batch-too-large", `the broker sent ${bytes.length} of the ${length ?? "?"} bytes of a batch`);
  }
  return undefined;
}

interface BatchAt {
  readonly bytes: Buffer;
  readonly at: number;
  readonly end: number;
  readonly header: BatchHeader;
  readonly filter: AbortedFilter;
  readonly limits: DecodeLimits;
}

/** Takes one batch into the walk; false when the fetch's budget is spent and it has to be fetched again. */
function takeBatch(batch: BatchAt, walk: Walk): boolean {
  const { header, filter, limits } = batch;
  const abort = header.control && isAbortMarker(recordsOf(batch, walk.next));
  const dropped = filter.drops(header, abort);
  if (!dropped && header.count > 0 && header.lastOffset >= walk.next) {
    if (walk.inflatedBytes > limits.fetchInflatedBytes) return false;
    const section = recordsOf(batch, walk.next);
    const bytes = section.to - section.from;
    if (header.count * RECORD_BYTES_MIN > bytes) {
      throw new BatchFault("undecodable", `a batch claims ${header.count} records in ${bytes} bytes`);
    }
    walk.inflatedBytes += bytes;
    walk.sections.push(section);
  }
  walk.next = Math.max(walk.next, header.lastOffset + 1);
  return true;
}

function recordsOf({ bytes, at, end, header, limits }: BatchAt, before: number): Section {
  if (header.codec === 0) return { header, source: bytes, from: at + RECORDS_AT, to: end, before };
  const source = inflate(header.codec, bytes.subarray(at + RECORDS_AT, end), limits.batchInflatedBytesMax);
  return { header, source, from: 0, to: source.length, before };
}

/** A control record's key is its version and its type, int16 each: type 0 aborts, 1 commits. */
function isAbortMarker({ source, from }: Section): boolean {
  const reader = new ByteReader(source, from);
  reader.varint();
  reader.at += 1;
  reader.varlong();
  reader.varint();
  const keyBytes = reader.varint();
  return keyBytes >= 4 && reader.at + 4 <= source.length && source.readInt16BE(reader.at + 2) === 0;
}

interface Arena {
  readonly bytes: Buffer;
  /** By section: what to add to its positions. */
  readonly shifts: readonly number[];
}

/** One byte array under all sections: the fetched bytes themselves where they suffice, else a copy. */
function joinSections(sections: readonly Section[]): Arena {
  const source = sections[0]?.source;
  if (source === undefined) return { bytes: Buffer.alloc(0), shifts: [] };
  // A slice keeps the whole response alive, all partitions of it; a copy of a small slice is cheaper than that.
  const wasteful = source.buffer.byteLength > 2 * source.byteLength;
  if (!wasteful && sections.every((section) => section.source === source)) {
    return { bytes: source, shifts: sections.map(() => 0) };
  }
  const bytes = Buffer.allocUnsafeSlow(sections.reduce((sum, section) => sum + section.to - section.from, 0));
  let at = 0;
  const shifts = sections.map((section) => {
    section.source.copy(bytes, at, section.from, section.to);
    const shift = at - section.from;
    at += section.to - section.from;
    return shift;
  });
  return { bytes, shifts };
}

function faultOf(error: unknown): { code: BatchFaultCode; text: string } {
  if (error instanceof BatchFault) return { code: error.code, text: error.message };
  return { code: "undecodable", text: `a record batch cannot be read: ${error instanceof Error ? error.name : "?"}` };
}
