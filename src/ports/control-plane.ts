import type { LagBasis } from "../core/lag.ts";
import type { Offset } from "../core/offset.ts";
import type { SourceDefinition, SourceSeed } from "../core/source.ts";
import type { PauseInForce } from "../core/pause/pause.ts";
import type { BarrierCommands } from "./barriers.ts";
import type { CounterQueries } from "./counters.ts";
import type { DescriptorCommands } from "./descriptors.ts";
import type { DialQueries, DocumentQueries } from "./documents.ts";
import type { InstanceQueries } from "./instances.ts";
import type { ExplainQueries } from "./explain.ts";
import type { IngestHealth, IngestLimits } from "./ingest.ts";
import type { JobCommands } from "./jobs.ts";
import type { OwnerStatus } from "./kv-plane.ts";
import type { LetterQueries } from "./letters.ts";
import type {
  AuditQueries,
  DefinitionCommands,
  EpochCommands,
  GapQueries,
  PauseCommands,
  ResumeCommands,
} from "./operators.ts";

/** What the HTTP edge may ask of the services. Offsets are Numbers, times milliseconds since 1970; the routes write decimal strings and RFC 3339. */
export interface ControlPlane {
  readonly health: HealthQueries;
  readonly sources: SourceQueries;
  readonly definitions: DefinitionCommands;
  readonly lag: LagQueries;
  readonly documents: DocumentQueries;
  readonly dials: DialQueries;
  readonly counters: CounterQueries;
  readonly owners: OwnerQueries;
  readonly pauses: PauseCommands;
  readonly resumptions: ResumeCommands;
  readonly epochs: EpochCommands;
  readonly gaps: GapQueries;
  readonly audit: AuditQueries;
  readonly barriers: BarrierCommands;
  readonly jobs: JobCommands;
  readonly instances: InstanceQueries;
  readonly explain: ExplainQueries;
  readonly letters: LetterQueries;
  readonly descriptors: DescriptorCommands;
}

/** Whether the process can serve its API. */
export interface HealthQueries {
  /** Whether the API can be served; never fails because of a broker, a KV owner or a stopped partition. */
  ready(): { readonly ready: boolean; readonly phase: "starting" | "serving" | "draining"; readonly kv: "up" | "away" };
  /** Whether ingestion is within the caller's limits. @throws StreamsError SOURCE_UNKNOWN */
  ingest(limits: IngestLimits): IngestHealth;
}

/** States of a partition as operators read them. */
export const PARTITION_STATES = [
  "unassigned",
  "starting",
  "verifying",
  "running",
  "holding",
  "paused",
  "stopped",
  "draining",
] as const;
export type PartitionStateName = (typeof PARTITION_STATES)[number];

/** A stop as an operator reads it. */
export interface StopView {
  readonly code: string;
  /** One sentence: what happened. */
  readonly text: string;
  /** Offset that was wanted. */
  readonly wanted?: Offset;
  readonly bounds?: { readonly logStart: Offset; readonly end: Offset };
  /** `[from, to)` that can no longer be read. */
  readonly lost?: { readonly from: Offset; readonly to: Offset };
  readonly since: number;
  readonly remedy: string;
  /** Page of the documentation that says what to do, and what each choice loses. */
  readonly page: string;
}

/** Why a partition waits: a store or broker fault. */
export interface HoldView {
  readonly code: string;
  readonly text: string;
  readonly since: number;
  readonly attempts: number;
}

/** One partition: what was asked for, what is, and why. */
export interface PartitionView {
  readonly source: string;
  readonly partition: number;
  readonly desired: "running" | "paused";
  readonly observed: PartitionStateName;
  readonly since: number;
  /** Why it is in that state, for people. */
  readonly reason?: string;
  readonly committed?: Offset;
  /** Of a partition that this process does not run: where `committed` was read, and when. */
  readonly committedFrom?: { readonly basis: "group" | "copy"; readonly at: number };
  readonly watermark?: Offset;
  readonly position?: Offset;
  readonly logStart?: Offset;
  readonly end?: Offset;
  readonly inFlight: { readonly batches: number; readonly records: number; readonly bytes: number };
  readonly oldestUnacknowledged?: OldestUnacknowledged;
  readonly topicEpoch: number;
  /** The pause that keeps it from being read, its own or its source's. */
  readonly pause?: PauseInForce;
  readonly stop?: StopView;
  readonly hold?: HoldView;
  readonly counts: PartitionCounts;
}

/** The record that holds a partition back. `ageMs`: since it was delivered. */
export interface OldestUnacknowledged {
  readonly offset: Offset;
  readonly ageMs: number;
  /** Undefined where the batch holds no record; null where the record has no key. */
  readonly key?: Uint8Array | null;
  /** Owners that hold what its batch wrote, once they are enough: then it waits for its dead letters. */
  readonly ackedBy?: readonly string[];
}

/** Since this process took the partition, or, as totals of a source, since the process began. */
export interface PartitionCounts {
  readonly delivered: number;
  readonly written: number;
  readonly deadLettered: number;
  readonly folded: number;
}

/** States of a source as operators read them. `backing-off`: its consumer could not be kept up and is built anew. */
export const SOURCE_VIEW_STATES = [
  "starting",
  "running",
  "degraded",
  "holding",
  "stopped",
  "paused",
  "backing-off",
  "draining",
] as const;

/** One source: what was asked for, what is, and why. */
export interface SourceView {
  readonly name: string;
  readonly kind: string;
  readonly topic: string;
  readonly group: string;
  readonly namespace: string;
  readonly desired: "running" | "paused";
  readonly observed: (typeof SOURCE_VIEW_STATES)[number];
  readonly since: number;
  readonly reason?: string;
  /** The pause of the source as a whole. */
  readonly pause?: PauseInForce;
  readonly revision: number;
  /** Whether the configuration file says something else now than what is in force. */
  readonly drift: boolean;
  readonly consumer: {
    readonly state: string;
    readonly rebuilds: number;
    readonly cause?: string;
    readonly text?: string;
  };
  readonly partitions: Readonly<Record<PartitionStateName, number>>;
  /** Over all partitions and assignments of this process. */
  readonly totals: PartitionCounts;
  /** Confirmed dead letters by the code of their fault, since the process began. */
  readonly deadLetters: Readonly<Record<string, number>>;
  /** Of the writes that were looked at afterwards, how many had lost to another partition's under the same topic epoch. */
  readonly crossings: { readonly sampled: number; readonly lost: number };
  /** Newest first; equal failures are one entry, `at` being the last time. */
  readonly recentErrors: readonly {
    readonly at: number;
    readonly firstAt: number;
    readonly count: number;
    readonly code: string;
    readonly text: string;
  }[];
}

/** A definition in force. */
export interface DefinitionView {
  readonly definition: SourceDefinition;
  readonly revision: number;
  /** Changes with every change of the definition. */
  readonly etag: string;
  /** What the configuration file says, when it differs. */
  readonly fileDiffers?: readonly string[];
}

/** Sources and partitions. */
export interface SourceQueries {
  list(): readonly SourceView[];
  /** @throws StreamsError SOURCE_UNKNOWN */
  get(name: string): SourceView;
  /** @throws StreamsError SOURCE_UNKNOWN */
  definition(name: string): DefinitionView;
  /** @throws StreamsError SOURCE_UNKNOWN */
  partitions(name: string): readonly PartitionView[];
  /** @throws StreamsError SOURCE_UNKNOWN, PARTITION_UNKNOWN */
  partition(name: string, partition: number): PartitionView;
}

/** Changes of definitions without an entry in the audit log: for services that make one. The edge has `DefinitionCommands`. */
export interface SourceChanges {
  /**
   * Puts a definition in force. `ifMatch` must be the present etag.
   * @throws StreamsError SOURCE_UNKNOWN, PRECONDITION_FAILED, DEFINITION_CHANGE_REFUSED, DEFINITION_CONFLICT, DESCRIPTOR_…, MAPPING_INVALID, KV_UNAVAILABLE
   */
  define(name: string, definition: SourceDefinition, ifMatch: string): Promise<DefinitionView>;
  /**
   * Puts a source in force that there is none of, and starts it; what the seed leaves open is completed as at a start.
   * @throws StreamsError PRECONDITION_FAILED when there is one, DEFINITION_CONFLICT, DESCRIPTOR_…, MAPPING_INVALID, KV_UNAVAILABLE
   */
  create(seed: SourceSeed): Promise<DefinitionView>;
}

/** A measured number, or why there is none. */
export type Measured =
  | { readonly known: true; readonly value: number }
  | { readonly known: false; readonly cause: string };

/** Lag of one partition. */
export interface PartitionLag {
  readonly source: string;
  readonly partition: number;
  /** Records between watermark and end: offsets, so an upper bound where the log has holes. */
  readonly records: Measured;
  /** Age of the oldest unprocessed record by its broker timestamp. */
  readonly seconds: Measured;
  /** Seconds until retention reaches what is not yet processed. */
  readonly timeToLossSeconds: Measured;
  /** What `records` was computed from. */
  readonly basis: LagBasis;
  readonly measuredAt: number;
}

/** Lag of several partitions, from each source's last reading of its log. */
export interface LagView {
  readonly measuredAt: number;
  readonly partitions: readonly PartitionLag[];
  /** Sources of which not even the partitions are known, and why. */
  readonly unknown: readonly { readonly source: string; readonly cause: string; readonly measuredAt: number }[];
}

/** Lag, without asking the broker. */
export interface LagQueries {
  all(): LagView;
  /** @throws StreamsError SOURCE_UNKNOWN */
  ofSource(name: string): LagView;
}

/** The owners of the KV plane, and what its quorums are. */
export interface OwnerQueries {
  owners(): readonly OwnerStatus[];
  /**
   * Gives an owner that is not up a new, empty incarnation that merges the others; resolves when that has begun.
   * @throws StreamsError KV_OWNER_UNKNOWN, KV_REPAIR_REFUSED
   */
  repair(owner: string, order: RepairOrder): Promise<void>;
  /** Durable acks that a write needs, and owners that a restoring read asks. */
  readonly writeAcks: number;
  readonly readOwners: number;
}

/** Who has an owner repaired, and why. */
export interface RepairOrder {
  readonly actor: string;
  readonly reason: string;
  /** One other owner is enough: what only lost owners held is given up. */
  readonly acceptLoss: boolean;
}
