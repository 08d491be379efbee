import { Type } from "@sinclair/typebox";
import { ERRORS, type ErrorCode, type ErrorKind } from "../../src/errors.ts";
import { Closed, Words } from "./closed.ts";
import { Difference } from "./difference.ts";
import { Provenance } from "./provenance.ts";
import { OffsetText } from "./values.ts";

/** The HTTP status of each kind of failure. */
export const STATUS_OF_KIND: Readonly<Record<ErrorKind, number>> = {
  malformed: 400,
  unauthenticated: 401,
  forbidden: 403,
  "not-found": 404,
  "method-not-allowed": 405,
  "not-acceptable": 406,
  "too-slow": 408,
  "wrong-state": 409,
  "precondition-failed": 412,
  "too-large": 413,
  "address-too-long": 414,
  "unsupported-media": 415,
  "expectation-failed": 417,
  impossible: 422,
  "precondition-required": 428,
  "too-many": 429,
  "headers-too-large": 431,
  internal: 500,
  unavailable: 503,
};

/** The codes of the catalogue, in its order. */
export const ERROR_CODES = Object.keys(ERRORS).filter((name): name is ErrorCode => name in ERRORS);

/** The HTTP status of a code. */
export function statusOf(code: ErrorCode): number {
  return STATUS_OF_KIND[ERRORS[code].kind];
}

/** `type` of a problem: stable, one per code. It names the code and is not an address to fetch. */
export function problemType(code: ErrorCode): string {
  return `urn:ysearch-streams:error:${code}`;
}

/** Content type of every problem. */
export const PROBLEM_CONTENT_TYPE = "application/problem+json; charset=utf-8";

/** Where and why a request was refused. */
export const Violation = Closed({
  place: Words(["body", "query", "path", "header", "address"]),
  pointer: Type.String({ description: "JSON pointer within that place; empty for the whole of it." }),
  text: Type.String(),
});

/** A problem (RFC 9457). Components refer to it as `Problem`. */
export const Problem = Closed(
  {
    type: Type.String({ description: "URN of the code.", examples: [problemType("SOURCE_UNKNOWN")] }),
    title: Type.String({ description: "What the code means." }),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    detail: Type.String({ description: "What happened this time." }),
    code: Words(ERROR_CODES, "Stable: programs decide on it."),
    remedy: Type.String({ description: "What to do." }),
    instance: Type.String({ description: "URN of this one failure.", pattern: "^urn:uuid:[0-9a-f-]{36}$" }),
    requestId: Type.String({ description: "Find it in the log; every answer carries it in X-Request-Id." }),
    violations: Type.Optional(Type.Array(Violation, { description: "Where a request is malformed." })),
    allow: Type.Optional(
      Type.Array(Type.String(), { description: "The methods of the resource, with METHOD_NOT_ALLOWED." }),
    ),
    fields: Type.Optional(Type.Array(Type.String(), { description: "The members that the refusal is about." })),
    provenance: Type.Optional(Provenance),
    differences: Type.Optional(
      Type.Array(Difference, { description: "What breaks, with DESCRIPTOR_INCOMPATIBLE; at most a hundred." }),
    ),
    lost: Type.Optional(
      Closed(
        { from: OffsetText, to: OffsetText },
        { description: "`[from, to)` that would be passed over, as it is now." },
      ),
    ),
    bounds: Type.Optional(
      Closed({ logStart: OffsetText, end: OffsetText }, { description: "What the log holds now: `[logStart, end)`." }),
    ),
    page: Type.Optional(
      Type.String({ description: "Page of the documentation that says what to do, and what each choice loses." }),
    ),
    context: Type.Optional(
      Type.Array(Closed({ name: Type.String(), value: Type.String() }), {
        description: "Anything else that helps: bounds, ranges, names.",
      }),
    ),
  },
  { $id: "Problem", description: "A failure (RFC 9457)." },
);
