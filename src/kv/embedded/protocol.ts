import type { Identity } from "./identity.ts";
import type { Packed } from "./wire.ts";

/**
 * Messages between the plane and an owner's thread. The thread handles them in the order they were sent: a read sees
 * every write that was sent before it, and what it sees is flushed.
 */

/** What an owner's thread is started with. */
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
  | { readonly kind: "write"; readonly seq: number; readonly parts: readonly Packed[] }
  | { readonly kind: "read"; readonly id: number; readonly addresses: ArrayBuffer }
  | { readonly kind: "list"; readonly id: number; readonly range: KeyRange }
  | { readonly kind: "identify"; readonly id: number; readonly identity: Identity }
  | { readonly kind: "close" };

/** Store keys that begin with `prefix` and come after `after`, at most `limit`. */
export interface KeyRange {
  readonly prefix: Uint8Array;
  readonly after: Uint8Array | undefined;
  readonly limit: number;
}

export type FromOwner =
  | { readonly kind: "opened"; readonly identity: Identity | undefined; readonly storedBytes: number }
  /** Every write up to `through` is flushed; `buffers` come back for the next ones. */
  | {
      readonly kind: "committed";
      readonly through: number;
      readonly buffers: readonly ArrayBuffer[];
      readonly storedBytes: number;
    }
  /** Answers to the first `count` addresses. */
  | { readonly kind: "answers"; readonly id: number; readonly count: number; readonly packed: ArrayBuffer }
  | { readonly kind: "listed"; readonly id: number; readonly keys: readonly Uint8Array[]; readonly complete: boolean }
  | { readonly kind: "identified"; readonly id: number }
  /** The last message of a thread that failed: it takes no more work. */
  | { readonly kind: "failed"; readonly reason: OwnerReason }
  /** The last message of a thread that was asked to close. */
  | { readonly kind: "closed" };

/** Why an owner is not up. Codes are stable. */
export interface OwnerReason {
  readonly code: OwnerReasonCode;
  readonly text: string;
}

export type OwnerReasonCode =
  | "OWNER_EMPTY"
  | "OWNER_FOREIGN"
  | "OWNER_SWAPPED"
  | "OWNER_FORMAT"
  | "OWNER_NOT_FORMED"
  | "OWNER_DIRECTORY"
  | "OWNER_DISK_FULL"
  | "OWNER_MAP_FULL"
  | "OWNER_IO"
  | "OWNER_CORRUPT"
  | "OWNER_CRASHED"
  | "OWNER_STALLED"
  | "OWNER_FAILED"
  | "OWNER_OPENING"
  | "OWNER_CLOSED";
