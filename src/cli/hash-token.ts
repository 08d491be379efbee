import { hashToken, parseTokens, ROLES } from "../access/index.ts";
import { nearest } from "../config/nearest.ts";
import { StreamsError } from "../errors.ts";

/**
 * The line of the tokens file for the token on standard input.
 * @throws StreamsError CONFIG_INVALID for a name, role or token that no tokens file may have; the token is never shown
 */
export function hashTokenLine(name: string, role: string, input: string): string {
  if (!ROLES.some((known) => known === role)) {
    const near = nearest(role, ROLES);
    const hint = near === undefined ? "" : ` (did you mean ${near}?)`;
    throw new StreamsError("CONFIG_INVALID", `--role must be one of ${ROLES.join(", ")}${hint}`);
  }
  const line = JSON.stringify({ name, role, sha256: hashToken(input.replace(/\r?\n$/, "")) });
  parseTokens(line);
  return `${line}\n`;
}
