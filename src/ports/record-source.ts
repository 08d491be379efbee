import type { Offset } from "../core/offset.ts";
import type { RecordBatch } from "./record-batch.ts";

/** What a partition's log holds now: `[logStart, end)`. */
export interface LogBounds {
  readonly logStart: Offset;
  /** Last stable offset: the end for a read_committed reader. */
  readonly end: Offset;
  /**
   * End of everything that was acknowledged to producers: behind `end` while a transaction is open, since nothing after its
   * first record can be read before it ends. Absent: the same as `end`.
   */
  readonly highWatermark?: Offset;
}

/** The bounds of one partition, or why they are unknown (no leader, broker away, topic gone). */
export type BoundsAnswer =
  | ({ readonly known: true } & LogBounds)
  | { readonly known: false; readonly cause: SourceFaultCode; readonly text: string };

/** What went wrong at the broker edge; total over every foreign error. */
export const SOURCE_FAULTS = [
  "broker-unreachable",
  "topic-missing",
  "leaderless",
  "not-authorized",
  "authentication-failed",
  "group-unavailable",
  "fenced",
  "timeout",
  "unknown",
] as const;
export type SourceFaultCode = (typeof SOURCE_FAULTS)[number];

/** A broker fault (I11: hold, never dead-letter). Thrown by the calls of {@link RecordSource} and of DeadLetters. */
export class SourceFault extends Error {
  readonly code: SourceFaultCode;

  constructor(code: SourceFaultCode, text: string, options?: ErrorOptions) {
    super(text, options);
    this.name = "SourceFault";
    this.code = code;
  }
}

/** A new assignment after a group join. Every partition in it is paused: nothing is fetched before {@link RecordSource.begin}. */
export interface Assignment {
  readonly epoch: number;
  readonly partitions: readonly number[];
}

/** Why a fetch of one partition could not be turned into records. That partition has been paused. */
export interface FetchFault {
  readonly partition: number;
  readonly assignmentEpoch: number;
  /** The position that was asked for. */
  readonly position: Offset;
  readonly code: "out-of-range" | "undecodable" | "codec-missing" | "checksum" | "batch-too-large";
  readonly text: string;
}

/**
 * What a source reports. Called synchronously and never concurrently for one partition; must return quickly and not
 * throw (a throw is caught, logged and turned into a rebuild of the consumer).
 */
export interface SourceEvents {
  /** The group joined: decide a start for each partition, then call `begin` for it, or leave it paused. */
  assigned(assignment: Assignment): void;
  /** Results under this epoch are void from now on. Called before the next `assigned`, and when the consumer crashed. */
  revoked(epoch: number): void;
  /**
   * Just before a rejoin, while the generation still stands: the last chance for a commit. Commits sent synchronously
   * from here leave before the join does.
   */
  rebalancing(epoch: number): void;
  /** The next records of a partition; also called with `count` 0 when a fetch held control records or holes only. */
  batch(batch: RecordBatch): void;
  fault(fault: FetchFault): void;
  /** The consumer's own state changed; for status and health. */
  state(state: SourceState): void;
}

/** Lifecycle of the consumer behind a source. */
export const SOURCE_STATES = ["idle", "joining", "joined", "backing-off", "stopping", "stopped"] as const;
/** State of the consumer, and why it is in it. */
export interface SourceState {
  readonly state: (typeof SOURCE_STATES)[number];
  /** Why it is backing off. */
  readonly cause?: SourceFaultCode;
  readonly text?: string;
  /** How often the supervisor has rebuilt it since the process began. */
  readonly rebuilds: number;
}

/** Outcome of one commit attempt. */
export type CommitOutcome =
  | { readonly outcome: "committed" }
  /** The epoch, generation or assignment is no longer ours: do not try again under it. */
  | { readonly outcome: "fenced" }
  /** The broker could not take it now; the caller decides when to try again. */
  | { readonly outcome: "failed"; readonly cause: SourceFaultCode; readonly text: string };

/** What identifies the log that a source is bound to. */
export interface TopicIdentity {
  readonly clusterId: string;
  readonly topic: string;
  readonly partitions: number;
}

/**
 * One feed of records with a group: one topic, one consumer. Positions are always explicit, nothing is ever committed
 * but what {@link commit} is given, and nothing moves a position but {@link begin}.
 */
export interface RecordSource {
  /** Connects and joins; keeps doing so with backoff until {@link stop}. Resolves at once; progress comes as events. */
  start(events: SourceEvents): void;
  /** Starts (or restarts) fetching a partition at `position`. Ignored when `epoch` is not the current one. */
  begin(epoch: number, partition: number, position: Offset): void;
  /** Stops fetching a partition; what was already fetched may still arrive once. */
  pause(epoch: number, partition: number): void;
  /** Goes on fetching at the place where {@link pause} left off. */
  resume(epoch: number, partition: number): void;
  /**
   * One attempt to commit watermarks, fenced by epoch and generation.
   * @throws nothing: a foreign error is an outcome.
   */
  commit(epoch: number, watermarks: ReadonlyMap<number, Offset>): Promise<CommitOutcome>;
  /** The group's committed offsets by partition; undefined where there is none (a negative one is none). @throws SourceFault */
  committed(): Promise<ReadonlyMap<number, Offset | undefined>>;
  /** Log bounds of every partition of the topic. One leaderless partition spoils one entry. @throws SourceFault */
  bounds(): Promise<ReadonlyMap<number, BoundsAnswer>>;
  /** The first offset whose timestamp is at or after `timestampMs`, by partition; the end where there is none. @throws SourceFault */
  offsetsAt(timestampMs: number): Promise<ReadonlyMap<number, Offset>>;
  /** @throws SourceFault, `topic-missing` when there is no such topic. */
  identity(): Promise<TopicIdentity>;
  /** The topic's retention and cleanup policy. @throws SourceFault */
  retention(): Promise<TopicRetention>;
  /**
   * Reads one stretch of a partition from `from` on, whoever owns it: no group, no live position, a few at once. At most
   * about `maxBytes`, but always the first batch of records whole. Works from the first moment to {@link stop}.
   * @throws SourceFault
   */
  read(partition: number, from: Offset, maxBytes: number): Promise<RecordRead>;
  /** Leaves the group and closes every connection within `deadlineMs`; commit before this. Never rejects. */
  stop(deadlineMs: number): Promise<void>;
}

/**
 * What one read of a partition gave. `records` may be none: then the stretch up to the batch's `next` holds holes or control
 * records only, and at the end `next` is where it was read. `out-of-range`: the log has no such offset. `fault`: what
 * begins there cannot be turned into records.
 */
export type RecordRead =
  | { readonly read: "records"; readonly batch: RecordBatch }
  | { readonly read: "out-of-range" }
  | { readonly read: "fault"; readonly code: FetchFault["code"]; readonly text: string };

/** How long a topic keeps its records; undefined is without limit. */
export interface TopicRetention {
  readonly retentionMs: number | undefined;
  readonly retentionBytes: number | undefined;
  readonly compacted: boolean;
}
