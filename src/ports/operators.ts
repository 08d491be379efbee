import type { GapCause } from "../core/gaps/gap.ts";
import type { Offset } from "../core/offset.ts";
import type { ResumeRequest } from "../core/partition/resume.ts";
import type { PauseInForce } from "../core/pause/pause.ts";
import type { SourceDefinition, SourceSeed } from "../core/source.ts";
import type { DefinitionView } from "./control-plane.ts";

/** What operators may do to sources and partitions, and what they may read of what was done. Times are milliseconds. */

/** Who calls, for the audit log, and why. */
export interface Order {
  /** Name of the token; `anonymous` where there are no tokens. */
  readonly actor: string;
  readonly reason: string;
}

/** One partition of a source, or the source as a whole. */
export interface Target {
  readonly source: string;
  readonly partition?: number;
}

/** What holds for a target after its pause was set or ended. */
export interface PauseView {
  /** Undefined: it is not paused, neither by itself nor by its source. */
  readonly pause: PauseInForce | undefined;
  /** Audit entry of this call. */
  readonly audit: string;
}

/** Pauses of sources and partitions. */
export interface PauseCommands {
  /**
   * Pauses until `untilMs`, or until somebody ends it; replaces an earlier pause of the same target.
   * @throws StreamsError SOURCE_UNKNOWN, PARTITION_UNKNOWN, PAUSE_UNTIL_PAST; KvFault
   */
  pause(target: Target, order: Order, untilMs: number | undefined): Promise<PauseView>;
  /** Ends the target's own pause; ending none is no error. @throws StreamsError SOURCE_UNKNOWN, PARTITION_UNKNOWN; KvFault */
  unpause(target: Target, order: Order): Promise<PauseView>;
}

/** A partition that goes on. */
export interface ResumedView {
  readonly partition: number;
  readonly from: Offset;
  /** Entries of the gap ledger that this made, when they could be entered at once. */
  readonly gaps: readonly string[];
  readonly audit: string;
}

/** What became of one partition of a resumption of a whole source. */
export type ResumptionItem =
  | ({ readonly outcome: "resumed" } & ResumedView)
  | { readonly outcome: "refused"; readonly partition: number; readonly error: RefusedItem };

/** Why one partition was refused: a code of the error catalogue. */
export interface RefusedItem {
  readonly code: string;
  readonly detail: string;
  readonly extra: Readonly<Record<string, unknown>>;
}

/** Resumptions of stopped partitions. */
export interface ResumeCommands {
  /** Covers what operators change of a partition, or of a source and all its partitions: pauses and stops. @throws StreamsError SOURCE_UNKNOWN, PARTITION_UNKNOWN; KvFault */
  etag(target: Target): Promise<string>;
  /**
   * Lets one stopped partition go on, whoever owns it.
   * @throws StreamsError SOURCE_UNKNOWN, PARTITION_UNKNOWN, PRECONDITION_FAILED, PARTITION_NOT_STOPPED, LOSS_NOT_ACCEPTED,
   * RESUME_OUT_OF_RANGE, RESUME_POINT_UNKNOWN, EPOCH_REQUIRED, BROKER_UNAVAILABLE; KvFault, SourceFault
   */
  resume(target: Required<Target>, order: Order, request: ResumeRequest, ifMatch: string): Promise<ResumedView>;
  /** Lets every stopped partition of a source go on, each by its own decision. @throws as {@link resume}, for the source as a whole */
  resumeAll(source: string, order: Order, request: ResumeRequest, ifMatch: string): Promise<readonly ResumptionItem[]>;
}

/** A topic epoch that was opened. */
export interface EpochView {
  readonly source: string;
  readonly topicEpoch: number;
  readonly partitions: number;
  readonly audit: string;
}

/** Topic epochs. */
export interface EpochCommands {
  /**
   * Opens a topic epoch: a fresh ledger, copy and start.
   * @throws StreamsError SOURCE_UNKNOWN, EPOCH_NOT_NEEDED, EPOCH_NOT_READ, EPOCH_EXHAUSTED, COUNTING_NOT_APPLICABLE, PRECONDITION_FAILED; KvFault, SourceFault
   */
  open(source: string, order: Order, counting: "continues" | "replaces" | undefined): Promise<EpochView>;
}

/** Changes of definitions, entered in the audit log. */
export interface DefinitionCommands {
  /** As `SourceChanges.define`, in the name of `actor`. @throws as it; KvFault */
  define(name: string, definition: SourceDefinition, ifMatch: string, actor: string): Promise<DefinitionView>;
  /** As `SourceChanges.create`, in the name of `actor`. @throws as it; KvFault */
  create(seed: SourceSeed, actor: string): Promise<DefinitionView>;
}

/** Which audit entries; undefined members do not narrow. `[since, until)`. */
export interface AuditQuery {
  readonly sinceMs?: number;
  readonly untilMs?: number;
  readonly actor?: string;
  readonly cursor?: string;
}

/** One call of an operator. */
export interface AuditEntryView {
  readonly id: string;
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly source: string;
  readonly partition?: number;
  readonly reason: string;
  readonly detail: string;
  readonly outcome: "started" | "applied" | "refused";
  readonly code?: string;
  readonly gaps: readonly string[];
}

/** Entries, newest first; `next` is the cursor of the rest, absent at the end. */
export interface AuditPage {
  readonly entries: readonly AuditEntryView[];
  readonly next?: string;
}

/** Reads of the audit log. */
export interface AuditQueries {
  /** @throws StreamsError CURSOR_UNKNOWN; KvFault */
  list(query: AuditQuery): Promise<AuditPage>;
}

/** Which gaps; undefined members do not narrow. */
export interface GapQuery extends AuditQuery {
  readonly source?: string;
  readonly cause?: GapCause;
}

/** One range that was passed over. */
export interface GapView {
  readonly id: string;
  readonly source: string;
  readonly partition: number;
  readonly topicEpoch: number;
  readonly from: Offset;
  /** Absent where nobody can know. */
  readonly to?: Offset;
  readonly cause: GapCause;
  readonly actor: string;
  readonly reason: string;
  readonly at: number;
  readonly lastAt: number;
  readonly records?: number;
  readonly codes: readonly { readonly code: string; readonly records: number }[];
  readonly audit?: string;
}

/** Gaps by source and partition, newest first in each; `next` is the cursor of the rest, absent at the end. */
export interface GapPage {
  readonly gaps: readonly GapView[];
  readonly next?: string;
}

/** Reads of the gap ledger. */
export interface GapQueries {
  /** @throws StreamsError SOURCE_UNKNOWN, CURSOR_UNKNOWN; KvFault */
  list(query: GapQuery): Promise<GapPage>;
}
