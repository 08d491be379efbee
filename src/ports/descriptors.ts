import type { JobKind } from "../core/job/job.ts";
import type { Offset } from "../core/offset.ts";
import type { Mapping } from "../core/source.ts";
import type { DefinitionView } from "./control-plane.ts";
import type { ProtoFiles } from "./decoder.ts";
import type { CompatibilityReason, DescriptorUpload } from "./descriptor-checks.ts";
import type { Order } from "./operators.ts";

/** Descriptor versions as operators register, read and activate them. Times are milliseconds since 1970. */

/** One version, without its text. */
export interface DescriptorVersionView {
  readonly subject: string;
  readonly version: number;
  /** Message that a source decodes unless it names another. */
  readonly message: string;
  /** Of the content, whatever comments, order and formatting. Undefined where an earlier release did not store it. */
  readonly digest: string | undefined;
  /** Who registered it, and when; undefined for what an earlier release stored. */
  readonly actor: string | undefined;
  readonly registeredAt: number | undefined;
  /** Its text is gone, its number stays taken. */
  readonly removed: { readonly actor: string; readonly reason: string; readonly at: number } | undefined;
}

/** One version with its text. */
export interface DescriptorView extends DescriptorVersionView {
  readonly files: ProtoFiles;
}

/** Versions of a subject, the newest first. */
export interface DescriptorPage {
  readonly versions: readonly DescriptorVersionView[];
  /** Cursor of the next page; undefined behind the last. */
  readonly next: string | undefined;
}

/** What is to be registered or checked. */
export interface DescriptorProposal {
  readonly upload: DescriptorUpload;
  /** Undefined: the message of the version before, or the only one. */
  readonly message: string | undefined;
}

/** A difference to an earlier version, by its number. */
export interface VersionDifference extends Omit<CompatibilityReason, "against"> {
  readonly againstVersion: number;
}

/** What registering would answer. */
export interface CompatibilityView {
  /** Whether it can be registered. */
  readonly compatible: boolean;
  readonly message: string;
  readonly digest: string;
  /** Version that has the same content. */
  readonly sameAs: number | undefined;
  /** What breaks first; at most a hundred. */
  readonly differences: readonly VersionDifference[];
  readonly total: number;
}

/** A registered version, and whether this call made it. */
export interface RegisteredView {
  readonly view: DescriptorVersionView;
  readonly created: boolean;
}

/** What a source is to decode by. What is left out stays as it is, or is that of the version. */
export interface Activation {
  readonly version: number;
  readonly message: string | undefined;
  readonly mapping: Mapping | undefined;
}

/** One row of a source's ledger: by what the offsets `[from, until)` of a partition are decoded. */
export interface LedgerRowView {
  readonly partition: number;
  readonly number: number;
  readonly from: Offset;
  /** Undefined: the row is open. */
  readonly until: Offset | undefined;
  readonly revision: number;
  /** Undefined where the format has none. */
  readonly descriptor: { readonly subject: string; readonly version: number; readonly message: string } | undefined;
  /** Hex of SHA-256 over everything that decides verdicts under the revision. */
  readonly digest: string | undefined;
}

/** What a job has decoded and applied beside live reading, or may have, since it has started. */
export interface LedgerJobView extends Omit<LedgerRowView, "number" | "until"> {
  readonly job: string;
  readonly kind: JobKind;
  readonly createdAtMs: number;
  readonly until: Offset;
}

/** By partition and offset, and what jobs did in the same order. */
export interface LedgerPage {
  readonly rows: readonly LedgerRowView[];
  readonly jobs: readonly LedgerJobView[];
  readonly next: string | undefined;
}

/** Fields that the descriptor of one revision does not know, as this process has met them. */
export interface UnknownFieldsView {
  readonly revision: number;
  readonly descriptorVersion: number;
  /** By path of field numbers, the most frequent first. */
  readonly fields: readonly { readonly path: string; readonly count: number }[];
}

/** The registry and what sources decode by. */
export interface DescriptorCommands {
  /** @throws StreamsError DESCRIPTOR_INVALID, DESCRIPTOR_INCOMPATIBLE, DESCRIPTORS_TOO_MANY, DESCRIPTORS_BUSY; KvFault */
  register(subject: string, proposal: DescriptorProposal, order: Order): Promise<RegisteredView>;
  /** Registers nothing. @throws StreamsError DESCRIPTOR_INVALID, DESCRIPTORS_BUSY; KvFault */
  check(subject: string, proposal: DescriptorProposal): Promise<CompatibilityView>;
  /** @throws StreamsError DESCRIPTOR_NOT_FOUND, CURSOR_UNKNOWN; KvFault */
  list(subject: string, cursor: string | undefined): Promise<DescriptorPage>;
  /** @throws StreamsError DESCRIPTOR_NOT_FOUND; KvFault */
  get(subject: string, version: number): Promise<DescriptorView>;
  /** Removes the text; the number stays taken. @throws StreamsError DESCRIPTOR_NOT_FOUND, DESCRIPTOR_IN_USE; KvFault */
  remove(subject: string, version: number, order: Order): Promise<DescriptorVersionView>;
  /** Has a source decode by another version, on every instance. @throws StreamsError as `SourceChanges.define`; KvFault */
  activate(source: string, activation: Activation, ifMatch: string, order: Order): Promise<DefinitionView>;
  /** @throws StreamsError SOURCE_UNKNOWN, CURSOR_UNKNOWN; KvFault */
  ledger(source: string, partition: number | undefined, cursor: string | undefined): Promise<LedgerPage>;
  /** @throws StreamsError SOURCE_UNKNOWN */
  unknownFields(source: string): readonly UnknownFieldsView[];
}
