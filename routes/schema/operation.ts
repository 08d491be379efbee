import { type TSchema, Type } from "@sinclair/typebox";
import { ERRORS, type ErrorCode } from "../../src/errors.ts";
import { Closed } from "./closed.ts";
import { RETRY_AFTER_SECONDS } from "../limits.ts";
import { statusOf } from "./problem.ts";

/** For a path without parameters. */
export const NO_PARAMS = Closed({});

/** For an operation without query fields. */
export const NO_QUERY = Closed({});

/** A failure that every operation can meet. */
const ALWAYS = [
  "REQUEST_MALFORMED",
  "REQUEST_UNKNOWN_FIELD",
  "HOST_REFUSED",
  "REQUEST_TOO_SLOW",
  "ADDRESS_TOO_LONG",
  "EXPECTATION_UNKNOWN",
  "HEADERS_TOO_LARGE",
  "INTERNAL",
  "ANSWER_TIMEOUT",
] as const satisfies readonly ErrorCode[];

/** What an operation behind a token can meet. */
export const TOKEN_ERRORS = [
  "TOKEN_MISSING",
  "TOKEN_INVALID",
  "ROLE_INSUFFICIENT",
] as const satisfies readonly ErrorCode[];

/** What an operation with a body can meet. */
export const BODY_ERRORS = [
  "BODY_NOT_JSON",
  "BODY_TOO_LARGE",
  "MEDIA_TYPE_UNSUPPORTED",
  "ORIGIN_REFUSED",
] as const satisfies readonly ErrorCode[];

/** A response of the API's contract, as Fastify and the OpenAPI document take it. */
export interface ResponseDeclaration {
  readonly description: string;
  readonly content: Readonly<Record<string, { readonly schema: TSchema }>>;
  readonly headers?: Readonly<Record<string, { readonly type: "string" | "integer"; readonly description: string }>>;
}

/** What an operation is, before {@link operation} completes it. */
export interface OperationDeclaration<P extends TSchema, Q extends TSchema> {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: string;
  readonly params: P;
  readonly querystring: Q;
  readonly response: Readonly<Record<number, ResponseDeclaration>>;
  /** Codes beside those that every operation can meet. */
  readonly errors: readonly ErrorCode[];
  /** False for what needs no token. */
  readonly secured?: boolean;
}

/** A JSON response. */
export function json(
  description: string,
  schema: TSchema,
  headers?: ResponseDeclaration["headers"],
): ResponseDeclaration {
  return { description, content: { "application/json": { schema } }, ...(headers === undefined ? {} : { headers }) };
}

/** The OpenAPI security of an operation behind a token. */
const SECURED = [{ bearer: [] }];

/** Completes an operation's schema: a problem response for each status that its codes can have. */
export function operation<P extends TSchema, Q extends TSchema>(declaration: OperationDeclaration<P, Q>) {
  const { operationId, summary, description, tag, params, querystring, response, errors } = declaration;
  const secured = declaration.secured ?? true;
  const asksSources = errors.some((code) => code === "SOURCE_UNKNOWN" || code === "NAMESPACE_UNKNOWN");
  // Before the sources are loaded nobody can say that there is none of a name.
  const starting = asksSources ? (["NOT_READY"] as const) : [];
  const codes = [...ALWAYS, ...(secured ? TOKEN_ERRORS : []), ...starting, ...errors];
  return {
    operationId,
    summary,
    description,
    tags: [tag],
    security: secured ? SECURED : [],
    params,
    querystring,
    response: { ...problemResponses(codes), ...response },
  };
}

function problemResponses(codes: readonly ErrorCode[]): Record<number, ResponseDeclaration> {
  const distinct = [...new Set(codes)];
  const statuses = [...new Set(distinct.map(statusOf))].toSorted((one, other) => one - other);
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      problemResponse(
        status,
        distinct.filter((code) => statusOf(code) === status),
      ),
    ]),
  );
}

function problemResponse(status: number, codes: readonly ErrorCode[]): ResponseDeclaration {
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].title}.`).join("\n"),
    content: { "application/problem+json": { schema: Type.Unsafe({ $ref: "Problem#" }) } },
    ...(status === 503 || status === 429 ? { headers: RETRY_AFTER } : {}),
    ...(status === 401 ? { headers: AUTHENTICATE } : {}),
  };
}

/** Header of a 503 and of a 429. */
export const RETRY_AFTER = {
  "Retry-After": { type: "integer", description: `Seconds to wait, ${RETRY_AFTER_SECONDS} as a rule.` },
} as const;

const AUTHENTICATE = { "WWW-Authenticate": { type: "string", description: "The scheme: Bearer." } } as const;
