import type { Identity } from "./identity.ts";

/**
 * Messages between the plane and an owner's process, each a JSON head and a binary body (`frames.ts`). The process handles
 * them in the order they were sent: a read sees every write that was sent before it, and what it sees is flushed.
 *
 * All owners are sent the same writes in the same order, so two owners that are asked in the same turn for a digest answer
 * for the same moment of the stream of writes.
 */

/** What an owner's process is started with. */
export interface OwnerSetup {
  readonly owner: string;
  readonly directory: string;
  /** Address space reserved for the store, in bytes; it grows beyond by itself. */
  readonly mapSizeBytes: number;
  /** A transaction gathers waiting writes until it has this many bytes. */
  readonly commitBytes: number;
  /** A transaction is refused, and the owner goes down, when the disk would have less than this free after it. */
  readonly freeBytesMin: number;
  /** Answers to one read end when they have this many bytes; the rest is asked again. */
  readonly answerBytes: number;
}

export type ToOwner =
  /** Body: packed cells. `more`: the write goes on in the next message, and is acknowledged with its last. */
  | { readonly kind: "write"; readonly seq: number; readonly more: boolean }
  /** Body: packed cells of other owners. Answered when they are merged and flushed, with how many changed something. */
  | { readonly kind: "absorb"; readonly id: number }
  /** Body: packed addresses. */
  | { readonly kind: "read"; readonly id: number }
  | { readonly kind: "list"; readonly id: number; readonly range: KeyRange }
  | { readonly kind: "range"; readonly id: number; readonly range: CellRange }
  | { readonly kind: "scan"; readonly id: number; readonly span: Span }
  | { readonly kind: "digest"; readonly id: number; readonly span: Span }
  | { readonly kind: "identify"; readonly id: number; readonly identity: Identity }
  /** Answered when the store is still where it was opened. */
  | { readonly kind: "check"; readonly id: number }
  | { readonly kind: "close" };

/** A store key as text: one character per byte, so that it travels in JSON. */
export type KeyText = string;

/** Store keys that begin with `prefix` and come after `after`, at most `limit`. */
export interface KeyRange {
  readonly prefix: KeyText;
  readonly after: KeyText | undefined;
  readonly limit: number;
}

/** Cells whose store keys are in `[from, to)`: at most `limit` and, beyond the first, about `bytes`. */
export interface CellRange {
  readonly from: KeyText;
  readonly to: KeyText;
  readonly limit: number;
  readonly bytes: number;
}

/**
 * Everything that merges (all but the identity) after `after`, up to and with `upTo`, or to the end; without an `upTo` it ends
 * after about `bytes`, at least one cell.
 */
export interface Span {
  readonly after: KeyText | undefined;
  readonly upTo: KeyText | undefined;
  readonly bytes: number;
}

/** What was met in a span. */
export interface SpanAnswer {
  readonly cells: number;
  readonly bytes: number;
  /** Key of the last cell; undefined when there was none. */
  readonly last: KeyText | undefined;
  /** Nothing comes after it, in the span. */
  readonly complete: boolean;
}

/** How far a store is. */
export interface StoreMark {
  /** Bytes of the pages in use. */
  readonly storedBytes: number;
  /** Number of the last transaction that was flushed. */
  readonly transaction: number;
}

export type FromOwner =
  | ({ readonly kind: "opened"; readonly identity: Identity | undefined } & StoreMark)
  /** After each transaction: every write up to `through` is flushed. */
  | ({ readonly kind: "committed"; readonly through: number } & StoreMark)
  | ({ readonly kind: "absorbed"; readonly id: number; readonly changed: number } & StoreMark)
  /** Answers to the first `count` addresses, in the body. */
  | { readonly kind: "answers"; readonly id: number; readonly count: number }
  /** The keys are in the body, as packed addresses. */
  | { readonly kind: "listed"; readonly id: number; readonly complete: boolean }
  /** The cells are in the body, packed; `complete` says that there are no more. */
  | { readonly kind: "ranged"; readonly id: number; readonly complete: boolean }
  /** The cells are in the body, packed. */
  | ({ readonly kind: "scanned"; readonly id: number } & SpanAnswer)
  /** `hash` is SHA-256 over the packed cells. */
  | ({ readonly kind: "digested"; readonly id: number; readonly hash: string } & SpanAnswer)
  | ({ readonly kind: "identified"; readonly id: number } & StoreMark)
  | { readonly kind: "checked"; readonly id: number }
  /** The last message of a process that failed: it takes no more work. */
  | { readonly kind: "failed"; readonly reason: OwnerReason }
  /** The last message of a process that was asked to close. */
  | { readonly kind: "closed" };

/** Why an owner is not up. Codes are stable. */
export interface OwnerReason {
  readonly code: OwnerReasonCode;
  readonly text: string;
}

/** Why an owner does not count, as stable codes; docs/kv-owners.md says what to do about each. */
export const OWNER_REASON_CODES = [
  "OWNER_EMPTY",
  "OWNER_FOREIGN",
  "OWNER_SWAPPED",
  "OWNER_FORMAT",
  "OWNER_STALE",
  "OWNER_NOT_FORMED",
  "OWNER_DIRECTORY",
  "OWNER_IN_USE",
  "OWNER_DISK_FULL",
  "OWNER_MAP_FULL",
  "OWNER_READ_ONLY",
  "OWNER_IO",
  "OWNER_CORRUPT",
  "OWNER_CRASHED",
  "OWNER_STALLED",
  "OWNER_BEHIND",
  "OWNER_FAILED",
  "OWNER_OPENING",
  "OWNER_MERGING",
  "OWNER_CLOSED",
] as const;
export type OwnerReasonCode = (typeof OWNER_REASON_CODES)[number];

/** A store key as {@link KeyText}. */
export function keyText(key: Uint8Array): KeyText {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("latin1");
}

/** The bytes of a {@link KeyText}. */
export function keyBytes(text: KeyText): Buffer {
  return Buffer.from(text, "latin1");
}
