import { type CountingSettings, DEFAULT_COUNTING } from "./counting/settings.ts";

/** What a source is, once configuration has been read. Pure data: stored as the source's control record. */

/** The five kinds of feed. `documents`, `campaigns`, `dials` are versioned; `traffic`, `ad_actions` count. */
export const KINDS = ["documents", "traffic", "campaigns", "dials", "ad_actions"] as const;
export type KindName = (typeof KINDS)[number];

/** The kinds whose records are counted into slots. */
export const COUNTING_KINDS: ReadonlySet<KindName> = new Set<KindName>(["traffic", "ad_actions"]);

/** How a record's value is encoded. */
export const FORMATS = ["protobuf", "json", "raw"] as const;
export type Format = (typeof FORMATS)[number];

/** What stands before the value's encoding: nothing, or the Confluent wire format (magic, schema id, message indexes). */
export const FRAMINGS = ["none", "confluent"] as const;
export type Framing = (typeof FRAMINGS)[number];

/** Path of field numbers from the record's message down to one field: `[3, 1]` is field 1 of the message in field 3. */
export type FieldPath = readonly number[];

/** Which field feeds which input of the kind. */
export type Mapping = Readonly<Record<string, FieldPath>>;

/** Where a source begins that has never committed anything. */
export type StartFrom = "earliest" | "latest" | { readonly timestampMs: number };

/** A descriptor in the catalog: subject, version number, and the message type within it. */
export interface DescriptorRef {
  readonly subject: string;
  readonly version: number;
  /** Fully qualified, without a leading dot: `ysearch.streams.v1.Article`. */
  readonly message: string;
}

/** One feed, complete: defaults filled in, durations in milliseconds. */
export interface SourceDefinition {
  readonly name: string;
  readonly kind: KindName;
  readonly topic: string;
  readonly group: string;
  /** The target: the namespace of versioned kinds, the counter space of counting kinds. A namespace has one source. */
  readonly namespace: string;
  readonly format: Format;
  readonly framing: Framing;
  /** Present exactly when `format` is `protobuf`. */
  readonly descriptor?: DescriptorRef;
  readonly mapping: Mapping;
  /** How document bodies are stored: canonical JSON, or the original bytes. */
  readonly body: "json" | "original";
  readonly startFrom: StartFrom;
  /** Worst processing lag that the topic's retention must exceed (I15). */
  readonly worstLagMs: number;
  /** Set where the source runs although its topic keeps records no longer than that; absent otherwise. */
  readonly allowShortRetention?: boolean;
  /** Only of counting kinds; absent: the defaults. */
  readonly counting?: CountingOfSource;
  readonly onPoison: "dead-letter" | "stop";
  readonly deadLetterTopic: string;
  /** Whether the service creates the dead-letter topic when it is missing. */
  readonly createDeadLetterTopic: boolean;
}

/** How a counting source counts. */
export interface CountingOfSource extends CountingSettings {
  /** How long a ledger row lasts, so that history outlives the log's retention. Decides no count. */
  readonly segmentEveryMs: number;
}

/** Shortest life of a row: a minute; each of its counters is written anew in the next one. */
export const SEGMENT_MIN_MS = 60_000;
/** Longest: thirty days. */
export const SEGMENT_MAX_MS = 30 * 86_400_000;

/** What is in force where a counting source says nothing. */
export const DEFAULT_COUNTING_OF_SOURCE: CountingOfSource = { ...DEFAULT_COUNTING, segmentEveryMs: 86_400_000 };

/** How a source of a counting kind counts. */
export function countingOf({ counting }: Pick<SourceDefinition, "counting">): CountingOfSource {
  return counting ?? DEFAULT_COUNTING_OF_SOURCE;
}

/** A source that is to be defined: a definition whose descriptor and mapping may still have to be completed. */
export interface SourceSeed extends Omit<SourceDefinition, "descriptor" | "mapping"> {
  /** Present exactly when `format` is `protobuf`. */
  readonly descriptor?: DescriptorSeed;
  /** Absent: the mapping of the kind. */
  readonly mapping?: Mapping;
}

/** Version absent: the latest when the source is first defined. Message absent: that of the subject. */
export type DescriptorSeed = Pick<DescriptorRef, "subject"> & Partial<Pick<DescriptorRef, "version" | "message">>;

/** A definition in force, with the revision under which its verdicts are given. */
export interface SourceInForce {
  readonly definition: SourceDefinition;
  readonly revision: number;
}

/** Largest stored body in bytes: one limit for all engines, below each engine's own. A change of it is a change of verdict. */
export const DOCUMENT_BYTES_MAX = 8 * 1024 * 1024;

/** Number of the code's own verdict rules: raise it whenever the same bytes may be judged differently (I17). */
export const VERDICT_RULES = 1;

/**
 * The part of a definition that decides a verdict or the shape of what is written, as one comparable string. A change of
 * it allots a new revision; a change of anything else does not.
 */
export function verdictOf(definition: SourceDefinition): string {
  const { kind, namespace, format, framing, descriptor, mapping, body, onPoison } = definition;
  const inputs = Object.keys(mapping).toSorted();
  const { slotWidthMs, visitors, scoreEdges } = countingOf(definition);
  return JSON.stringify([
    VERDICT_RULES,
    kind,
    namespace,
    format,
    framing,
    descriptor === undefined ? null : [descriptor.subject, descriptor.version, descriptor.message],
    inputs.map((input) => [input, mapping[input]]),
    body,
    onPoison,
    ...(COUNTING_KINDS.has(kind) ? [slotWidthMs, visitors, scoreEdges] : []),
  ]);
}
