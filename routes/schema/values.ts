import { type Static, Type } from "@sinclair/typebox";
import { formatOffset, type Offset } from "../../src/core/offset.ts";
import type { Measured } from "../../src/ports/control-plane.ts";
import { Closed } from "./closed.ts";

/** Names of sources, namespaces and subjects. */
export const NAME_PATTERN = "^[a-z0-9][a-z0-9._-]{0,99}$";
/** Topic names as Kafka allows them. */
export const TOPIC_PATTERN = "^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,249}$";
/** A partition number as text: nothing in a path, a query or a key is coerced. */
export const PARTITION_PATTERN = "^(?:0|[1-9][0-9]{0,9})$";
/** A decimal offset: no sign, no leading zero. */
export const OFFSET_PATTERN = "^(?:0|[1-9][0-9]{0,15})$";
/**
 * Base64 or base64url of 1 to 512 bytes, padding optional. The last character of a short group has no stray bits, so that
 * one key has one spelling in each alphabet.
 */
export const KEY_BASE64_PATTERN =
  "^(?!$)(?:[A-Za-z0-9+/_-]{4}){0,170}(?:[A-Za-z0-9+/_-][AQgw](?:==)?|[A-Za-z0-9+/_-]{2}[AEIMQUYcgkosw048]=?)?$";

/** Reads base64 of either alphabet that {@link KEY_BASE64_PATTERN} has let through: it can be read in one way only. */
export function readBase64(text: string): Buffer {
  return Buffer.from(text.replaceAll("-", "+").replaceAll("_", "/"), "base64");
}

/** RFC 3339 in UTC with milliseconds, as every time is written. */
export const TIME_PATTERN =
  "^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\\.[0-9]{3}Z$";

/** RFC 3339 as callers send times: any fraction of a second, Z or an offset. No leap second: no clock here counts one. */
export const TIME_INPUT_PATTERN =
  "^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,18})?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$";

const SAFE_MAX = Number.MAX_SAFE_INTEGER;

export const OffsetText = Type.String({
  pattern: OFFSET_PATTERN,
  description: "Offset as a decimal string: offsets outgrow the integers that JSON readers keep exactly.",
  examples: ["1048576"],
});

export const Time = Type.String({
  pattern: TIME_PATTERN,
  description: "RFC 3339, UTC, milliseconds.",
  examples: ["2026-11-30T08:15:00.000Z"],
});

/** A time that callers send. */
export function TimeInput(description: string) {
  return Type.String({
    pattern: TIME_INPUT_PATTERN,
    description: `${description} RFC 3339 with Z or an offset; what is finer than a millisecond is rounded up.`,
    examples: ["2026-11-30T08:15:00Z"],
  });
}

/** A count, bounded by what JSON readers keep exactly. */
export function Count(description: string) {
  return Type.Integer({ minimum: 0, maximum: SAFE_MAX, description });
}

/** A partition's number in a body. */
export const PartitionNumber = Type.Integer({
  minimum: 0,
  maximum: 2 ** 31 - 1,
  description: "Partition of the source's topic.",
});

/** Text for people. */
export function Text(description: string) {
  return Type.String({ description });
}

export const MeasuredNumber = Type.Union(
  [
    Closed({ known: Type.Literal(true), value: Type.Number({ minimum: 0, maximum: SAFE_MAX }) }),
    Closed({ known: Type.Literal(false), cause: Type.String({ minLength: 1 }) }),
  ],
  { description: "A measured number, or why there is none." },
);

export const KnownTime = Type.Union(
  [
    Closed({ known: Type.Literal(true), value: Time }),
    Closed({ known: Type.Literal(false), cause: Type.String({ minLength: 1 }) }),
  ],
  { description: "A time, or why there is none." },
);

/** 9999-12-31T23:59:59.999Z: the last time that four digits of year can write. */
const TIME_MAX_MS = 253_402_300_799_999;

/** Whether a time can be written: from 1970 to 9999. */
export function isWritableTime(ms: number): boolean {
  return Number.isFinite(ms) && ms >= 0 && ms <= TIME_MAX_MS;
}

/** Writes a time of this service's clock. @throws RangeError outside the years 1970 to 9999: a fault of ours. */
export function timeText(ms: number): string {
  if (!isWritableTime(ms)) throw new RangeError(`time ${ms} cannot be written`);
  return new Date(ms).toISOString();
}

/** Writes a time that came with a record: whatever its producer or broker put there. */
export function knownTime(ms: number): Static<typeof KnownTime> {
  if (ms === -1) return { known: false, cause: "no-timestamp" };
  if (!isWritableTime(ms)) return { known: false, cause: "outside-1970-to-9999" };
  return { known: true, value: new Date(ms).toISOString() };
}

/** Writes an offset where there is one. A negative or unsafe one is no offset: it is left out (I14, I16). */
export function offsetText(offset: Offset | undefined): string | undefined {
  return offset !== undefined && Number.isSafeInteger(offset) && offset >= 0 ? formatOffset(offset) : undefined;
}

/** Writes a measured number; one that is negative or not finite is not known (I14). */
export function measured(value: Measured): Static<typeof MeasuredNumber> {
  if (!value.known) return { known: false, cause: value.cause };
  if (!Number.isFinite(value.value) || value.value < 0 || value.value > SAFE_MAX)
    return { known: false, cause: "not-measurable" };
  return { known: true, value: value.value };
}
