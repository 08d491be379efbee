import type { Static } from "@sinclair/typebox";
import type { LetterView, StoredLetter } from "../../src/ports/letters.ts";
import { defined } from "../schema/closed.ts";
import { recordKey } from "../schema/record-key.ts";
import { isWritableTime, knownTime, offsetText, timeText } from "../schema/values.ts";
import type { Letters } from "./schema.ts";

type Body = Static<typeof Letters>["letters"][number];

/** Writes a letter; with the record's key, and with the record byte for byte, where the caller may see them. */
export function letterBody(
  { letter, state }: LetterView,
  shown: { readonly key: boolean; readonly raw: boolean },
): Body {
  const { topic, topicEpoch, partition, offset, fault, attempt, revision, descriptorVersion, omitted, place } = letter;
  return defined({
    topic,
    topicEpoch,
    partition,
    offset: offsetText(offset) ?? "0",
    timestamp: knownTime(letter.timestampMs),
    code: fault.code,
    text: fault.text,
    attempt,
    firstSeen: timeText(isWritableTime(letter.firstSeenMs) ? letter.firstSeenMs : 0),
    lastSeen: knownTime(letter.publishedMs),
    revision,
    descriptorVersion,
    state,
    key: shown.key ? recordKey(letter.key) : undefined,
    omitted: Object.keys(omitted).length === 0 ? undefined : defined({ ...omitted }),
    at: { partition: place.partition, offset: offsetText(place.offset) ?? "0" },
    raw: shown.raw ? rawOf(letter) : undefined,
  });
}

function rawOf({ key, value, headers }: StoredLetter): NonNullable<Body["raw"]> {
  return {
    key: base64(key),
    value: base64(value),
    headers: headers.map((header) => ({ name: base64(header.name) ?? "", value: base64(header.value) })),
  };
}

function base64(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
