import type { Ledger } from "../core/ledger/ledger.ts";
import { OFFSET_LIMIT } from "../core/offset.ts";
import type { StoredLetter } from "../ports/letters.ts";
import type { RecordBatch } from "../ports/record-batch.ts";

/** One letter's record as its partition delivered it, so that the one verdict over records is the verdict over it (I17). */
export function recordOf(letter: StoredLetter): RecordBatch {
  const { partition, offset, timestampMs, key, value, headers } = letter;
  return {
    partition,
    assignmentEpoch: -1,
    fetchedAt: offset,
    next: offset + 1,
    end: offset + 1,
    logStart: undefined,
    count: 1,
    byteLength: bytesOf(letter),
    offsetAt: () => offset,
    timestampAt: () => timestampMs,
    keyAt: () => key,
    valueAt: () => value,
    headersAt: () => headers,
  };
}

/** Bytes of a letter's key and value. */
export function bytesOf({ key, value }: Pick<StoredLetter, "key" | "value">): number {
  return (key?.length ?? 0) + (value?.length ?? 0);
}

/** A ledger that judges everything under one revision: the one that a job pins. */
export function pinned(revision: number): Ledger {
  return { rows: [{ number: 1, from: 0, until: OFFSET_LIMIT, revision }], nextNumber: 2 };
}
