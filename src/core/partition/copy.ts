import { invariant } from "../invariant.ts";
import type { Offset } from "../offset.ts";

/** Recognises one record of a log: the last acknowledged one. */
export interface Fingerprint {
  readonly offset: Offset;
  readonly timestampMs: number;
  /** Hash over key and value, hexadecimal; null and empty differ. */
  readonly hash: string;
}

/** The KV plane's copy of a commit: "applied this far". Written before the commit, never goes down. */
export interface Copy {
  readonly watermark: Offset;
  readonly fingerprint: Fingerprint | undefined;
  /** Log start when it was written; a lower one later means another log. */
  readonly logStartSeen: Offset | undefined;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** A copy as a cell: ordered by watermark + 1, so that a smaller one never replaces it. */
export function encodeCopy(copy: Copy): { readonly order: number; readonly bytes: Uint8Array } {
  const { watermark, fingerprint, logStartSeen } = copy;
  const record = fingerprint === undefined ? null : [fingerprint.offset, fingerprint.timestampMs, fingerprint.hash];
  return { order: watermark + 1, bytes: encoder.encode(JSON.stringify([watermark, record, logStartSeen ?? null])) };
}

/** Reads what {@link encodeCopy} wrote. @throws InvariantViolation on foreign bytes. */
export function decodeCopy(bytes: Uint8Array): Copy {
  const parsed: unknown = JSON.parse(decoder.decode(bytes));
  invariant(Array.isArray(parsed) && parsed.length === 3, "COPY_FORMAT", "a copy is a list of three");
  const [watermark, record, logStartSeen] = parsed as readonly unknown[];
  invariant(typeof watermark === "number", "COPY_FORMAT", "watermark");
  invariant(logStartSeen === null || typeof logStartSeen === "number", "COPY_FORMAT", "log start");
  return { watermark, fingerprint: decodeFingerprint(record), logStartSeen: logStartSeen ?? undefined };
}

function decodeFingerprint(record: unknown): Fingerprint | undefined {
  if (record === null) return undefined;
  invariant(Array.isArray(record) && record.length === 3, "COPY_FORMAT", "fingerprint");
  const [offset, timestampMs, hash] = record as readonly unknown[];
  invariant(
    typeof offset === "number" && typeof timestampMs === "number" && typeof hash === "string",
    "COPY_FORMAT",
    "fingerprint",
  );
  return { offset, timestampMs, hash };
}
