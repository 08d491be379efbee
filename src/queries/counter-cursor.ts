import { compareBytes } from "../core/cell.ts";
import { HASH_SEED, hashByte } from "../core/counting/byte-table.ts";
import type { KeyRange } from "../core/counting/keys.ts";
import { StreamsError } from "../errors.ts";

const DIGEST_BYTES = 4;

/**
 * Says where an answer goes on: the key, behind a digest of the question, because a key that is the beginning of an hour is in
 * the middle of a day.
 */
export function counterCursor(question: string, key: Uint8Array): string {
  return Buffer.concat([digestOf(question), key]).toString("base64url");
}

/** The key of a cursor. @throws StreamsError CURSOR_UNKNOWN for one of another question, or of none */
export function readCounterCursor(question: string, cursor: string, range: KeyRange): Uint8Array {
  const bytes = Buffer.from(cursor, "base64url");
  const key = bytes.subarray(DIGEST_BYTES);
  const known = bytes.subarray(0, DIGEST_BYTES).equals(digestOf(question));
  if (!known || compareBytes(key, range.from) < 0 || compareBytes(key, range.to) >= 0) {
    throw new StreamsError("CURSOR_UNKNOWN", "it is no cursor of this question");
  }
  return key;
}

function digestOf(question: string): Buffer {
  const digest = Buffer.alloc(DIGEST_BYTES);
  digest.writeInt32BE(Buffer.from(question).reduce(hashByte, HASH_SEED) | 0);
  return digest;
}
