import type { CountRecord } from "../core/counting/count-records.ts";
import type { CounterFamily } from "../core/counting/inputs.ts";
import type { CountingSettings } from "../core/counting/settings.ts";
import type { RecordFault } from "../core/fault.ts";
import type { KindName, Mapping } from "../core/source.ts";
import type { DecodedRecord, KindInput } from "./decoder.ts";

/** What a kind sees of a record beside its decoded value. */
export interface RecordContext {
  readonly key: Uint8Array | null;
  /** Broker timestamp, milliseconds; −1 when there is none. */
  readonly timestampMs: number;
}

/** One write of a versioned kind. `id` is the record key as text. */
export type VersionedWrite =
  | { readonly write: "put"; readonly id: string; readonly body: NonNullable<DecodedRecord["body"]> }
  | { readonly write: "delete"; readonly id: string };

/**
 * How a record of a versioned kind becomes a write. Pure: no clock, no I/O. {@link CountingKind} is the other shape
 * behind the same registration.
 */
export interface VersionedKind {
  readonly name: KindName;
  readonly counting: false;
  /** KV space that the kind writes to. */
  readonly space: "document" | "dial";
  readonly inputs: readonly KindInput[];
  /** Whether the value's body is stored. */
  readonly keepsBody: boolean;
  /** Mapping that fits the built-in descriptor of this kind. */
  readonly defaultMapping: Mapping;
  /** `value` is null for a record whose value is null. */
  apply(record: RecordContext, value: DecodedRecord | null): VersionedWrite | RecordFault;
}

/** What makes up the counters of one revision of a counting kind. */
export interface CountingRules {
  /** Families of its counters; {@link CountRecord} names them by index. */
  readonly families: readonly CounterFamily[];
  /** Judges a record and adds what it counts. Pure, and without an object per record. */
  readonly count: CountRecord;
}

/** How the records of a counting kind become increments of counters. */
export interface CountingKind {
  readonly name: KindName;
  readonly counting: true;
  /** KV space that the kind writes to. */
  readonly space: "slot";
  readonly inputs: readonly KindInput[];
  /** No counting kind stores bodies. */
  readonly keepsBody: false;
  readonly defaultMapping: Mapping;
  /** Compiles the rules of one revision: `namespace` begins the keys of its counters. */
  compile(namespace: string, settings: CountingSettings): CountingRules;
}

/** How records of one kind become writes. */
export type Kind = VersionedKind | CountingKind;
