import { createHash } from "node:crypto";
import { StreamsError } from "../errors.ts";

/**
 * What a bearer token looks like (RFC 6750, b64token), 20 to 512 characters: tokens are random, so one round of SHA-256
 * protects them at rest; a short one could be guessed from its hash.
 */
const TOKEN = /^(?=.{20,512}$)[A-Za-z0-9._~+/-]+=*$/;

/** Whether `text` could be a token of the tokens file. */
export function isTokenShaped(text: string): boolean {
  return TOKEN.test(text);
}

/** SHA-256 of a token, 32 bytes. */
export function digestToken(token: string): Buffer {
  return createHash("sha256").update(token, "utf8").digest();
}

/**
 * The `sha256` member of a token's entry: 64 lower-case hex digits.
 * @throws StreamsError CONFIG_INVALID for a token that no request could carry, or one short enough to be guessed.
 */
export function hashToken(token: string): string {
  if (!isTokenShaped(token)) {
    throw new StreamsError(
      "CONFIG_INVALID",
      "a token has 20 to 512 characters of A-Z a-z 0-9 . _ ~ + / - and may end in =",
    );
  }
  return digestToken(token).toString("hex");
}
