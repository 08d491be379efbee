import { request } from "undici";
import type { SourceSeed, StreamsConfig } from "../config/index.ts";
import { codeOf } from "../config/secrets.ts";
import { StreamsError } from "../errors.ts";
import { changedMembers, desiredDefinition, isRecord, seedBody, type DefinitionBody } from "./definition-body.ts";
import type { CliInputs } from "./inputs.ts";

const ANSWER_BYTES_MAX = 1024 * 1024;
const TOKEN_BYTES_MAX = 64 * 1024;
const ANSWER_TIMEOUT_MS = 35_000;

/** What `apply` was asked for. */
export interface ApplyOptions {
  readonly url: string;
  readonly tokenFile?: string;
  /** Only says what would change. */
  readonly dryRun: boolean;
}

interface Answer {
  readonly status: number;
  readonly etag: string | undefined;
  readonly body: unknown;
}

type Call = (method: "GET" | "PUT", path: string, headers: Record<string, string>, body?: string) => Promise<Answer>;

/**
 * Puts the file's sources in force on a running service: reads each definition, and where the file says something else
 * writes it with If-Match; a source that the service does not have is defined, which starts it. One line per source tells what happened; returns whether all of them are now as the file says.
 * @throws StreamsError CONFIG_INVALID for an unusable URL or token file
 */
export async function apply(options: ApplyOptions, config: StreamsConfig, inputs: CliInputs): Promise<boolean> {
  const call = caller(options, inputs);
  if (config.sources.length === 0) inputs.out("the file has no sources\n");
  let allApplied = true;
  for (const source of config.sources) {
    const outcome = await applySource(source, call, options.dryRun);
    const line = `${source.name}: ${outcome.text}\n`;
    if (outcome.ok) inputs.out(line);
    else inputs.err(line);
    allApplied &&= outcome.ok;
  }
  return allApplied;
}

interface Outcome {
  readonly ok: boolean;
  readonly text: string;
}

async function applySource(source: SourceSeed, call: Call, dryRun: boolean): Promise<Outcome> {
  const path = `v1/sources/${encodeURIComponent(source.name)}/definition`;
  const present = await attempt(call, "GET", path, {});
  if ("ok" in present) return present;
  if (present.status === 404 && isRecord(present.body) && present.body["code"] === "SOURCE_UNKNOWN") {
    return dryRun ? { ok: true, text: `would be added: ${newText(source)}` } : create(call, path, source);
  }
  const inForce = isRecord(present.body) ? present.body["definition"] : undefined;
  if (present.status !== 200 || !isRecord(inForce) || present.etag === undefined) return refused("GET", present);
  const desired = desiredDefinition(source, inForce);
  if (typeof desired === "string") return { ok: false, text: desired };
  const changed = changedMembers(inForce, desired);
  if (changed.length === 0) return { ok: true, text: "unchanged" };
  const changes = changed.map((member) => `${member} ${show(inForce[member])} → ${show(desired[member])}`).join(", ");
  return dryRun ? { ok: true, text: `would change ${changes}` } : put(call, path, present.etag, desired, changes);
}

async function create(call: Call, path: string, source: SourceSeed): Promise<Outcome> {
  const headers = { "if-none-match": "*", "content-type": "application/json" };
  const answer = await attempt(call, "PUT", path, headers, JSON.stringify(seedBody(source)));
  if ("ok" in answer) return answer;
  return answer.status === 201 ? { ok: true, text: `added: ${newText(source)}` } : refused("PUT", answer);
}

function newText({ kind, topic, group }: SourceSeed): string {
  return `${kind} from ${topic} as ${group}`;
}

async function put(call: Call, path: string, etag: string, desired: DefinitionBody, changes: string): Promise<Outcome> {
  const headers = { "if-match": etag, "content-type": "application/json" };
  const answer = await attempt(call, "PUT", path, headers, JSON.stringify(desired));
  if ("ok" in answer) return answer;
  return answer.status === 200 ? { ok: true, text: `changed ${changes}` } : refused("PUT", answer);
}

function show(value: unknown): string {
  return value === undefined ? "(none)" : JSON.stringify(value);
}

function refused(method: string, { status, body }: Answer): Outcome {
  const problem = isRecord(body) ? ["code", "detail", "remedy"].map((member) => body[member]) : [];
  const texts = problem.filter((text) => typeof text === "string");
  return { ok: false, text: `${method} was answered ${status}${texts.length === 0 ? "" : `: ${texts.join("; ")}`}` };
}

async function attempt(call: Call, ...given: Parameters<Call>): Promise<Answer | Outcome> {
  try {
    return await call(...given);
  } catch (cause) {
    if (cause instanceof StreamsError) throw cause;
    return { ok: false, text: `${given[0]} failed (${codeOf(cause)})` };
  }
}

function caller({ url, tokenFile }: ApplyOptions, { readFile }: CliInputs): Call {
  const base = baseUrl(url);
  const token = tokenFile === undefined ? undefined : readToken(readFile, tokenFile);
  return async (method, path, headers, body) => {
    const answer = await request(new URL(path, base), {
      method,
      headers: {
        accept: "application/json",
        ...headers,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: body ?? null,
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: ANSWER_TIMEOUT_MS,
    });
    const { etag } = answer.headers;
    return {
      status: answer.statusCode,
      etag: typeof etag === "string" ? etag : undefined,
      body: await readJson(answer.body),
    };
  };
}

function baseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol) || url.username !== "" || url.password !== "") {
    throw new StreamsError("CONFIG_INVALID", "--url must be http:// or https:// with a host, without credentials");
  }
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return url;
}

function readToken(readFile: CliInputs["readFile"], file: string): string {
  let bytes: Uint8Array;
  try {
    bytes = readFile(file, TOKEN_BYTES_MAX);
  } catch (cause) {
    throw new StreamsError("CONFIG_INVALID", `--token-file ${file} cannot be read (${codeOf(cause)})`);
  }
  const token = new TextDecoder().decode(bytes).trim();
  if (/^[A-Za-z0-9._~+/-]+=*$/.test(token)) return token;
  throw new StreamsError("CONFIG_INVALID", `--token-file ${file} does not hold one bearer token`);
}

async function readJson(stream: AsyncIterable<Uint8Array>): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > ANSWER_BYTES_MAX) throw new RangeError("the answer has more than 1 MiB");
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    return undefined;
  }
}
