import { createHash } from "node:crypto";
import { EMPTY_RECEIPT, type Job, type JobKind } from "../core/job/job.ts";
import type { JobEntry } from "../core/job/job-index.ts";
import type { JobOrder, JobPlan } from "../ports/jobs.ts";

/** A job as it is submitted. */
export function newJob(
  { id, kind, createdAtMs }: JobEntry,
  plan: JobPlan,
  asked: {
    readonly source: string;
    readonly request: unknown;
    readonly order: JobOrder;
    readonly audit: string;
  },
): Job {
  const { source, request, order, audit } = asked;
  return {
    id,
    kind,
    source,
    revision: plan.revision,
    request,
    spec: plan.spec,
    rates: plan.rates,
    actor: order.actor,
    reason: order.reason,
    audit,
    createdAtMs,
    state: "queued",
    holder: undefined,
    cancel: undefined,
    startedAtMs: undefined,
    endedAtMs: undefined,
    error: undefined,
    result: undefined,
    partitions: plan.partitions.map(({ partition, from, to }) => ({
      partition,
      from,
      to,
      next: from,
      state: from < to ? "pending" : "done",
      receipt: EMPTY_RECEIPT,
    })),
  };
}

/** Of what is asked for: the same request with the same Idempotency-Key is the same job. */
export function hashOf(kind: JobKind, request: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify([kind, request]))
    .digest("hex");
}
