import { createHash } from "node:crypto";
import { formatOffset, parseOffset, type Offset } from "../../../src/core/offset.ts";
import type { DeadLetter } from "../../../src/ports/dead-letters.ts";
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
 * The record to publish for a letter: the original's key, value and headers byte for byte, then our headers.
 * @param timestampMs of the letter itself: now, since the original's may be older than the topic's retention.
 */
export function letterRecord(letter: DeadLetter, form: LetterForm, timestampMs: number): RecordToEncode {
  const whole = form === "whole";
  const bare = form === "coordinates-only";
  return {
    key: bare ? null : letter.key,
    value: whole ? letter.value : null,
    headers: [
      ...(bare ? [] : letter.headers),
      ...originHeaders(letter),
      ...(whole || letter.value === null ? [] : [header("value-omitted", fingerprint(letter.value))]),
      ...(bare && letter.key !== null ? [header("key-omitted", fingerprint(letter.key))] : []),
      ...(bare ? [header("headers-omitted", String(letter.headers.length))] : []),
    ],
    timestampMs,
  };
}

/** About how many bytes a letter takes in a batch. */
export function letterBytes(letter: DeadLetter): number {
  const headers = letter.headers.reduce((sum, { name, value }) => sum + name.length + (value?.length ?? 0) + 10, 0);
  return (letter.key?.length ?? 0) + (letter.value?.length ?? 0) + headers + 1_024;
}

/** Where a letter came from, read back from its headers, and the original's own headers. */
export interface LetterOrigin {
  readonly source: string;
  readonly topic: string;
  readonly topicEpoch: number;
  readonly partition: number;
  readonly offset: Offset;
  readonly timestampMs: number;
  readonly errorCode: string;
  readonly errorText: string;
  readonly descriptorVersion: number;
  readonly revision: number;
  readonly attempt: number;
  readonly firstSeenMs: number;
  /** Set when the letter does not carry the original's value although there was one. */
  readonly valueOmitted: boolean;
  readonly originalHeaders: readonly RecordHeader[];
}

/** Reads a letter's headers. Undefined when they are not those of a letter: somebody else wrote to the topic. */
export function readLetter(headers: readonly RecordHeader[]): LetterOrigin | undefined {
  const start = headers.findLastIndex(({ name }) => textOf(name) === FIRST);
  if (start < 0) return undefined;
  const ours = new Map(
    headers.slice(start).map(({ name, value }) => [textOf(name), value === null ? "" : textOf(value)]),
  );
  const text = (name: string): string => ours.get(PREFIX + name) ?? "";
  const number = (name: string): number => Number.parseInt(text(name), 10);
  const offset = parseOffset(text("offset"));
  const numbers = ["topic-epoch", "partition", "timestamp", "descriptor-version", "revision", "attempt", "first-seen"];
  if (offset === undefined || numbers.some((name) => !Number.isSafeInteger(number(name)))) return undefined;
  return {
    source: text("source"),
    topic: text("topic"),
    topicEpoch: number("topic-epoch"),
    partition: number("partition"),
    offset,
    timestampMs: number("timestamp"),
    errorCode: text("error-code"),
    errorText: text("error-text"),
    descriptorVersion: number("descriptor-version"),
    revision: number("revision"),
    attempt: number("attempt"),
    firstSeenMs: number("first-seen"),
    valueOmitted: ours.has(`${PREFIX}value-omitted`),
    originalHeaders: headers.slice(0, start),
  };
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
    header("error-text", capped(letter.fault.text)),
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
