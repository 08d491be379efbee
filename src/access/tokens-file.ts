import { readFile } from "node:fs/promises";
import { parse as parseYaml } from "yaml";
import { StreamsError } from "../errors.ts";
import { ROLES, type Role } from "./roles.ts";

/** One token of the tokens file: never the token, only its hash. */
export interface TokenEntry {
  readonly name: string;
  readonly role: Role;
  /** SHA-256 of the token, 64 lower-case hex digits. */
  readonly sha256: string;
}

/** Most tokens in a file: each request is compared with all of them. */
export const TOKENS_MAX = 1_000;

const NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/;
const SHA256 = /^[0-9a-f]{64}$/;
const MEMBERS = new Set(["name", "role", "sha256"]);

/**
 * Reads a tokens file: YAML (a list of `{name, role, sha256}`) or JSON lines (one such object a line).
 * @throws StreamsError CONFIG_INVALID for anything else, a repeated name or hash, or no token at all: an emptied file must
 * not open the service to everybody.
 */
export function parseTokens(text: string): readonly TokenEntry[] {
  const values = readValues(text);
  if (values.length === 0) throw invalid("it names no token; remove http.tokensFile to run without tokens on loopback");
  if (values.length > TOKENS_MAX) throw invalid(`it names ${values.length} tokens; ${TOKENS_MAX} is the limit`);
  const entries = values.map(readEntry);
  refuseRepeated(entries, "name");
  refuseRepeated(entries, "sha256");
  return entries;
}

/** Reads and parses the tokens file. @throws StreamsError CONFIG_INVALID when it cannot be read, or as {@link parseTokens} */
export async function readTokensFile(path: string): Promise<readonly TokenEntry[]> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    throw new StreamsError("CONFIG_INVALID", `tokens file ${path} cannot be read`, {}, { cause });
  }
  try {
    return parseTokens(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    if (cause instanceof StreamsError) throw cause;
    throw new StreamsError("CONFIG_INVALID", `tokens file ${path} is not UTF-8`, {}, { cause });
  }
}

function readValues(text: string): readonly unknown[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const filled = lines.filter((line) => line !== "");
  if (filled.length > 0 && filled.every((line) => line.startsWith("{"))) {
    return lines.flatMap((line, index) => (line === "" ? [] : [readJsonLine(line, index + 1)]));
  }
  const value = readYaml(text);
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) throw invalid("it is neither a YAML list nor JSON lines");
  return value;
}

function readJsonLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // The parser's message would quote the line, and with it perhaps a token that somebody pasted.
    throw invalid(`line ${number} is not JSON`);
  }
}

function readYaml(text: string): unknown {
  try {
    return parseYaml(text, {
      strict: true,
      uniqueKeys: true,
      maxAliasCount: 0,
      logLevel: "error",
      prettyErrors: false,
    });
  } catch {
    throw invalid("it is not YAML (and not JSON lines)");
  }
}

function readEntry(value: unknown, index: number): TokenEntry {
  const place = `token ${index + 1}`;
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(`${place} is not an object`);
  const members = new Map<string, unknown>(Object.entries(value));
  for (const member of members.keys()) {
    if (!MEMBERS.has(member)) throw invalid(`${place} has an unknown member; name, role and sha256 are known`);
  }
  const name = members.get("name");
  const role = ROLES.find((known) => known === members.get("role"));
  const sha256 = members.get("sha256");
  if (typeof name !== "string" || !NAME.test(name)) throw invalid(`${place}: name must match ${NAME.source}`);
  if (role === undefined) throw invalid(`${place} (${name}): role must be one of ${ROLES.join(", ")}`);
  if (typeof sha256 !== "string" || !SHA256.test(sha256)) {
    throw invalid(
      `${place} (${name}): sha256 must be 64 lower-case hex digits, the hash of the token and not the token`,
    );
  }
  return { name, role, sha256 };
}

function refuseRepeated(entries: readonly TokenEntry[], member: "name" | "sha256"): void {
  const seen = new Set<string>();
  for (const entry of entries) {
    if (seen.has(entry[member])) throw invalid(`token ${entry.name} repeats the ${member} of another one`);
    seen.add(entry[member]);
  }
}

function invalid(text: string): StreamsError {
  return new StreamsError("CONFIG_INVALID", `the tokens file is not valid: ${text}`);
}
