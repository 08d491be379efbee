import { type TProperties, Type } from "@sinclair/typebox";
import { JOB_KINDS, JOB_PARTITION_STATES, JOB_STATES } from "../../src/core/job/job.ts";
import type { ErrorCode } from "../../src/errors.ts";
import { WAIT_PATTERN } from "../edge/waits.ts";
import { AnyJson, Closed, Words } from "../schema/closed.ts";
import { BODY_ERRORS, json, NO_PARAMS, NO_QUERY, operation } from "../schema/operation.ts";
import { Reason } from "../schema/operator-values.ts";
import { Count, NAME_PATTERN, OffsetText, PartitionNumber, Text, Time } from "../schema/values.ts";

const Fault = Closed({ code: Text("Stable code."), text: Text("What happened, without payload.") });

const Receipt = Closed(
  {
    read: Count("Records read; the others add up to it."),
    bytes: Count("Bytes of their keys and values."),
    applied: Count("Written, or counted."),
    alreadyApplied: Count("The store held the same already."),
    superseded: Count("The store holds something newer."),
    deadLettered: Count("Sent to the dead letters."),
    failed: Count("Could not be applied, and is in no dead letter of this job."),
  },
  { description: "What became of the records." },
);

const JobPartition = Closed({
  partition: PartitionNumber,
  from: OffsetText,
  to: OffsetText,
  next: OffsetText,
  state: Words(
    JOB_PARTITION_STATES,
    "`stopped`: the log lost records of the range before they were read, see `lost`. `failed`: see `error`.",
  ),
  receipt: Receipt,
  lost: Type.Optional(Closed({ from: OffsetText, to: OffsetText })),
  error: Type.Optional(Fault),
});

export const Job = Closed({
  id: Text("Id of the job."),
  kind: Words(JOB_KINDS),
  source: Text("Name of the source."),
  state: Words(JOB_STATES),
  cancelling: Type.Boolean({ description: "Somebody asked for its end." }),
  waiting: Type.Optional(Fault),
  revision: Count("Revision that judges its records."),
  request: AnyJson("What was asked for."),
  result: Type.Optional(AnyJson("What it found, where its kind finds something.")),
  actor: Text("Name of the token that submitted it."),
  reason: Text("Why."),
  audit: Text("Audit entry of the submission."),
  createdAt: Time,
  startedAt: Type.Optional(Time),
  endedAt: Type.Optional(Time),
  percent: Type.Number({ minimum: 0, maximum: 100, description: "Offsets that were dealt with." }),
  etaSeconds: Type.Optional(
    Type.Number({ minimum: 0, maximum: Number.MAX_VALUE, description: "At the speed so far; absent while unknown." }),
  ),
  error: Type.Optional(Fault),
  receipt: Receipt,
  partitions: Type.Array(JobPartition),
});

export const Preview = Closed({
  dryRun: Type.Literal(true),
  source: Text("Name of the source."),
  revision: Count("Revision that would judge the records."),
  ranges: Type.Array(Closed({ partition: PartitionNumber, from: OffsetText, to: OffsetText })),
  offsets: Count("Offsets in the ranges: an upper bound of the records where the log has holes."),
  sampled: Closed({
    records: Count("Records that were looked at."),
    bytes: Count("Bytes of their keys and values."),
    failed: Count("How many of them could not be applied."),
  }),
  durationSeconds: Type.Optional(
    Type.Number({ minimum: 0, maximum: Number.MAX_VALUE, description: "At the speed of the sample, or at the rates." }),
  ),
});

/** How fast a job may go. */
export const RatesBody = Type.Optional(
  Closed({
    recordsPerSecond: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
    bytesPerSecond: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000_000 })),
  }),
);

/** Ranges `[from, to)`; what is left out reaches to the ends of the log. */
export const RangesBody = Type.Optional(
  Type.Array(Closed({ partition: PartitionNumber, from: Type.Optional(OffsetText), to: Type.Optional(OffsetText) }), {
    minItems: 1,
    maxItems: 10_000,
  }),
);

/** What every submission says. */
export const submission = {
  source: Type.String({ pattern: NAME_PATTERN, description: "Name of the source." }),
  reason: Reason,
  dryRun: Type.Optional(Type.Boolean({ description: "Says what it would do; submits nothing." })),
  rates: RatesBody,
};

const JobParams = Closed({
  id: Type.String({ pattern: "^[0-9a-f-]{36}$", description: "`id` of the job." }),
});

const LOCATION = { Location: { type: "string", description: "Where to ask for it." } } as const;

/** What an operation on one kind of job is called. */
export interface JobNouns {
  /** `Replay` */
  readonly name: string;
  /** `replay` */
  readonly noun: string;
  readonly about: string;
  readonly errors: readonly ErrorCode[];
}

/** The schemas of one kind of job. */
export function jobSchemas<P extends TProperties>(nouns: JobNouns, body: P) {
  const { name, noun } = nouns;
  return {
    submit: submitSchema(nouns, body),
    get: operation({
      operationId: `get${name}`,
      summary: `A ${noun}`,
      description: "With `wait` the answer comes when it has ended, or when the time is up.",
      tag: "jobs",
      params: JobParams,
      querystring: Closed({
        wait: Type.Optional(
          Type.String({ pattern: WAIT_PATTERN, description: "Longest wait, whole seconds, at most 20." }),
        ),
      }),
      response: { 200: json("The job.", Job) },
      errors: ["JOB_UNKNOWN", "WAITS_TOO_MANY", "KV_UNAVAILABLE", "NOT_READY"],
    }),
    list: operation({
      operationId: `list${name}s`,
      summary: `The last ${noun}s`,
      description: "The newest 100, newest first. Of one source 200 jobs are kept; the oldest that ended make room.",
      tag: "jobs",
      params: NO_PARAMS,
      querystring: Closed({
        source: Type.Optional(Type.String({ pattern: NAME_PATTERN, description: "Name of the source." })),
      }),
      response: { 200: json("The jobs.", Closed({ jobs: Type.Array(Job) })) },
      errors: ["KV_UNAVAILABLE", "NOT_READY"],
    }),
    cancel: {
      body: Closed({ reason: Reason }),
      ...operation({
        operationId: `cancel${name}`,
        summary: `Cancel a ${noun}`,
        description:
          "Whoever runs it ends it soon; what it did stays. One that has ended stays as it is. Needs the role operator.",
        tag: "jobs",
        params: JobParams,
        querystring: NO_QUERY,
        response: { 202: json("The job.", Job) },
        errors: [...BODY_ERRORS, "JOB_UNKNOWN", "KV_UNAVAILABLE", "NOT_READY"],
      }),
    },
  };
}

function submitSchema<P extends TProperties>({ name, noun, about, errors }: JobNouns, body: P) {
  return {
    body: Closed(body),
    ...operation({
      operationId: `submit${name}`,
      summary: `Submit a ${noun}`,
      description: `${about} With \`Idempotency-Key\` a repeated submission is the first one's job: 200. Needs the role operator.`,
      tag: "jobs",
      params: NO_PARAMS,
      querystring: NO_QUERY,
      response: {
        200: json("The job that was submitted with this key before, or the dry run.", Type.Union([Job, Preview])),
        202: json("The job.", Job, LOCATION),
      },
      errors: [
        ...BODY_ERRORS,
        "SOURCE_UNKNOWN",
        "PARTITION_UNKNOWN",
        "JOB_OVERLAPS",
        "JOB_KEY_REUSED",
        "JOB_RANGE",
        "JOB_KIND",
        "JOBS_TOO_MANY",
        "BROKER_UNAVAILABLE",
        "KV_UNAVAILABLE",
        "NOT_READY",
        ...errors,
      ],
    }),
  };
}
