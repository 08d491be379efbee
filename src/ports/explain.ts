import type { Offset } from "../core/offset.ts";
import type { InputType, InputValue } from "./decoder.ts";

/**
 * What became of a record.
 *
 * - `not-produced`: the log does not reach that far; `no-record`: it holds a control record, a compacted hole or a record of
 *   an aborted transaction there; `gone`: below the log's start.
 * - `not-read`: nothing of it is applied yet, `reason` says why.
 * - `applied`: the store holds it; `already-applied`: so, and its partition is to read it once more, which changes nothing.
 * - `counted`: of counting kinds, every slot that it counts into has come as far.
 * - `superseded`: the store holds something newer; `dead-lettered`: it can never be applied.
 * - `skipped`: an operator passed over it. `missing`: it was applied, and the store does not hold it.
 * - Where a stop or a hold leaves open whether the log is the one that was applied, and its last applied record is not
 *   recognised in it, none of that is told of its records: they are `not-read`.
 */
export const RECORD_VERDICTS = [
  "not-produced",
  "no-record",
  "gone",
  "not-read",
  "applied",
  "already-applied",
  "counted",
  "superseded",
  "dead-lettered",
  "skipped",
  "missing",
] as const;
/** One of {@link RECORD_VERDICTS}. */
export type RecordVerdict = (typeof RECORD_VERDICTS)[number];

/**
 * Why a record is not read: its source began behind it, its partition is stopped, paused or held, or has not got there; or a
 * transaction before it is open, so that nobody can read it yet.
 */
export const NOT_READ_REASONS = [
  "before-start",
  "stopped",
  "holding",
  "paused",
  "not-reached",
  "open-transaction",
] as const;

/** Where a stored cell came from. */
export interface CellOrigin {
  readonly topicEpoch: number;
  readonly partition: number;
  readonly offset: Offset;
  readonly revision: number;
  readonly descriptorVersion: number;
  readonly state: "live" | "deleted";
}

/** What one owner holds under the record's key. */
export interface OwnerHolds {
  readonly owner: string;
  readonly answer: "holds" | "absent" | "unavailable";
  readonly cell?: CellOrigin;
}

/** A slot that a record of a counting kind counts into, and how far each owner has it: everything below is in it. */
export interface CountedSlot {
  readonly row: number;
  readonly owners: readonly { readonly owner: string; readonly answer: OwnerHolds["answer"]; readonly upTo?: Offset }[];
}

/** What the record is by the revision of its ledger row. */
export type RecordOutcome =
  | { readonly outcome: "put" | "delete" | "count" }
  | { readonly outcome: "fault"; readonly code: string; readonly text: string; readonly path?: string };

/** One input of the kind, as it was decoded. */
export interface DecodedInput {
  readonly name: string;
  readonly type: InputType;
  readonly value: InputValue;
}

/** A record as its partition's runner judges it. `key`, `inputs` and `body` are its content. */
export interface JudgedRecord {
  readonly timestampMs: number;
  readonly key: Uint8Array | null;
  /** Null for a null value. */
  readonly valueBytes: number | null;
  /** Undefined below the first row of the ledger: no revision judges it. */
  readonly judged?: {
    readonly row: number;
    readonly revision: number;
    readonly descriptorVersion: number;
    readonly outcome: RecordOutcome;
    readonly inputs: readonly DecodedInput[];
    readonly body?: { readonly format: string; readonly bytes: Uint8Array };
    /** By path of field numbers. */
    readonly unknownFields: readonly { readonly path: string; readonly count: number }[];
  };
}

/** What became of the record at one offset. */
export interface ExplainView {
  readonly source: string;
  readonly partition: number;
  readonly offset: Offset;
  readonly topicEpoch: number;
  readonly verdict: RecordVerdict;
  readonly reason?: (typeof NOT_READ_REASONS)[number];
  /** Code of the stop or the hold. */
  readonly cause?: string;
  /** What the log held when it was asked for. */
  readonly bounds?: { readonly logStart: Offset; readonly end: Offset };
  /** How far the partition is applied. */
  readonly applied: Offset;
  readonly record?: JudgedRecord;
  readonly supersededBy?: CellOrigin;
  /** Entries of the gap ledger that cover the offset, newest first. */
  readonly gaps: readonly string[];
  readonly owners: readonly OwnerHolds[];
  /** Of counting kinds, where the record can be counted. */
  readonly slots?: readonly CountedSlot[];
  readonly asOf: number;
}

/** How far a search for a key looked in one partition: `[from, to)`; `whole` when that is all that the log holds. */
export interface Looked {
  readonly partition: number;
  readonly from: Offset;
  readonly to: Offset;
  readonly whole: boolean;
}

/** What became of the last records of a key. */
export interface ExplainKeyView {
  readonly source: string;
  /** Newest first. */
  readonly records: readonly ExplainView[];
  /** Why the search ended: enough was found, nothing is left to look at, or it had looked at enough, or for long enough. */
  readonly ended: "found" | "whole-log" | "bytes" | "time";
  readonly looked: readonly Looked[];
  readonly asOf: number;
}

/** What became of records: read from the broker and judged as their runner judges them (I17). */
export interface ExplainQueries {
  /** @throws StreamsError SOURCE_UNKNOWN, PARTITION_UNKNOWN, EXPLAIN_BUSY, RECORD_UNREADABLE, KV_UNAVAILABLE; KvFault, SourceFault */
  record(source: string, partition: number, offset: Offset): Promise<ExplainView>;
  /** The `last` newest records of a key. @throws as {@link record} */
  key(source: string, key: Uint8Array, last: number): Promise<ExplainKeyView>;
}
