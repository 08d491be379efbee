import type { RecordFault } from "../core/fault.ts";

/**
 * Every reason why a decoder refuses a value: the one table of `DECODE_…` codes. The texts never hold anything of the
 * record but numbers. Rules that the protobuf specification leaves open, or that are stricter than it, are marked (rule).
 */
export const DECODE_FAULTS = {
  /** The value, or a length-delimited field within it, ends inside a tag, varint, fixed number or declared length. */
  DECODE_TRUNCATED: "the bytes end inside a field",
  /** More than ten bytes, or bits beyond 64. Longer than necessary is legal. */
  DECODE_VARINT: "a varint has more than 64 bits",
  /** Field number 0 or above 2^29 − 1, or a tag of more than five bytes. */
  DECODE_FIELD_NUMBER: "a tag has a field number that cannot exist",
  /**
   * Wire type 6 or 7; or (rule) a field that is mapped or part of the body arrives with a wire type other than its
   * declared one: most often the wrong descriptor version, so it is not passed over as an unknown field. Packed and
   * unpacked lists of numbers are both accepted.
   */
  DECODE_WIRE_TYPE: "a field has a wire type that does not fit it",
  /** An end-group without its start, with another number, or missing. */
  DECODE_GROUP: "a group does not end as it began",
  /** (rule) Text that is not UTF-8, under every syntax, proto2 included; in JSON a byte order mark too. */
  DECODE_UTF8: "text is not valid UTF-8",
  /** Messages, groups, JSON arrays or objects nested too deep. */
  DECODE_DEPTH: "messages, groups, arrays or objects are nested too deep",
  /** The Confluent header is missing, malformed, or names another message than the compiled one. */
  DECODE_FRAMING: "the framing does not fit",
  /** A value outside what its type allows: Timestamp, Duration, FieldMask, a non-finite Value, a time input. */
  DECODE_RANGE: "a value is outside the range of its type",
  /** An Any whose type the descriptor does not have. */
  DECODE_ANY: "an Any holds a type that the descriptor does not have",
  /** (rule) A proto2 required field is missing in a message that is kept as a body. */
  DECODE_REQUIRED: "a required field is missing",
  /** The body would exceed the decoder's limit once written as JSON. */
  DECODE_BODY_SIZE: "the body is larger than the limit",
  /** Not JSON: grammar, control characters, lone surrogates, a leading or trailing byte too many, nothing at all. */
  DECODE_JSON: "not valid JSON",
  /**
   * (rule) One object has the same key twice, however it is escaped; or, with a descriptor, a field's JSON name beside its
   * declared name.
   */
  DECODE_JSON_DUPLICATE: "an object has the same key twice",
  /** Two members of one oneof have a value. Null is none, except for a google.protobuf.Value or NullValue. */
  DECODE_JSON_ONEOF: "two members of one oneof are set",
  /** (rule) `__proto__`, `constructor` or `prototype` as a key, where the caller refuses them. */
  DECODE_JSON_PROTOTYPE: "an object has a key that reaches a prototype",
  /** (rule) A number that a double cannot hold digit for digit, where the caller refuses it. */
  DECODE_JSON_NUMBER: "a number loses digits as a double",
  /** A JSON value of a mapped field does not fit the field's type. */
  DECODE_JSON_TYPE: "a JSON value does not fit the field's type",
} as const;

/** A code of {@link DECODE_FAULTS}. */
export type DecodeCode = keyof typeof DECODE_FAULTS;

/** Builds a fault. `detail` is appended to the code's own text and must hold nothing of the record but numbers. */
export function decodeFault(code: DecodeCode, byteOffset: number, path = "", detail = ""): RecordFault {
  const text = detail === "" ? DECODE_FAULTS[code] : `${DECODE_FAULTS[code]}: ${detail}`;
  return path === "" ? { code, text, byteOffset } : { code, text, byteOffset, path };
}
