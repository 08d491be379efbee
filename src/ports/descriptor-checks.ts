import type { FieldPath } from "../core/source.ts";
import type { ProtoFiles } from "./decoder.ts";

/** Everything that can differ between two versions of a descriptor, and whether it breaks a source. */
export type CompatibilityCode =
  | "TYPE_CHANGED"
  | "TYPE_WIDTH"
  | "TYPE_BYTES"
  | "MESSAGE_RENAMED"
  | "LABEL_CHANGED"
  | "MAP_CHANGED"
  | "ONEOF_JOINED"
  | "ONEOF_LEFT"
  | "NUMBER_RESERVED"
  | "NUMBER_REUSED"
  | "NUMBER_FREED"
  | "FIELD_REMOVED"
  | "FIELD_RENAMED"
  | "REQUIRED_ADDED"
  | "REQUIRED_REMOVED"
  | "PRESENCE_CHANGED"
  | "ENUM_RENUMBERED"
  | "ENUM_VALUE_REMOVED"
  | "ENUM_VALUE_RENAMED"
  | "ENUM_CLOSED"
  | "MESSAGE_REMOVED"
  | "MAPPED_GONE"
  | "MAPPED_CHANGED";

/** One difference. */
export interface CompatibilityReason {
  readonly code: CompatibilityCode;
  /** Whether records or what is stored of them would be read wrongly. Others are told, and break nothing. */
  readonly breaks: boolean;
  /** Message or enum, by its full name in the older version. */
  readonly type: string;
  /** Number of the field or enum value; undefined where the type as a whole is meant. */
  readonly number: number | undefined;
  /** What it was and what it is, in words of the protobuf language; empty for nothing. */
  readonly before: string;
  readonly after: string;
  /** The code in words. */
  readonly text: string;
  /** Index of the older version in {@link CompatibilityRequest.before}: the newest that shows the difference. */
  readonly against: number;
}

/** A field that feeds an input of a source. */
export interface MappedField {
  /** Message that the source decodes. */
  readonly message: string;
  readonly path: FieldPath;
}

/** What is compared. */
export interface CompatibilityRequest {
  /** All versions before, the oldest first. */
  readonly before: readonly ProtoFiles[];
  readonly after: ProtoFiles;
  /** Messages that sources decode; only they and what they hold are compared. Undefined for all messages. */
  readonly roots?: readonly string[];
  readonly mapped?: readonly MappedField[];
}

/** What identifies a descriptor's content: lower-case hex of SHA-256. */
export interface DescriptorDigest {
  /** What decides how records are read: the same whatever comments, options, formatting, order of files and declarations. */
  readonly content: string;
  /** Which message stands where: what the message indexes of the Confluent framing count. */
  readonly layout: string;
}

/** Judges descriptors before they are stored. Pure: the same files give the same answer. */
export interface DescriptorChecks {
  /** @throws StreamsError `DESCRIPTOR_INVALID`. */
  digest(files: ProtoFiles): DescriptorDigest;
  /** Differences, what breaks first. Empty for none. @throws StreamsError `DESCRIPTOR_INVALID`. */
  compatibility(request: CompatibilityRequest): readonly CompatibilityReason[];
}

/** What somebody uploads: .proto text by import path, or the bytes of a FileDescriptorSet. */
export type DescriptorUpload = { readonly files: ProtoFiles } | { readonly set: Uint8Array };

/** An upload that was compiled. */
export interface ReadDescriptor {
  /** As it is stored and shown: of a descriptor set what its .proto files say, without well-known ones. */
  readonly files: ProtoFiles;
  /** Message that a source decodes unless it names another. */
  readonly message: string;
  readonly digest: DescriptorDigest;
}

/** What breaks first; cut off, `total` counts all. */
export interface CompatibilityAnswer {
  readonly reasons: readonly CompatibilityReason[];
  readonly total: number;
  /** How many of all break. */
  readonly breaking: number;
}

/**
 * {@link DescriptorChecks} beside the event loop: a large descriptor takes seconds, a hostile one all that it gets. One upload at
 * a time; whatever takes more time or memory than a descriptor may is refused.
 */
export interface DescriptorJudge {
  /**
   * Compiles an upload. `message`: what the caller names; `known`: what it was before, where it is still there.
   * @throws StreamsError `DESCRIPTOR_INVALID`, also when no message is named and there are several; `DESCRIPTORS_BUSY`
   */
  read(upload: DescriptorUpload, message: string | undefined, known: string | undefined): Promise<ReadDescriptor>;
  /** @throws StreamsError `DESCRIPTOR_INVALID`, `DESCRIPTORS_BUSY` */
  digest(files: ProtoFiles): Promise<DescriptorDigest>;
  /** @throws StreamsError `DESCRIPTOR_INVALID`, `DESCRIPTORS_BUSY` */
  compatibility(request: CompatibilityRequest): Promise<CompatibilityAnswer>;
  /** Ends what is under way. */
  close(): Promise<void>;
}
