import type { Offset } from "../offset.ts";
import type { Rates } from "./pace.ts";

/** What a job does: replays and redrives apply records again, recounts count them again, trials decode and apply nothing. */
export const JOB_KINDS = ["replay", "recount", "redrive", "trial"] as const;
/** One of {@link JOB_KINDS}. */
export type JobKind = (typeof JOB_KINDS)[number];

/** `queued` → `running` → `done`, `failed` or `cancelled`. A cancelled job ends as soon as whoever runs it sees it. */
export const JOB_STATES = ["queued", "running", "done", "failed", "cancelled"] as const;
/** One of {@link JOB_STATES}. */
export type JobState = (typeof JOB_STATES)[number];

/** `stopped`: the log lost records of its range before they were read; `failed`: they cannot be read or judged. */
export const JOB_PARTITION_STATES = ["pending", "done", "stopped", "failed"] as const;
/** One of {@link JOB_PARTITION_STATES}. */
export type JobPartitionState = (typeof JOB_PARTITION_STATES)[number];

/** What became of the records of a partition; the others add up to `read`. */
export interface Receipt {
  readonly read: number;
  readonly bytes: number;
  /** Written, or counted. */
  readonly applied: number;
  /** The store held the same already. */
  readonly alreadyApplied: number;
  /** The store holds something newer. */
  readonly superseded: number;
  readonly deadLettered: number;
  /** Neither: for a job that publishes no letters, and beyond a limit of attempts. */
  readonly failed: number;
}

/** Nothing read yet. */
export const EMPTY_RECEIPT: Receipt = {
  read: 0,
  bytes: 0,
  applied: 0,
  alreadyApplied: 0,
  superseded: 0,
  deadLettered: 0,
  failed: 0,
};

/** The sum of two receipts. */
export function addReceipts(a: Receipt, b: Receipt): Receipt {
  return {
    read: a.read + b.read,
    bytes: a.bytes + b.bytes,
    applied: a.applied + b.applied,
    alreadyApplied: a.alreadyApplied + b.alreadyApplied,
    superseded: a.superseded + b.superseded,
    deadLettered: a.deadLettered + b.deadLettered,
    failed: a.failed + b.failed,
  };
}

/** One partition of a job: `[from, to)` is fixed when the job is submitted. */
export interface JobPartition {
  readonly partition: number;
  readonly from: Offset;
  readonly to: Offset;
  /** Next to read: everything below was dealt with, durably. */
  readonly next: Offset;
  readonly state: JobPartitionState;
  readonly receipt: Receipt;
  /** Of a stopped one: what the log no longer held. */
  readonly lost?: OffsetSpan;
  /** Why it failed. */
  readonly error?: JobError;
}

/** Offsets `[from, to)`. */
export interface OffsetSpan {
  readonly from: Offset;
  readonly to: Offset;
}

/** A stable code and a text without payload. */
export interface JobError {
  readonly code: string;
  readonly text: string;
}

/** Who runs a job, and until when by its own clock. Another may take it over afterwards. */
export interface JobHolder {
  readonly name: string;
  readonly untilMs: number;
}

/** A job as it is stored. Replaced whole by compare-and-set. */
export interface Job {
  readonly id: string;
  readonly kind: JobKind;
  readonly source: string;
  /** The revision that judges its records, whatever is in force later. */
  readonly revision: number;
  /** What was asked for, as the caller spelt it. */
  readonly request: unknown;
  /** What its kind needs to run it. */
  readonly spec: unknown;
  readonly rates: Rates;
  readonly actor: string;
  readonly reason: string;
  readonly audit: string;
  readonly createdAtMs: number;
  readonly state: JobState;
  readonly holder: JobHolder | undefined;
  readonly cancel: { readonly actor: string; readonly atMs: number } | undefined;
  readonly startedAtMs: number | undefined;
  readonly endedAtMs: number | undefined;
  readonly error: JobError | undefined;
  /** What its kind found, of a trial or a comparison. */
  readonly result: unknown;
  readonly partitions: readonly JobPartition[];
}

/** Whether nothing happens with it any more. */
export function hasEnded({ state }: Pick<Job, "state">): boolean {
  return state === "done" || state === "failed" || state === "cancelled";
}

/** Whether `name` may take a job now: nobody holds it, it does itself, or the holder's time is over. `alone`: no other process lives. */
export function mayTake(job: Job, name: string, nowMs: number, alone: boolean): boolean {
  if (hasEnded(job)) return false;
  const { holder } = job;
  return holder === undefined || holder.name === name || alone || holder.untilMs <= nowMs;
}

/** Takes a job, or takes it again. */
export function taken(job: Job, holder: JobHolder, nowMs: number): Job {
  return { ...job, state: "running", holder, startedAtMs: job.startedAtMs ?? nowMs };
}

/** A step of one partition: what was read up to `next`, and how it ended if it did. */
export interface JobStep {
  readonly next: Offset;
  readonly receipt: Receipt;
  readonly lost?: OffsetSpan;
  readonly error?: JobError;
}

/** Adds a step to a partition. A step never goes back and never past the range. */
export function stepped(entry: JobPartition, step: JobStep): JobPartition {
  const next = Math.min(Math.max(step.next, entry.next), Math.max(entry.to, entry.next));
  const receipt = addReceipts(entry.receipt, step.receipt);
  if (step.error !== undefined) return { ...entry, next, receipt, state: "failed", error: step.error };
  if (step.lost !== undefined) return { ...entry, next, receipt, state: "stopped", lost: step.lost };
  return { ...entry, next, receipt, state: next >= entry.to ? "done" : "pending" };
}

/**
 * Offsets `[from, until)` that a job has applied, or may have: all of its ranges once it has started. Where it stands says less,
 * for what was applied after the last progress that was stored is in nothing that a crash leaves.
 */
export function appliedBy({
  partitions,
  startedAtMs,
}: Pick<Job, "partitions" | "startedAtMs">): readonly { partition: number; from: Offset; until: Offset }[] {
  if (startedAtMs === undefined) return [];
  return partitions
    .filter(({ from, to }) => from < to)
    .map(({ partition, from, to }) => ({ partition, from, until: to }));
}

/** How a job ends when nothing of it is pending: it failed where a partition did. */
export function endOf(partitions: readonly JobPartition[]): "done" | "failed" {
  return partitions.some(({ state }) => state === "failed") ? "failed" : "done";
}

/** Share of the offsets that were dealt with, in percent; undefined for a job of none. */
export function percentOf(partitions: readonly Pick<JobPartition, "from" | "to" | "next" | "state">[]): number {
  let total = 0;
  let done = 0;
  for (const { from, to, next, state } of partitions) {
    total += to - from;
    done += state === "pending" ? next - from : to - from;
  }
  return total === 0 ? 100 : (done / total) * 100;
}

/** Seconds until the end at the speed so far; undefined before anything was done. */
export function etaSeconds(job: Pick<Job, "partitions" | "startedAtMs">, nowMs: number): number | undefined {
  const percent = percentOf(job.partitions);
  if (job.startedAtMs === undefined || percent <= 0) return undefined;
  const elapsed = Math.max(nowMs - job.startedAtMs, 0) / 1_000;
  return percent >= 100 ? 0 : (elapsed * (100 - percent)) / percent;
}
