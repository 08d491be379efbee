import { type Static, Type } from "@sinclair/typebox";
import { Closed } from "./closed.ts";
import { Count } from "./values.ts";

/** Longest part of a key that an answer shows, in bytes: the longest that is any document's id. */
const SHOWN_BYTES = 512;

/** A record's key: as text where it is UTF-8. */
export const RecordKey = Closed(
  {
    text: Type.Optional(Type.String({ description: "The key, where it is UTF-8 of at most 512 bytes." })),
    base64: Type.Optional(Type.String({ description: "The key otherwise: its first 512 bytes." })),
    bytes: Count("Length of the whole key."),
  },
  { description: "Key of the record." },
);

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Writes a record's key; undefined where the record has none. */
export function recordKey(key: Uint8Array | null | undefined): Static<typeof RecordKey> | undefined {
  if (key === null || key === undefined) return undefined;
  const bytes = key.length;
  const text = bytes <= SHOWN_BYTES ? readText(key) : undefined;
  if (text !== undefined) return { text, bytes };
  return { base64: Buffer.from(key.subarray(0, SHOWN_BYTES)).toString("base64"), bytes };
}

function readText(key: Uint8Array): string | undefined {
  try {
    return strict.decode(key);
  } catch {
    return undefined;
  }
}
