import type { OrderedBytes } from "../core/cell.ts";

/**
 * The KV plane: three owners, a write counts at W durable acks, a read that restores state asks R = N + 1 − W owners.
 *
 * Everything stored by order (documents, dials, slots, copies) is one *cell* per key: an `order` and bytes that merge by
 * `compareOrdered`. Merging is commutative and idempotent, so a retry is always safe and a quorum needs no consensus.
 */

/** Families of cells. Orders: version (document, dial), slot offset + 1 (slot), watermark + 1 (copy). */
export const CELL_SPACES = ["document", "dial", "slot", "copy"] as const;
export type CellSpace = (typeof CELL_SPACES)[number];

/** Address of a cell. `key` is at most {@link KEY_BYTES_MAX} bytes, made by the functions of `core/keys.ts`. */
export interface CellAddress {
  readonly space: CellSpace;
  readonly key: Uint8Array;
}

/** One cell to merge. */
export interface CellWrite extends CellAddress, OrderedBytes {}

/** One cell of a scan. */
export interface ScannedCell extends OrderedBytes {
  readonly key: Uint8Array;
}

/** Part of a range of cells. */
export interface CellScan {
  readonly space: CellSpace;
  /** First key, inclusive; at most one byte longer than {@link KEY_BYTES_MAX}, as is `to`. */
  readonly from: Uint8Array;
  /** Exclusive. At or below `from`: nothing. */
  readonly to: Uint8Array;
  /** Cells of a page at most, from 1 on; a page also ends after a bounded number of bytes. */
  readonly limit: number;
}

/** A page of a range, sorted by the bytes of the keys. */
export interface ScanPage {
  readonly cells: readonly ScannedCell[];
  /** The `from` to go on with; undefined: the range was read to its end. A page that is not the last has at least one cell. */
  readonly next: Uint8Array | undefined;
}

/** Longest key, in bytes: fits every engine with its own prefix. */
export const KEY_BYTES_MAX = 1_900;

/** Who holds a write durably. `owners` names them where the engine knows. */
export interface Acks {
  readonly count: number;
  readonly owners: readonly string[];
}

/** Outcome of one cell of a job's write: `stored` is what the plane holds now. */
export interface CellReceipt {
  readonly outcome: "applied" | "already-applied" | "superseded";
  readonly storedOrder: number;
}

/** What an owner is: `up` counts for W and R, the others do not. */
export const OWNER_STATES = ["up", "merging", "down", "lost"] as const;

/** How far a new incarnation is with merging what the others hold. */
export interface MergeProgress {
  /** `waiting` for an owner that it needs, `copy` what the others hold, `check` that nothing is missing. */
  readonly phase: (typeof MERGE_PHASES)[number];
  /** Cells and bytes that were gone through in this phase. */
  readonly cells: number;
  readonly bytes: number;
  /** About how many bytes the others hold; 0 when it is not known yet. */
  readonly expectedBytes: number;
}
/** Phases of merging, in order. */
export const MERGE_PHASES = ["waiting", "copy", "check"] as const;

/** The last time that an owner was compared with the others, milliseconds since 1970, and how many cells it had missed. */
export interface OwnerComparison {
  readonly at: number;
  readonly missed: number;
}

/** One owner as operators read it. */
export interface OwnerStatus {
  readonly owner: string;
  readonly state: (typeof OWNER_STATES)[number];
  /** Why it is not up: a stable code and a text. */
  readonly reason?: { readonly code: string; readonly text: string };
  readonly since: number;
  /** One life of the owner's data; acks belong to it. */
  readonly incarnation: string;
  /** Writes waiting for this owner, in bytes. */
  readonly pendingBytes: number;
  /** Where its data lives and how much there is, where the engine knows. */
  readonly place?: string;
  readonly storedBytes?: number;
  /** While it is `merging`. */
  readonly merge?: MergeProgress;
  /** Undefined before the first time. */
  readonly compared?: OwnerComparison;
}

/** A store fault (I11: hold, never dead-letter): the caller keeps its batch and tries again. */
export class KvFault extends Error {
  readonly code: "KV_NO_QUORUM" | "KV_CLOSED" | "KV_TIMEOUT" | "KV_ENGINE";

  constructor(code: KvFault["code"], text: string, options?: ErrorOptions) {
    super(text, options);
    this.name = "KvFault";
    this.code = code;
  }
}

/** A control record: small, changed by compare-and-set, read back at R before it is obeyed. */
export interface ControlRecord {
  /** Changes with every write of this record; opaque. */
  readonly tag: string;
  readonly value: Uint8Array;
}

/** Whether a compare-and-set took. */
export type CasOutcome =
  | { readonly outcome: "written"; readonly record: ControlRecord }
  /** Somebody else's value stands; `current` is it, undefined when there is none. */
  | { readonly outcome: "conflict"; readonly current: ControlRecord | undefined };

/** Names and settings of the whole deployment's small state: definitions, ledgers, starts, stops, bindings. */
export interface ControlStore {
  /** Reads at R; answers that differ are written back at W first. @throws KvFault */
  read(name: string): Promise<ControlRecord | undefined>;
  /** Writes when the record's tag is `expected` (undefined: when there is none); durable at W when it resolves. @throws KvFault */
  compareAndSet(name: string, expected: string | undefined, value: Uint8Array): Promise<CasOutcome>;
  /** Names beginning with `prefix`, sorted, at most `limit` (default 1,000). @throws KvFault */
  list(prefix: string, limit?: number): Promise<readonly string[]>;
}

/** The store of everything that records become, and of the deployment's small state. */
export interface KvPlane {
  readonly control: ControlStore;
  /**
   * Merges cells and resolves when W owners hold all of them durably (flushed). A batch may name one key several times.
   * Bounded: callers wait here while owners are behind.
   * @throws KvFault when fewer than W owners can take it: nothing is lost by trying the same batch again.
   */
  write(batch: readonly CellWrite[]): Promise<Acks>;
  /** As {@link write}, but reads at R first and says per cell what it did: for jobs, whose receipts must add up. @throws KvFault */
  writeWithReceipts(batch: readonly CellWrite[]): Promise<readonly CellReceipt[]>;
  /**
   * Reads at R and merges; where answers differ the winner is written back at W before this resolves, so no later read
   * goes backwards and what it returns may be acknowledged on. By index of `addresses`; undefined is absent.
   * @throws KvFault
   */
  restore(addresses: readonly CellAddress[]): Promise<readonly (OrderedBytes | undefined)[]>;
  /**
   * Reads the cells of a range at R, a page at a time, by the rule of {@link restore}: what differs, or what one owner alone
   * has, is written back at W before the page resolves. Pages of a range are not of one moment.
   * @throws KvFault
   */
  scan(range: CellScan): Promise<ScanPage>;
  /** What each owner holds of one cell, for `explain`; an owner that is not up answers undefined in `answers`. */
  inspect(address: CellAddress): Promise<readonly OwnerAnswer[]>;
  owners(): readonly OwnerStatus[];
  /**
   * Gives an owner that is not up a new, empty incarnation and has it merge the others. Resolves when that has begun;
   * `owners()` shows how far it is. With `acceptLoss`, one other is enough: what only lost owners held is given up.
   * @throws StreamsError KV_OWNER_UNKNOWN; KV_REPAIR_REFUSED with the reason, also where an engine repairs itself
   */
  repair(owner: string, acceptLoss: boolean): Promise<void>;
  /** Calls `listener` whenever an owner's state changes; the returned function ends it. */
  onChange(listener: () => void): () => void;
  /** Waits for writes under way, then closes. */
  close(): Promise<void>;
}

/** What one owner holds of one cell. */
export interface OwnerAnswer {
  readonly owner: string;
  readonly answer: "holds" | "absent" | "unavailable";
  readonly cell?: OrderedBytes;
}
