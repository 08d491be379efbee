import type { Job, JobKind, JobPartition, JobStep } from "../core/job/job.ts";
import type { Rates } from "../core/job/pace.ts";
import type { Offset } from "../core/offset.ts";

/** What one kind of job does. What they share (progress, restarts, adoption, cancelling, receipts) is the service's. */
export interface JobExecutor<Request = unknown> {
  readonly kind: JobKind;
  /**
   * Judges a request and fixes it: ranges, revision and what {@link open} needs, as JSON. Changes nothing that matters when
   * it is not followed by anything. @throws StreamsError for what cannot be done; KvFault, SourceFault
   */
  plan(source: string, request: Request): Promise<JobPlan>;
  /** Opens a job to run it, also one that another process has begun. @throws KvFault, SourceFault: tried again; StreamsError: fails it */
  open(job: Job): Promise<JobWork>;
}

/** A request that was judged. */
export interface JobPlan {
  /** The revision that the job pins. */
  readonly revision: number;
  readonly spec: unknown;
  readonly partitions: readonly { readonly partition: number; readonly from: Offset; readonly to: Offset }[];
  readonly rates: Rates;
  /** Whether it applies anything: then no other job may overlap it. */
  readonly applies: boolean;
}

/** A job that is being run. */
export interface JobWork {
  /**
   * Deals with the next records of a partition, from `entry.next` on, durably: what it returns is stored afterwards, and may be
   * asked for again after a crash. A few hundred milliseconds at most. @throws KvFault, SourceFault: tried again, for as long
   * as it takes; StreamsError: the partition fails
   */
  step(entry: JobPartition): Promise<JobStep>;
  /** Why it should wait for now, for people; undefined: go on. */
  yields?(): string | undefined;
  /** When no partition is pending. Returns the job's result. May be repeated. @throws as {@link step} */
  finish?(job: Job): Promise<unknown>;
  close(): Promise<void>;
}

/** Who asks for something, and why. */
export interface JobOrder {
  readonly actor: string;
  readonly reason: string;
  /** Idempotency-Key of the caller. */
  readonly key?: string;
}

/** A job as operators read it. */
export interface JobView extends Job {
  readonly percent: number;
  readonly etaSeconds: number | undefined;
  /** Why it waits, where this process runs it: a fault of store or broker, or that it yields to live reading. */
  readonly waiting: { readonly code: string; readonly text: string } | undefined;
  readonly cancelling: boolean;
}

/** What a process says of jobs without asking the store. */
export interface JobStanding {
  /** Jobs that have not ended, as they are run here or were last seen, a few seconds ago. */
  readonly unfinished: readonly {
    readonly source: string;
    readonly kind: JobKind;
    /** Since its submission. */
    readonly ageSeconds: number;
    /** `nowhere`: it waits for its turn, or whoever ran it is gone. */
    readonly runs: "here" | "elsewhere" | "nowhere";
    /** As {@link JobView.waiting}. */
    readonly waiting: JobView["waiting"];
  }[];
  /** Records that this process has read for jobs, by kind; kinds without any may be missing. */
  readonly recordsRead: ReadonlyMap<JobKind, number>;
}

/** How long an answer may wait for a job's end, and what ends the wait before. */
export interface JobWait {
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** What a dry run says. */
export interface JobPreview {
  readonly plan: JobPlan;
  /** Offsets in the ranges: an upper bound of records where the log has holes. */
  readonly offsets: number;
  /** Of the records that were looked at: how many, their bytes, and how many could not be applied. */
  readonly sampled: { readonly records: number; readonly bytes: number; readonly failed: number };
  /** What it would take at the speed of the sample or at the rates that were asked for; undefined where nothing was sampled. */
  readonly durationSeconds: number | undefined;
}

/** Jobs, whatever their kind. */
export interface JobCommands {
  /**
   * Submits a job. `known`: it was submitted before with the same key.
   * @throws StreamsError SOURCE_UNKNOWN, JOB_OVERLAPS, JOB_KEY_REUSED, JOBS_TOO_MANY and those of its kind; KvFault, SourceFault
   */
  submit(
    kind: JobKind,
    source: string,
    request: unknown,
    order: JobOrder,
  ): Promise<{ readonly job: JobView; readonly known: boolean }>;
  /** Judges a request, and looks at some of its records; nothing is submitted. @throws as {@link submit} */
  preview(kind: JobKind, source: string, request: unknown): Promise<JobPreview>;
  /** Waits until it has ended, or for the time given. @throws StreamsError JOB_UNKNOWN; KvFault */
  get(kind: JobKind, id: string, wait: JobWait): Promise<JobView>;
  /** Newest first, at most a page of them. @throws KvFault */
  list(kind: JobKind, source: string | undefined): Promise<readonly JobView[]>;
  /** Asks for its end; one that has ended stays as it is. @throws StreamsError JOB_UNKNOWN; KvFault */
  cancel(kind: JobKind, id: string, actor: string, reason: string): Promise<JobView>;
  /** At once, and without the store. */
  standing(): JobStanding;
}
