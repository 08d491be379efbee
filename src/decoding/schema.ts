/** What the decoder needs of a descriptor: plain data, built once from the parsed files. Nothing of protobufjs in it. */

/** Scalar types of the protobuf language, and `enum`. */
export type ScalarType =
  | "double"
  | "float"
  | "int32"
  | "int64"
  | "uint32"
  | "uint64"
  | "sint32"
  | "sint64"
  | "fixed32"
  | "fixed64"
  | "sfixed32"
  | "sfixed64"
  | "bool"
  | "string"
  | "bytes"
  | "enum";

/** Wire types (protobuf encoding specification). */
export const WIRE_VARINT = 0;
export const WIRE_FIXED64 = 1;
export const WIRE_BYTES = 2;
export const WIRE_GROUP = 3;
export const WIRE_END_GROUP = 4;
export const WIRE_FIXED32 = 5;

/** Wire type under which a single value of the type is sent. */
export const WIRE_TYPE_OF: Readonly<Record<ScalarType, number>> = {
  double: WIRE_FIXED64,
  float: WIRE_FIXED32,
  int32: WIRE_VARINT,
  int64: WIRE_VARINT,
  uint32: WIRE_VARINT,
  uint64: WIRE_VARINT,
  sint32: WIRE_VARINT,
  sint64: WIRE_VARINT,
  fixed32: WIRE_FIXED32,
  fixed64: WIRE_FIXED64,
  sfixed32: WIRE_FIXED32,
  sfixed64: WIRE_FIXED64,
  bool: WIRE_VARINT,
  string: WIRE_BYTES,
  bytes: WIRE_BYTES,
  enum: WIRE_VARINT,
};

/** The scalar type that a name means; undefined for the name of a message or enum. */
export function scalarType(name: string): Exclude<ScalarType, "enum"> | undefined {
  return isScalar(name) ? name : undefined;
}

function isScalar(name: string): name is Exclude<ScalarType, "enum"> {
  return name !== "enum" && Object.hasOwn(WIRE_TYPE_OF, name);
}

/** Largest field number of protobuf. */
export const MAX_FIELD_NUMBER = 0x1fff_ffff;

export interface EnumSchema {
  /** Without a leading dot. */
  readonly fullName: string;
  /** First declared name of each number. */
  readonly names: ReadonlyMap<number, string>;
  readonly numbers: ReadonlyMap<string, number>;
  /** Value of a map entry that carries none: the first declared one. */
  readonly first: number;
  /** Closed enums (proto2): a number that is not declared is an unknown field. */
  readonly closed: boolean;
  readonly reserved: Reserved;
}

/** What must not be used any more. */
export interface Reserved {
  /** Ranges from the first to the last number, both included. */
  readonly numbers: readonly (readonly [first: number, last: number])[];
  readonly names: readonly string[];
}

/** What a field's value is. */
export type ValueSchema =
  | { readonly is: "scalar"; readonly type: Exclude<ScalarType, "enum"> }
  | { readonly is: "enum"; readonly type: "enum"; readonly enum: EnumSchema }
  /** `message` may be the message that holds the field: types can be recursive. */
  | { readonly is: "message"; readonly message: MessageSchema; readonly delimited: boolean };

export interface FieldSchema {
  readonly number: number;
  /** As declared; `[full.name]` for an extension. */
  readonly name: string;
  readonly jsonName: string;
  readonly value: ValueSchema;
  readonly repeated: boolean;
  /** Type of the keys of a map field; `value` is then what the map holds. */
  readonly mapKey: Exclude<ScalarType, "enum"> | undefined;
  /** Whether unset differs from zero: messages, oneof members, optional, proto2. */
  readonly presence: boolean;
  readonly required: boolean;
  /** Index of the oneof within the message; undefined outside of one. */
  readonly oneof: number | undefined;
}

export interface MessageSchema {
  /** Without a leading dot. */
  readonly fullName: string;
  /** By ascending number. */
  readonly fields: readonly FieldSchema[];
  readonly byNumber: ReadonlyMap<number, FieldSchema>;
  /** Of the file that declares it. */
  readonly package: string;
  readonly reserved: Reserved;
}

/** A compiled set of files. */
export interface Schema {
  /** Finds a message by full name, without a leading dot. */
  message(fullName: string): MessageSchema | undefined;
  /** Messages of the given files, without those that are known anyway; in no particular order. */
  readonly messages: readonly MessageSchema[];
  /** Enums of the given files, likewise. */
  readonly enums: readonly EnumSchema[];
  /**
   * Where the message is within the file that declares it: index among the top-level messages, then among the nested
   * ones, and so on, in order of declaration. Map entries and groups are not counted.
   */
  indexPath(fullName: string): readonly number[];
  /** Whether the file that declares the message has a message at the path. */
  hasIndexPath(fullName: string, path: readonly number[]): boolean;
}
