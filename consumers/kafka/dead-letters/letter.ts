import { createHash } from "node:crypto";
import { faultText } from "../../../src/core/fault.ts";
import { formatOffset, OFFSET_LIMIT } from "../../../src/core/offset.ts";
import { TOPIC_EPOCH_MAX } from "../../../src/core/version.ts";
import type { DeadLetter } from "../../../src/ports/dead-letters.ts";
import type { OmittedPart, StoredLetter } from "../../../src/ports/letters.ts";
import type { RecordHeader } from "../../../src/ports/record-batch.ts";
import type { RecordToEncode } from "../records/encode-batch.ts";

const PREFIX = "ysearch.";
/** The first of our headers: everything before its last occurrence is the original's. */
const FIRST = `${PREFIX}source`;
const ERROR_TEXT_BYTES_MAX = 512;

/** How much of the original a letter carries; less only when the topic refuses it as too large. */
export const LETTER_FORMS = ["whole", "without-value", "coordinates-only"] as const;
/** One of {@link LETTER_FORMS}. */
export type LetterForm = (typeof LETTER_FORMS)[number];

/**
 * The record to publish for a letter: the original's key, value and headers byte for byte, then our headers. A letter that was
 * put back on its topic and fails again is no larger than before: our headers are replaced, not stacked.
 * @param timestampMs of the letter itself: now, since the original's may be older than the topic's retention.
 */
export function letterRecord(letter: DeadLetter, form: LetterForm, timestampMs: number): RecordToEncode {
  const whole = form === "whole";
  const bare = form === "coordinates-only";
  return {
    key: bare ? null : letter.key,
    value: whole ? letter.value : null,
    headers: [
      ...(bare ? [] : ownHeaders(letter.headers)),
      ...originHeaders(letter),
      ...(whole || letter.value === null ? [] : [header("value-omitted", fingerprint(letter.value))]),
      ...(bare && letter.key !== null ? [header("key-omitted", fingerprint(letter.key))] : []),
      ...(bare ? [header("headers-omitted", String(ownHeaders(letter.headers).length))] : []),
    ],
    timestampMs,
  };
}

/** About how many bytes a letter takes in a batch. */
export function letterBytes(letter: DeadLetter): number {
  const headers = letter.headers.reduce((sum, { name, value }) => sum + name.length + (value?.length ?? 0) + 10, 0);
  return (letter.key?.length ?? 0) + (letter.value?.length ?? 0) + headers + 1_024;
}

/** What {@link readLetter} reads of a letter: everything that its headers say. */
export interface LetterHeaders extends Omit<DeadLetter, "key" | "value"> {
  readonly omitted: StoredLetter["omitted"];
}

const UINT32_MAX = 0xffff_ffff;

/** Numbers of a letter, and what each may be: anybody may write to a topic. A record without a timestamp has −1. */
const NUMBERS = {
  "topic-epoch": [0, TOPIC_EPOCH_MAX],
  partition: [0, 2 ** 31 - 1],
  offset: [0, OFFSET_LIMIT - 1],
  timestamp: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  "descriptor-version": [0, UINT32_MAX],
  revision: [0, UINT32_MAX],
  attempt: [1, 1_000_000],
  "first-seen": [0, Number.MAX_SAFE_INTEGER],
} as const;
type NumberName = keyof typeof NUMBERS;

/**
 * Reads a letter's headers; `headers` of the result are the original's own. Undefined when they are not those of a letter:
 * somebody else wrote to the topic, or put headers behind ours.
 */
export function readLetter(headers: readonly RecordHeader[]): LetterHeaders | undefined {
  const start = headers.findLastIndex(({ name }) => textOf(name) === FIRST);
  if (start < 0) return undefined;
  const ours = new Map(
    headers.slice(start).map(({ name, value }) => [textOf(name), value === null ? "" : textOf(value)]),
  );
  if ([...ours.keys()].some((name) => !name.startsWith(PREFIX))) return undefined;
  const text = (name: string): string => ours.get(PREFIX + name) ?? "";
  const number = (name: NumberName): number => numberOf(text(name), NUMBERS[name]);
  if (Object.entries(NUMBERS).some(([name, bounds]) => Number.isNaN(numberOf(text(name), bounds)))) return undefined;
  return {
    source: text("source"),
    topic: text("topic"),
    topicEpoch: number("topic-epoch"),
    partition: number("partition"),
    offset: number("offset"),
    timestampMs: number("timestamp"),
    headers: headers.slice(0, start),
    fault: { code: text("error-code"), text: text("error-text") },
    descriptorVersion: number("descriptor-version"),
    revision: number("revision"),
    attempt: number("attempt"),
    firstSeenMs: number("first-seen"),
    omitted: omittedOf(ours),
  };
}

/** NaN for anything but a decimal integer within the bounds. */
function numberOf(text: string, [min, max]: readonly [number, number]): number {
  if (!/^(?:0|-?[1-9][0-9]{0,15})$/.test(text)) return Number.NaN;
  const value = Number(text);
  return Number.isSafeInteger(value) && value >= min && value <= max ? value : Number.NaN;
}

function omittedOf(ours: ReadonlyMap<string, string>): StoredLetter["omitted"] {
  const part = (name: string): OmittedPart | undefined => {
    const [, bytes, sha256] = /^([0-9]{1,15}) bytes, sha256 ([0-9a-f]{64})$/.exec(ours.get(PREFIX + name) ?? "") ?? [];
    return bytes === undefined || sha256 === undefined ? undefined : { bytes: Number(bytes), sha256 };
  };
  const [value, key] = [part("value-omitted"), part("key-omitted")];
  const headers = ours.get(`${PREFIX}headers-omitted`);
  return {
    ...(value === undefined ? {} : { value }),
    ...(key === undefined ? {} : { key }),
    ...(headers === undefined ? {} : { headers: Number(headers) || 0 }),
  };
}

/**
 * The headers that a record had before it was ever a letter. Somebody may put letters back on the source's topic, headers and
 * all: without this each round would add a dozen. What is not a whole block of ours stays as it is.
 */
function ownHeaders(headers: readonly RecordHeader[]): readonly RecordHeader[] {
  let own = headers;
  for (let read = readLetter(own); read !== undefined; read = readLetter(own)) own = read.headers;
  return own;
}

function originHeaders(letter: DeadLetter): RecordHeader[] {
  return [
    header("source", letter.source),
    header("topic", letter.topic),
    header("topic-epoch", String(letter.topicEpoch)),
    header("partition", String(letter.partition)),
    header("offset", formatOffset(letter.offset)),
    header("timestamp", String(letter.timestampMs)),
    header("error-code", letter.fault.code),
    header("error-text", capped(faultText(letter.fault))),
    header("descriptor-version", String(letter.descriptorVersion)),
    header("revision", String(letter.revision)),
    header("attempt", String(letter.attempt)),
    header("first-seen", String(letter.firstSeenMs)),
  ];
}

function header(name: string, value: string): RecordHeader {
  return { name: Buffer.from(PREFIX + name), value: Buffer.from(value) };
}

/** At most {@link ERROR_TEXT_BYTES_MAX} bytes of UTF-8, without a cut character. */
function capped(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= ERROR_TEXT_BYTES_MAX) return text;
  let end = ERROR_TEXT_BYTES_MAX;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString();
}

function fingerprint(bytes: Uint8Array): string {
  return `${bytes.length} bytes, sha256 ${createHash("sha256").update(bytes).digest("hex")}`;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
