/**
 * The error catalogue: every failure that a caller can meet has a stable code, what kind of failure it is, a title and
 * what to do. The core and the services know nothing of HTTP; `routes/error-reply.ts` maps the kind to a status.
 */

export type ErrorKind =
  | "malformed"
  | "unauthenticated"
  | "forbidden"
  | "not-found"
  | "method-not-allowed"
  | "not-acceptable"
  | "wrong-state"
  | "precondition-failed"
  | "precondition-required"
  | "too-large"
  | "unsupported-media"
  | "impossible"
  | "too-many"
  | "unavailable"
  | "internal"
  | "too-slow"
  | "address-too-long"
  | "headers-too-large"
  | "expectation-failed";

interface CatalogueEntry {
  readonly kind: ErrorKind;
  readonly title: string;
  readonly remedy: string;
}

export const ERRORS = {
  REQUEST_MALFORMED: {
    kind: "malformed",
    title: "The request is not well-formed",
    remedy: "Compare the request with the operation in /openapi.json; the detail names the place.",
  },
  REQUEST_UNKNOWN_FIELD: {
    kind: "malformed",
    title: "The request has a field that the operation does not know",
    remedy: "Remove or correct the field that the detail names; nothing is ever ignored.",
  },
  BODY_NOT_JSON: {
    kind: "malformed",
    title: "The body is not strict JSON",
    remedy: "Send UTF-8 JSON without a byte order mark, duplicate keys, prototype keys or numbers that lose digits.",
  },
  BODY_TOO_LARGE: {
    kind: "too-large",
    title: "The body is larger than the limit",
    remedy: "Send a smaller body; limits.requestBodyBytes is the limit.",
  },
  MEDIA_TYPE_UNSUPPORTED: {
    kind: "unsupported-media",
    title: "The content type or encoding is not supported",
    remedy: "Send application/json in UTF-8 without a content encoding.",
  },
  TOKEN_MISSING: {
    kind: "unauthenticated",
    title: "A bearer token is required",
    remedy: "Send 'Authorization: Bearer …' with a token of the tokens file.",
  },
  TOKEN_INVALID: {
    kind: "unauthenticated",
    title: "The bearer token is not known",
    remedy: "Check the token; tokens are listed by name in the tokens file.",
  },
  ROLE_INSUFFICIENT: {
    kind: "forbidden",
    title: "The token's role does not allow this operation",
    remedy: "Use a token with the role that the detail names.",
  },
  ROUTE_UNKNOWN: {
    kind: "not-found",
    title: "There is no such resource",
    remedy: "See /openapi.json for what there is.",
  },
  METHOD_NOT_ALLOWED: {
    kind: "method-not-allowed",
    title: "The resource does not have this method",
    remedy: "Use one of the methods in the Allow header.",
  },
  SOURCE_UNKNOWN: {
    kind: "not-found",
    title: "There is no source of this name",
    remedy: "GET /v1/sources lists the sources.",
  },
  PARTITION_UNKNOWN: {
    kind: "not-found",
    title: "The source's topic has no such partition",
    remedy: "GET /v1/sources/{source}/partitions lists the partitions.",
  },
  NAMESPACE_UNKNOWN: {
    kind: "not-found",
    title: "No source writes to this namespace",
    remedy: "GET /v1/sources shows which source writes to which namespace.",
  },
  DOCUMENT_UNKNOWN: {
    kind: "not-found",
    title: "No document of this id is stored",
    remedy: "Check the id; if it was written recently, GET /v1/lag tells whether its partition has caught up.",
  },
  DOCUMENT_DELETED: {
    kind: "not-found",
    title: "The document was deleted",
    remedy: "The provenance in this problem tells by which record.",
  },
  DEFINITION_CHANGE_REFUSED: {
    kind: "impossible",
    title: "This part of a source's definition cannot be changed in place",
    remedy: "Define a new source with a name, group and namespace of its own; the detail names the fields.",
  },
  DEFINITION_CONFLICT: {
    kind: "impossible",
    title: "The definition contradicts itself or another source",
    remedy: "Change the members that the detail names; it says what is wrong with each, and which source is concerned.",
  },
  PRECONDITION_FAILED: {
    kind: "precondition-failed",
    title: "The resource has changed since it was read",
    remedy: "Read it again and repeat the change with its present ETag.",
  },
  PRECONDITION_REQUIRED: {
    kind: "precondition-required",
    title: "This change needs If-Match or If-None-Match",
    remedy: "Read the resource and send its ETag in If-Match; for a new source send 'If-None-Match: *'.",
  },
  PAUSE_UNTIL_PAST: {
    kind: "impossible",
    title: "The pause would have ended already",
    remedy: "Name a time that is still to come, or leave `until` out.",
  },
  PARTITION_NOT_STOPPED: {
    kind: "wrong-state",
    title: "The partition is not stopped",
    remedy: "There is nothing to resume; a pause ends by DELETE of the pause.",
  },
  LOSS_NOT_ACCEPTED: {
    kind: "wrong-state",
    title: "Data would be passed over, and its loss was not accepted",
    remedy: "The context has the range as it is now; repeat with acceptLoss that covers it, or choose another `from`.",
  },
  RESUME_OUT_OF_RANGE: {
    kind: "impossible",
    title: "The offset is outside the log",
    remedy: "The context has the log's bounds; choose an offset within them. The end itself is legal.",
  },
  RESUME_POINT_UNKNOWN: {
    kind: "impossible",
    title: "There is no copy, or no commit, to resume from",
    remedy: "Resume from log-start, or from an offset.",
  },
  EPOCH_REQUIRED: {
    kind: "wrong-state",
    title: "The log is, or may be, another one than was read before",
    remedy: "Restore the log and resume from copy, or open a topic epoch: POST /v1/sources/{source}/epochs.",
  },
  EPOCH_NOT_NEEDED: {
    kind: "wrong-state",
    title: "The source reads the log that it is bound to",
    remedy:
      "A stopped partition goes on by a resumption; a topic epoch is for another log, or for a growth that was refused.",
  },
  EPOCH_NOT_READ: {
    kind: "wrong-state",
    title: "Old partitions are not read to their end, or producers are not quiet",
    remedy:
      "Stop the producers, resume each partition that the context names from its `resumeFrom`, wait until they are read to their end, and repeat.",
  },
  EPOCH_EXHAUSTED: {
    kind: "impossible",
    title: "There is no further topic epoch",
    remedy: "Define a new source with a namespace of its own; epochs are numbered up to 1023.",
  },
  COUNTING_NOT_APPLICABLE: {
    kind: "impossible",
    title: "`counting` is for kinds that count",
    remedy: "Leave it out: versioned kinds have no rows to continue or to replace.",
  },
  BARRIER_UNKNOWN: {
    kind: "not-found",
    title: "The source has no such barrier",
    remedy:
      "A barrier is kept for a day, and one that is done until its place is needed; set a new one: POST /v1/sources/{source}/barriers.",
  },
  BARRIER_BLOCKED: {
    kind: "wrong-state",
    title: "Partitions that the barrier would wait for are stopped or paused",
    remedy: "Resume the partitions that the context names, or end their pause, and repeat.",
  },
  BARRIER_IN_FUTURE: {
    kind: "impossible",
    title: "The barrier's time is still to come",
    remedy: "Wait for it: a barrier is fixed to offsets when it is set.",
  },
  BARRIERS_TOO_MANY: {
    kind: "too-many",
    title: "The source has as many unfinished barriers as it can have",
    remedy: "Set one barrier for several writes; look why earlier ones are not done: GET /v1/lag, GET /v1/sources.",
  },
  WAITS_TOO_MANY: {
    kind: "too-many",
    title: "Too many answers wait already",
    remedy: "Ask without `wait`, or again after Retry-After.",
  },
  RECORD_UNREADABLE: {
    kind: "impossible",
    title: "What the log holds there cannot be turned into records",
    remedy:
      "The detail says why: a damaged batch, a codec that this build lacks, or one above limits.batchDecompressedBytes.",
  },
  EXPLAIN_BUSY: {
    kind: "too-many",
    title: "Too many explanations are under way",
    remedy: "Try again after Retry-After.",
  },
  DEAD_LETTERS_BUSY: {
    kind: "too-many",
    title: "Too many questions about dead letters are under way",
    remedy: "Try again after Retry-After.",
  },
  DEAD_LETTERS_TOO_MANY: {
    kind: "impossible",
    title: "The dead-letter topic holds letters of more records than one question can be about",
    remedy: "Ask for one partition, or for a range of its offsets: partition, from, to.",
  },
  CURSOR_UNKNOWN: {
    kind: "malformed",
    title: "The cursor is none that this query gave",
    remedy: "Begin without a cursor; send `next` of an answer unchanged, with the same query.",
  },
  DESCRIPTOR_INVALID: {
    kind: "impossible",
    title: "The descriptor does not compile",
    remedy: "The detail names the file, type or field.",
  },
  DESCRIPTOR_UNKNOWN: {
    kind: "impossible",
    title: "There is no such descriptor subject or version",
    remedy:
      "GET /v1/descriptors/{subject}/versions lists what is registered; docs/configuration.md lists the subjects that ship with the build.",
  },
  DESCRIPTOR_NOT_FOUND: {
    kind: "not-found",
    title: "There is no such descriptor subject or version",
    remedy: "GET /v1/descriptors/{subject}/versions lists the versions; a version that was removed is told there.",
  },
  DESCRIPTOR_INCOMPATIBLE: {
    kind: "wrong-state",
    title: "The descriptor would read records of earlier versions wrongly",
    remedy:
      "The violations name message, field number, old and new type: give what changed a new number and reserve the old one.",
  },
  DESCRIPTOR_IN_USE: {
    kind: "wrong-state",
    title: "The descriptor version is in use",
    remedy:
      "The context names where: activate another version, and wait until the log no longer holds what this one decodes.",
  },
  DESCRIPTORS_TOO_MANY: {
    kind: "impossible",
    title: "The subject has as many versions as it can have",
    remedy: "Register under another subject; versions are compared with all before them.",
  },
  DESCRIPTORS_BUSY: {
    kind: "too-many",
    title: "Too many descriptors are being compiled",
    remedy: "Try again after Retry-After.",
  },
  MAPPING_INVALID: {
    kind: "impossible",
    title: "The mapping does not fit the descriptor and the kind",
    remedy: "The detail names the input and the path.",
  },
  CONFIG_INVALID: {
    kind: "malformed",
    title: "The configuration is not valid",
    remedy: "Correct what the detail names; 'ysearch-streams check' reads a file without starting anything.",
  },
  KV_OWNER_UNKNOWN: {
    kind: "not-found",
    title: "The KV plane has no such owner",
    remedy: "GET /v1/kv/owners lists them.",
  },
  KV_REPAIR_REFUSED: {
    kind: "wrong-state",
    title: "This owner cannot be repaired now",
    remedy: "The detail says what is in the way; GET /v1/kv/owners shows each owner's state and reason.",
  },
  KV_UNAVAILABLE: {
    kind: "unavailable",
    title: "The KV plane cannot answer now",
    remedy: "Try again after Retry-After; GET /v1/kv/owners tells which owner is down and why.",
  },
  BROKER_UNAVAILABLE: {
    kind: "unavailable",
    title: "The broker cannot answer now",
    remedy: "Try again after Retry-After; GET /v1/sources tells what the consumer met.",
  },
  NOT_READY: {
    kind: "unavailable",
    title: "The service is starting or stopping",
    remedy: "Try again after Retry-After.",
  },
  INTERNAL: {
    kind: "internal",
    title: "The service failed in a way that is its own fault",
    remedy: "Report the request id; the log has the cause under it.",
  },
  HOST_REFUSED: {
    kind: "forbidden",
    title: "The request names a host that is not this machine",
    remedy:
      "Without tokens only localhost, 127.0.0.1 and [::1] are answered; set http.tokensFile to serve other names.",
  },
  ORIGIN_REFUSED: {
    kind: "forbidden",
    title: "A page of another origin may not change anything",
    remedy: "Call from a script without an Origin header, or set http.tokensFile and send a token.",
  },
  ADDRESS_TOO_LONG: {
    kind: "address-too-long",
    title: "A part of the path is longer than anything it could name",
    remedy: "Names have at most 100 characters, document ids at most 512 bytes before percent-encoding.",
  },
  HEADERS_TOO_LARGE: {
    kind: "headers-too-large",
    title: "The request line and headers are larger than the limit",
    remedy: "Send fewer or shorter headers.",
  },
  REQUEST_TOO_SLOW: {
    kind: "too-slow",
    title: "The request did not arrive in time",
    remedy: "Send the whole request at once and try again.",
  },
  NAMESPACE_NEEDED: {
    kind: "impossible",
    title: "Several namespaces could be meant",
    remedy: "Name one of those in the detail as `namespace`.",
  },
  COUNTERS_CHANGING: {
    kind: "unavailable",
    title: "What is summed changed while it was read",
    remedy: "Try again after Retry-After.",
  },
  ANSWER_TOO_LARGE: {
    kind: "impossible",
    title: "The answer would be larger than the limit",
    remedy: "Ask for a part of it, as the detail says.",
  },
  JOB_UNKNOWN: {
    kind: "not-found",
    title: "There is no such job",
    remedy: "List the jobs; those that ended long ago give their place to new ones.",
  },
  JOB_OVERLAPS: {
    kind: "wrong-state",
    title: "Another job applies to the same offsets",
    remedy: "Wait for the job that the detail names, or cancel it.",
  },
  JOB_KEY_REUSED: {
    kind: "impossible",
    title: "Something else was asked for with this Idempotency-Key",
    remedy: "Use a new key for a new request; the detail names the job that was submitted with it.",
  },
  JOBS_TOO_MANY: {
    kind: "too-many",
    title: "The source has as many jobs as it may",
    remedy: "Wait until one has ended, or cancel one.",
  },
  JOB_RANGE: {
    kind: "impossible",
    title: "The log does not hold what the job is to read",
    remedy: "Ask for a range within the bounds that the detail names.",
  },
  JOB_KIND: {
    kind: "impossible",
    title: "The source's kind has no such job",
    remedy: "Counting kinds are recounted; versioned kinds are replayed, and their dead letters redriven.",
  },
  RECOUNT_BEHIND: {
    kind: "wrong-state",
    title: "Live reading has not come to the end of a row",
    remedy: "Submit it again once lag is 0, or take only what is possible with `partly`.",
  },
  HISTORY_GONE: {
    kind: "impossible",
    title: "The log has lost records that would have to be counted again",
    remedy: "Ask for the rows that `possible` names; the others stay as they were counted.",
  },
  EXPECTATION_UNKNOWN: {
    kind: "expectation-failed",
    title: "The request expects something that the service does not do",
    remedy: "Send no Expect header, or 100-continue.",
  },
  ANSWER_TIMEOUT: {
    kind: "unavailable",
    title: "The answer took longer than the limit",
    remedy: "Try again after Retry-After; a change may have been made: read the resource before repeating it.",
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** A failure with a code of {@link ERRORS}. `detail` says what happened, never a secret or a record's payload. */
export class StreamsError extends Error {
  readonly code: ErrorCode;
  /** Further members of the problem document: bounds, ranges, provenance. */
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, detail: string, extra: Readonly<Record<string, unknown>> = {}, options?: ErrorOptions) {
    super(detail, options);
    this.name = "StreamsError";
    this.code = code;
    this.extra = extra;
  }
}
