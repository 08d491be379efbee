import { StreamsError } from "../../src/errors.ts";
import { malformed } from "./refusals.ts";

/** One strong ETag. */
export const ENTITY_TAG_PATTERN = '^"([\\x21\\x23-\\x7e]+)"$';

const STRONG = new RegExp(ENTITY_TAG_PATTERN);

/** Writes an opaque tag as a strong ETag. Characters that an ETag cannot have are percent-encoded. */
export function entityTag(tag: string): string {
  return `"${encodeTag(tag)}"`;
}

/**
 * Reads If-Match: exactly one strong ETag, and gives back the tag that {@link entityTag} wrote.
 * @throws StreamsError PRECONDITION_REQUIRED without the header, PRECONDITION_FAILED for a weak tag (it never matches, RFC
 * 9110), REQUEST_MALFORMED for `*` (it would overwrite whatever is there), a list, or what is no ETag
 */
export function readIfMatch(header: string | undefined): string {
  if (header === undefined) throw new StreamsError("PRECONDITION_REQUIRED", "the request has no If-Match header");
  const text = header.trim();
  if (text.startsWith("W/")) throw new StreamsError("PRECONDITION_FAILED", "a weak ETag never matches");
  const tag = STRONG.exec(text)?.[1];
  if (tag === undefined)
    throw malformed(
      "header",
      "/if-match",
      'it must be the one ETag that was read, in quotes; "*" and lists are refused',
    );
  try {
    return decodeURIComponent(tag);
  } catch {
    throw new StreamsError("PRECONDITION_FAILED", "the ETag is none of this service");
  }
}

function encodeTag(tag: string): string {
  return encodeURIComponent(tag);
}
