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

/**
 * What a change of a resource expects: that it is as it was read (If-Match), or that there is none (If-None-Match: *).
 * @throws StreamsError as {@link readIfMatch}, and REQUEST_MALFORMED for both headers or another If-None-Match
 */
export function readPrecondition(headers: {
  readonly "if-match"?: string | undefined;
  readonly "if-none-match"?: string | undefined;
}): "absent" | { readonly tag: string } {
  const { "if-match": match, "if-none-match": noneMatch } = headers;
  if (noneMatch === undefined) return { tag: readIfMatch(match) };
  if (match !== undefined) throw malformed("header", "/if-none-match", "send If-Match or If-None-Match, not both");
  if (noneMatch.trim() === "*") return "absent";
  throw malformed("header", "/if-none-match", 'it must be "*": that there is no such resource yet');
}

function encodeTag(tag: string): string {
  return encodeURIComponent(tag);
}
