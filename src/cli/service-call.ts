import { request } from "undici";
import { codeOf } from "../config/secrets.ts";
import { StreamsError } from "../errors.ts";
import { isRecord } from "./definition-body.ts";
import type { CliInputs } from "./inputs.ts";

const ANSWER_BYTES_MAX = 1024 * 1024;
const TOKEN_BYTES_MAX = 64 * 1024;
const ANSWER_TIMEOUT_MS = 35_000;

/** Which running service a command talks to, and as whom. */
export interface ServiceAddress {
  readonly url: string;
  readonly tokenFile?: string;
}

/** What a service answered. */
export interface Answer {
  readonly status: number;
  readonly etag: string | undefined;
  /** Undefined when it is no JSON. */
  readonly body: unknown;
}

/** One call: a path below the service's URL, headers beside the token, and a JSON body. */
export interface Call {
  (method: "GET" | "PUT" | "POST", path: string, headers: Record<string, string>, body?: string): Promise<Answer>;
  /** The service's URL, for people. */
  readonly address: string;
}

/** The answer, or in words why there is none. @throws StreamsError CONFIG_INVALID */
export async function attempt(call: Call, ...given: Parameters<Call>): Promise<Answer | string> {
  try {
    return await call(...given);
  } catch (cause) {
    if (cause instanceof StreamsError) throw cause;
    return `${given[0]} ${call.address}${given[1]} failed (${codeOf(cause)})`;
  }
}

/** An answer that is not what was wanted, in words: status, code, detail, remedy. */
export function problemText(method: string, { status, body }: Answer): string {
  const problem = isRecord(body) ? ["code", "detail", "remedy"].map((member) => body[member]) : [];
  const texts = problem.filter((text) => typeof text === "string");
  return `${method} was answered ${status}${texts.length === 0 ? "" : `: ${texts.join("; ")}`}`;
}

/**
 * Calls of one service.
 * @throws StreamsError CONFIG_INVALID for an unusable URL or token file
 */
export function callService({ url, tokenFile }: ServiceAddress, { readFile }: CliInputs): Call {
  const base = baseUrl(url);
  const token = tokenFile === undefined ? undefined : readToken(readFile, tokenFile);
  const ask = async (method: string, path: string, headers: Record<string, string>, body?: string) => {
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
  return Object.assign(ask, { address: base.href });
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
