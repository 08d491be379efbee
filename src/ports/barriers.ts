import type { Offset } from "../core/offset.ts";

/** Everything below which moment, or which offsets, is to be applied. Times are milliseconds since 1970. */
export type BarrierAt =
  | { readonly at: "now" }
  | { readonly at: "timestamp"; readonly timestampMs: number }
  | { readonly at: "offsets"; readonly offsets: ReadonlyMap<number, Offset> };

/**
 * States of a barrier. `blocked`: partitions that it waits for are stopped or paused. `given-up`: another log took their place.
 * `done` is final: it was true when it was first found, whatever becomes of the log.
 */
export const BARRIER_STATES = ["waiting", "blocked", "done", "given-up"] as const;
/** One of {@link BARRIER_STATES}. */
export type BarrierState = (typeof BARRIER_STATES)[number];

/** What keeps a partition from being applied: a stop or a pause until somebody acts, a hold until its cause is gone. */
export interface BarrierBlock {
  readonly by: "stop" | "pause" | "hold";
  /** Code of the stop, reason of the pause, cause of the hold. */
  readonly why: string;
}

/** One partition of a barrier. */
export interface BarrierPartition {
  readonly partition: number;
  /** `[from, to)`: what was not applied yet when the barrier was fixed. */
  readonly from: Offset;
  readonly to: Offset;
  /** How far it is applied by now, on whichever instance: the KV plane's copy. */
  readonly applied: Offset;
  readonly done: boolean;
  readonly blocked?: BarrierBlock;
}

/** What was passed over instead of applied, of everything below a barrier: also long before it was set. */
export interface BarrierLosses {
  readonly deadLetters: number;
  /** Ranges that were lost or skipped, and the offsets in them that are below the barrier. */
  readonly gaps: number;
  readonly gapOffsets: number;
  /** False: an entry of the gap ledger reaches beyond the barrier, so that the numbers are at most; or not {@link complete}. */
  readonly exact: boolean;
  /** False: the gap ledger is longer than was looked through, the newest part alone is counted, and there may be more. */
  readonly complete: boolean;
}

/** A barrier as it stands. */
export interface BarrierView {
  readonly id: string;
  readonly source: string;
  readonly state: BarrierState;
  readonly at: "now" | "timestamp" | "offsets";
  readonly timestampMs?: number;
  readonly actor: string;
  readonly createdAt: number;
  /** When it was first found done. */
  readonly doneAt?: number;
  readonly expiresAt: number;
  readonly asOf: number;
  readonly partitions: readonly BarrierPartition[];
  readonly losses: BarrierLosses;
}

/** How long an answer may wait for a barrier, and what ends it before. */
export interface BarrierWait {
  readonly waitMs: number;
  /** The caller is gone. */
  readonly signal: AbortSignal;
}

/** Barriers: "everything produced until then is applied". */
export interface BarrierCommands {
  /**
   * Fixes a barrier to offsets, once, and stores it.
   * @throws StreamsError SOURCE_UNKNOWN, PARTITION_UNKNOWN, BARRIER_IN_FUTURE, BARRIER_BLOCKED, BARRIERS_TOO_MANY,
   * BROKER_UNAVAILABLE; KvFault, SourceFault
   */
  create(source: string, at: BarrierAt, actor: string): Promise<BarrierView>;
  /**
   * How far it is; waits until it is done, blocked or given up. Ends early when the caller is gone or the service drains.
   * @throws StreamsError SOURCE_UNKNOWN, BARRIER_UNKNOWN; KvFault
   */
  get(source: string, id: string, wait: BarrierWait): Promise<BarrierView>;
}
