import type { InputView } from "../src/core/counting/inputs.ts";
import { TIME_AHEAD_MAX_MS } from "../src/core/counting/settings.ts";
import type { RecordFault } from "../src/core/fault.ts";
import { DOCUMENT_ID_BYTES_MAX, documentId } from "../src/core/keys.ts";
import { DOCUMENT_BYTES_MAX } from "../src/core/source.ts";
import type { DecodedRecord, InputValue } from "../src/ports/decoder.ts";
import type { RecordContext, VersionedWrite } from "../src/ports/kind.ts";

/** What the contracts of all kinds ask of a record: its key, and a body where one is stored. */

/** Makes a contract fault. */
export function contractFault(code: `CONTRACT_${string}`, text: string): RecordFault {
  return { code, text };
}

/** The fault of a key's length, if there is one: the key names the entity. */
export function keyLengthFault(key: Uint8Array | null): RecordFault | undefined {
  if (key === null) return contractFault("CONTRACT_KEY_MISSING", "the record has no key, which names its entity");
  if (key.length === 0) return contractFault("CONTRACT_KEY_EMPTY", "the record's key is empty");
  if (key.length <= DOCUMENT_ID_BYTES_MAX) return undefined;
  const text = `the record's key has ${key.length} bytes, more than ${DOCUMENT_ID_BYTES_MAX}`;
  return contractFault("CONTRACT_KEY_TOO_LONG", text);
}

/** The record key as text, or why it is no id. */
export function keyText(key: Uint8Array | null): string | RecordFault {
  const fault = keyLengthFault(key);
  return fault ?? documentId(key) ?? contractFault("CONTRACT_KEY_NOT_TEXT", "the record's key is not UTF-8");
}

/** The fault of a record that is filed under another entity than it names. */
export function mismatch(): RecordFault {
  return contractFault("CONTRACT_KEY_MISMATCH", "the record is keyed otherwise than the entity that it names");
}

/**
 * The write of a versioned kind: a null value deletes the key's entity, anything else is its new body, whole.
 * `named` is the id that the value carries, where it carries one; `check` looks at the rest of the value.
 */
export function wholeWrite(
  record: RecordContext,
  value: DecodedRecord | null,
  named: InputValue,
  check: (value: DecodedRecord) => RecordFault | undefined,
): VersionedWrite | RecordFault {
  const id = keyText(record.key);
  if (typeof id !== "string") return id;
  if (value === null) return { write: "delete", id };
  if (named !== undefined && named !== id) return mismatch();
  const fault = check(value);
  if (fault !== undefined) return fault;
  const { body } = value;
  if (body === undefined) return contractFault("CONTRACT_BODY", "the record has no body");
  if (body.bytes.length <= DOCUMENT_BYTES_MAX) return { write: "put", id, body };
  const text = `the body has ${body.bytes.length} bytes, more than the ${DOCUMENT_BYTES_MAX} that every engine can hold`;
  return contractFault("CONTRACT_BODY_TOO_LARGE", text);
}

/** The fault of a span that ends before it begins, or at once. */
export function spanFault(startsAt: InputValue, endsAt: InputValue): RecordFault | undefined {
  if (typeof startsAt !== "number" || typeof endsAt !== "number" || startsAt < endsAt) return undefined;
  return contractFault("CONTRACT_SPAN_REVERSED", "the span ends before it begins, or as it begins");
}

/** The fault of a counting record whose key is none, or another than the entity that it names with a text input. */
export function entityFault(key: Uint8Array | null, inputs: InputView, entity: number): RecordFault | undefined {
  const fault = keyLengthFault(key);
  if (fault !== undefined || key === null) return fault;
  const start = inputs.start(entity);
  const length = inputs.end(entity) - start;
  if (length === 0) return contractFault("CONTRACT_ENTITY", "the record does not name the entity that it is about");
  if (length !== key.length) return mismatch();
  // What is compared with text is text.
  for (let index = 0; index < length; index += 1) if (inputs.bytes[start + index] !== key[index]) return mismatch();
  return undefined;
}

/** The fault of a time that is missing or too far ahead of the broker's; without the broker's, none is too far. */
export function timeFault(timestampMs: number, inputs: InputView, time: number): RecordFault | undefined {
  if (!inputs.has(time)) return contractFault("CONTRACT_TIME", "the record does not say when it happened");
  if (timestampMs < 0 || inputs.number(time) <= timestampMs + TIME_AHEAD_MAX_MS) return undefined;
  const text = `the record's time is more than ${TIME_AHEAD_MAX_MS / 60_000} minutes ahead of its broker timestamp`;
  return contractFault("CONTRACT_TIME_AHEAD", text);
}
