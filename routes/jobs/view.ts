import type { Static } from "@sinclair/typebox";
import { addReceipts, EMPTY_RECEIPT, type JobPartition as Entry } from "../../src/core/job/job.ts";
import type { JobPreview, JobView } from "../../src/ports/jobs.ts";
import { defined } from "../schema/closed.ts";
import { offsetText, timeText } from "../schema/values.ts";
import type { Job, Preview } from "./schema.ts";

/** Writes a job as the API spells it. */
export function jobBody(job: JobView): Static<typeof Job> {
  const { id, kind, source, state, cancelling, waiting, revision, request, result, actor, reason, audit } = job;
  const { createdAtMs, startedAtMs, endedAtMs, percent, etaSeconds, error, partitions } = job;
  return defined({
    id,
    kind,
    source,
    state,
    cancelling,
    waiting: waiting && { ...waiting },
    revision,
    request: shownRequest(request) ?? null,
    result,
    actor,
    reason,
    audit,
    createdAt: timeText(createdAtMs),
    startedAt: startedAtMs === undefined ? undefined : timeText(startedAtMs),
    endedAt: endedAtMs === undefined ? undefined : timeText(endedAtMs),
    percent,
    etaSeconds,
    error: error && { ...error },
    receipt: partitions.map(({ receipt }) => receipt).reduce(addReceipts, EMPTY_RECEIPT),
    partitions: partitions.map(partitionBody),
  });
}

/** A trial's request without the text of its files: their names. */
function shownRequest(request: unknown): unknown {
  if (typeof request !== "object" || request === null || !("candidate" in request)) return request;
  const { candidate } = request;
  if (typeof candidate !== "object" || candidate === null) return request;
  if ("files" in candidate) return { ...request, candidate: { files: Object.keys(Object(candidate.files)) } };
  return "set" in candidate ? { ...request, candidate: { set: "" } } : request;
}

function partitionBody({ partition, from, to, next, state, receipt, lost, error }: Entry) {
  return defined({
    partition,
    from: offsetText(from) ?? "0",
    to: offsetText(to) ?? "0",
    next: offsetText(next) ?? "0",
    state,
    receipt: { ...receipt },
    lost: lost && { from: offsetText(lost.from) ?? "0", to: offsetText(lost.to) ?? "0" },
    error: error && { ...error },
  });
}

/** Writes what a job would do. */
export function previewBody(source: string, preview: JobPreview): Static<typeof Preview> {
  const { plan, offsets, sampled, durationSeconds } = preview;
  return defined({
    dryRun: true as const,
    source,
    revision: plan.revision,
    ranges: plan.partitions.map(({ partition, from, to }) => ({
      partition,
      from: offsetText(from) ?? "0",
      to: offsetText(to) ?? "0",
    })),
    offsets,
    sampled: { ...sampled },
    durationSeconds,
  });
}
