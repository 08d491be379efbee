import { timingSafeEqual } from "node:crypto";
import { StreamsError } from "../errors.ts";
import type { Role } from "./roles.ts";
import { digestToken, isTokenShaped } from "./token.ts";
import type { TokenEntry } from "./tokens-file.ts";

/** Who calls, by the token that came with the request. */
export interface Caller {
  readonly name: string;
  readonly role: Role;
}

/** Decides who calls. Without any token everybody on this machine may do everything. */
export interface Access {
  readonly hasTokens: boolean;
  /**
   * Reads an Authorization header. Undefined when no tokens are configured, whatever the header says.
   * @throws StreamsError TOKEN_MISSING, TOKEN_INVALID
   */
  authenticate(authorization: string | undefined): Caller | undefined;
}

const BEARER = /^bearer +(\S+)$/i;

interface KnownToken extends Caller {
  readonly digest: Buffer;
}

/** Access by the entries of a tokens file; an empty list means without tokens. */
export function createAccess(entries: readonly TokenEntry[]): Access {
  const known = entries.map(({ name, role, sha256 }) => ({ name, role, digest: Buffer.from(sha256, "hex") }));
  return {
    hasTokens: known.length > 0,
    authenticate: (authorization) => (known.length === 0 ? undefined : callerOf(known, authorization)),
  };
}

function callerOf(known: readonly KnownToken[], authorization: string | undefined): Caller {
  if (authorization === undefined) throw new StreamsError("TOKEN_MISSING", "the request has no Authorization header");
  const token = BEARER.exec(authorization)?.[1];
  if (token === undefined)
    throw new StreamsError("TOKEN_MISSING", "the Authorization header does not carry a bearer token");
  const digest = digestToken(token);
  // Every entry is compared, also after a match: neither the hash nor the place of an entry shows in the time it takes.
  let found: KnownToken | undefined;
  for (const candidate of known) {
    if (timingSafeEqual(candidate.digest, digest)) found = candidate;
  }
  if (found === undefined || !isTokenShaped(token))
    throw new StreamsError("TOKEN_INVALID", "no token of the tokens file matches");
  return { name: found.name, role: found.role };
}
