import type { Static } from "@sinclair/typebox";
import { ERRORS, type ErrorCode, type StreamsError } from "../../src/errors.ts";
import type { Provenance as ProvenanceView } from "../../src/ports/documents.ts";
import type { VersionDifference } from "../../src/ports/descriptors.ts";
import { defined } from "../schema/closed.ts";
import { RETRY_AFTER_SECONDS } from "../limits.ts";
import { PROBLEM_CONTENT_TYPE, type Problem, type Violation, problemType, statusOf } from "../schema/problem.ts";
import { boundsMember, rangeMember } from "./problem-ranges.ts";
import { provenanceBody } from "../schema/provenance.ts";

export type ProblemDocument = Static<typeof Problem>;
export type ViolationText = Static<typeof Violation>;

/** A failure ready to be sent, by Fastify or straight to a socket. */
export interface ProblemReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Writes a failure as a problem of this request. */
export function problemReply(error: StreamsError, requestId: string): ProblemReply {
  const document = problemDocument(error, requestId);
  return {
    status: document.status,
    headers: {
      "content-type": PROBLEM_CONTENT_TYPE,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-request-id": requestId,
      ...headersOf(error),
    },
    body: Buffer.from(JSON.stringify(document)),
  };
}

/** The body of a problem. */
export function problemDocument(error: StreamsError, requestId: string): ProblemDocument {
  const { title, remedy } = ERRORS[error.code];
  return {
    type: problemType(error.code),
    title,
    status: statusOf(error.code),
    detail: error.message,
    code: error.code,
    remedy,
    instance: `urn:uuid:${requestId}`,
    requestId,
    ...extraMembers(error.extra),
  };
}

function headersOf(error: StreamsError): Record<string, string> {
  const status = statusOf(error.code);
  if (status === 503 || status === 429) return { "retry-after": String(retryAfter(error.extra)) };
  if (status === 401) return { "www-authenticate": authenticate(error.code) };
  if (status === 405) return { allow: isTexts(error.extra["allow"]) ? error.extra["allow"].join(", ") : "" };
  return {};
}

/** A service that knows when it is worth asking again says so. */
function retryAfter({ retryAfterSeconds }: StreamsError["extra"]): number {
  return typeof retryAfterSeconds === "number" ? retryAfterSeconds : RETRY_AFTER_SECONDS;
}

function authenticate(code: ErrorCode): string {
  const challenge = 'Bearer realm="ysearch-streams"';
  return code === "TOKEN_INVALID" ? `${challenge}, error="invalid_token"` : challenge;
}

type ExtraMembers = Pick<
  ProblemDocument,
  "violations" | "allow" | "fields" | "provenance" | "differences" | "lost" | "bounds" | "page" | "context"
>;

/** Known members keep their place and form; whatever else a service adds becomes a line of `context`: nothing is dropped. */
function extraMembers(extra: Readonly<Record<string, unknown>>): ExtraMembers {
  const lost = rangeMember(extra["lost"]);
  const bounds = boundsMember(extra["bounds"]);
  const members: ExtraMembers = defined({ lost, bounds });
  const context: { name: string; value: string }[] = [];
  for (const [name, value] of Object.entries(extra)) {
    if (name === "violations" && isViolations(value)) members.violations = [...value];
    else if (name === "allow" && isTexts(value)) members.allow = [...value];
    else if (name === "fields" && isTexts(value)) members.fields = [...value];
    else if (name === "provenance" && isProvenance(value)) members.provenance = provenanceBody(value);
    else if (name === "differences" && isDifferences(value))
      members.differences = value.map((one) => defined({ ...one }));
    else if (name === "page" && typeof value === "string") members.page = value;
    else if (name === "retryAfterSeconds") continue;
    else if ((name === "lost" && lost !== undefined) || (name === "bounds" && bounds !== undefined)) continue;
    else if (value !== undefined) context.push({ name, value: typeof value === "string" ? value : jsonText(value) });
  }
  if (context.length > 0) members.context = context;
  return members;
}

function jsonText(value: unknown): string {
  if (typeof value === "bigint") return value.toString();
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "(cannot be written)";
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((member) => typeof member === "string");
}

function isViolations(value: unknown): value is readonly ViolationText[] {
  return (
    Array.isArray(value) &&
    value.every((member) => typeof member === "object" && member !== null && "pointer" in member)
  );
}

function isDifferences(value: unknown): value is readonly VersionDifference[] {
  return (
    Array.isArray(value) &&
    value.every((member) => typeof member === "object" && member !== null && "againstVersion" in member)
  );
}

const PROVENANCE_NUMBERS = [
  "partition",
  "offset",
  "topicEpoch",
  "revision",
  "descriptorVersion",
  "timestampMs",
] as const;

function isProvenance(value: unknown): value is ProvenanceView {
  if (typeof value !== "object" || value === null) return false;
  const members = new Map<string, unknown>(Object.entries(value));
  return (
    typeof members.get("source") === "string" &&
    PROVENANCE_NUMBERS.every((name) => typeof members.get(name) === "number")
  );
}
