import type { InputReader } from "../core/counting/count-records.ts";
import type { RecordFault } from "../core/fault.ts";
import type { Format, Framing, Mapping } from "../core/source.ts";
import type { BodyFormat } from "../core/cell.ts";

/** What a kind asks of a record's value. */
export interface KindInput {
  readonly name: string;
  readonly type: InputType;
  /** A record without it breaks the contract. Presence follows proto3: an implicit field that is unset counts as absent. */
  readonly required: boolean;
}

/** Types of inputs and the JavaScript values they arrive as. */
export type InputType =
  /** string */
  | "text"
  /** Uint8Array, a slice of the record */
  | "bytes"
  /** bigint, for any integer field */
  | "integer"
  /** number, for float and double */
  | "number"
  /** boolean */
  | "flag"
  /** number: the enum value, unknown ones included */
  | "enum"
  /** number: milliseconds since 1970, from google.protobuf.Timestamp or an integer of milliseconds */
  | "time";

/** Value of an input in JavaScript, by its {@link InputType}; undefined when absent. */
export type InputValue = string | Uint8Array | bigint | number | boolean | undefined;

/** A decoded value. */
export interface DecodedRecord {
  /** By index of the kind's inputs; undefined where absent. */
  readonly inputs: readonly InputValue[];
  /** Present exactly when the decoder was compiled to keep bodies. */
  readonly body: { readonly format: BodyFormat; readonly bytes: Uint8Array } | undefined;
}

/**
 * How often fields that the descriptor does not know were seen, by path of field numbers (`3.7`). A JSON member has no
 * number: its path ends with its name as a JSON string (`3."colour"`). Bounded in paths; the rest is under `*`.
 */
export type UnknownFieldCounts = ReadonlyMap<string, number>;

/** One descriptor version and mapping, compiled once. Pure: the same bytes give the same answer (I17). */
export interface RecordDecoder {
  /** Decodes one value. Zero bytes are a value (protobuf: everything unset), null is not: callers treat it before. */
  decode(value: Uint8Array): DecodedRecord | RecordFault;
  /** Version number of the descriptor, 0 where the format has none. */
  readonly descriptorVersion: number;
  unknownFields(): UnknownFieldCounts;
}

/** Reads the inputs of a counting kind where they stand, without an object per record. Same verdicts as {@link RecordDecoder}. */
export interface InputsReader extends InputReader {
  readonly descriptorVersion: number;
  unknownFields(): UnknownFieldCounts;
}

/** A set of .proto files by import path, as text. The root of a descriptor version. */
export type ProtoFiles = Readonly<Record<string, string>>;

/** A registered descriptor version: immutable. */
export interface Descriptor {
  readonly subject: string;
  readonly version: number;
  readonly files: ProtoFiles;
}

/** What a decoder is compiled from. */
export interface DecoderSpec {
  readonly format: Format;
  readonly framing: Framing;
  /** Present exactly when `format` is protobuf. */
  readonly descriptor?: { readonly descriptor: Descriptor; readonly message: string };
  readonly inputs: readonly KindInput[];
  readonly mapping: Mapping;
  /** What to keep as the body: canonical proto3 JSON, the original bytes, or nothing. */
  readonly body: "json" | "original" | "none";
}

/** Compiles decoders. */
export interface DecoderCompiler {
  /**
   * For kinds that count: a reader of inputs in place, which gives the verdicts of the decoder of the same spec; its `body` is
   * not looked at. @throws StreamsError as {@link compile}
   */
  compileInputs(spec: DecoderSpec): InputsReader;
  /**
   * @throws StreamsError `DESCRIPTOR_INVALID` (files do not compile, message not in them), `MAPPING_INVALID` (an input
   * without a path, a path that leads to no field or to one of another type, an unknown input).
   */
  compile(spec: DecoderSpec): RecordDecoder;
}
