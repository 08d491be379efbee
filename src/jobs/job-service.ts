import { randomUUID } from "node:crypto";
import type { AuditLog } from "../audit/audit-log.ts";
import { etaSeconds, hasEnded, type Job, type JobKind, percentOf } from "../core/job/job.ts";
import type { JobEntry } from "../core/job/job-index.ts";
import { StreamsError } from "../errors.ts";
import type { BackoffLimits } from "../fleet/backoff.ts";
import type { Clock } from "../ports/clock.ts";
import type { JobCommands, JobExecutor, JobOrder, JobPreview, JobStanding, JobView, JobWait } from "../ports/jobs.ts";
import { type ControlStore, KvFault } from "../ports/kv-plane.ts";
import type { Logger } from "../ports/logger.ts";
import { hashOf, newJob } from "./new-job.ts";
import { JobRun, takeJob } from "./job-runner.ts";
import { JobStandings } from "./job-standing.ts";
import { JobStore } from "./job-store.ts";
import { previewJob } from "./preview.ts";

/** How often a process looks for jobs that nobody runs. */
const LOOK_EVERY_MS = 2_000;
/** Jobs that one process runs at once; the others wait their turn. */
export const RUNNING_MAX = 4;
/** How often a wait looks at a job that another process runs. */
const WAIT_EVERY_MS = 200;
/** Jobs of one answer. */
const LISTED_MAX = 100;
/** An entry of the index whose job was not stored by now belongs to a process that died in between. */
const ORPHANED_MS = 60_000;

/** What the jobs of a process stand on. */
export interface JobParts {
  readonly control: ControlStore;
  readonly executors: ReadonlyMap<JobKind, JobExecutor>;
  readonly audit: AuditLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly backoff: BackoffLimits;
  /** Whether sources are loaded: before, none of them can be asked. */
  readonly ready: () => boolean;
  /** Whether no other process can live beside this one: what it finds held is nobody's. */
  readonly alone: boolean;
}

/** Submits jobs, runs them, and those of processes that are gone. */
export class JobService implements JobCommands {
  readonly #parts: JobParts;
  readonly #store: JobStore;
  /** Of this process: no two share it. */
  readonly #holder = randomUUID();
  readonly #runs = new Map<string, JobRun>();
  readonly #standings = new JobStandings(this.#runs);
  readonly #ends = new Set<Promise<void>>();
  #ended = false;
  #looking: Promise<void> = Promise.resolve();
  #cancelLook: () => void = () => undefined;

  constructor(parts: JobParts) {
    this.#parts = parts;
    this.#store = new JobStore(parts.control);
  }

  /** Begins to look for jobs that nobody runs. */
  start(): void {
    this.#lookLater(0);
  }

  /** The process drains: stores where its jobs stand and lets go of them. Never rejects. */
  async drain(): Promise<void> {
    this.#ended = true;
    this.#cancelLook();
    for (const run of this.#runs.values()) run.stop();
    await this.#looking;
    await Promise.allSettled(this.#ends);
  }

  async submit(kind: JobKind, source: string, request: unknown, order: JobOrder) {
    const { clock, audit } = this.#parts;
    const plan = await this.#executor(kind).plan(source, request);
    const id = randomUUID();
    const entry: JobEntry = {
      id,
      kind,
      createdAtMs: clock.now(),
      ended: false,
      ...(order.key === undefined ? {} : { key: { name: order.key, hash: hashOf(kind, request) } }),
      ranges: plan.applies ? plan.partitions.filter(({ from, to }) => from < to) : [],
    };
    const known = await this.#knownBy(source, entry);
    if (known !== undefined) return { job: this.#view(known), known: true };
    const { actor, reason } = order;
    const call = { actor, reason, action: `submit-${kind}`, source, partition: null, detail: `job ${id}` } as const;
    const job = await audit.around(call, async (auditId) => {
      await this.#admit(source, entry);
      const stored = await this.#store.create(newJob(entry, plan, { source, request, order, audit: auditId }));
      await audit.finish(auditId, []);
      return stored;
    });
    this.#lookLater(0);
    return { job: this.#view(job), known: false };
  }

  async preview(kind: JobKind, source: string, request: unknown): Promise<JobPreview> {
    const executor = this.#executor(kind);
    const plan = await executor.plan(source, request);
    return previewJob(
      executor,
      newJob({ id: "preview", kind, createdAtMs: 0, ended: false, ranges: [] }, plan, {
        source,
        request,
        order: { actor: "", reason: "" },
        audit: "",
      }),
      plan,
      this.#parts.clock,
    );
  }

  async get(kind: JobKind, id: string, { waitMs, signal }: JobWait): Promise<JobView> {
    const { clock } = this.#parts;
    const until = clock.monotonic() + waitMs;
    for (;;) {
      const job = await this.#read(kind, id);
      const left = until - clock.monotonic();
      if (hasEnded(job) || left <= 0 || signal.aborted || this.#ended) return this.#view(job);
      await new Promise<void>((resolve) => {
        clock.after(Math.min(left, WAIT_EVERY_MS), resolve);
      });
    }
  }

  async list(kind: JobKind, source: string | undefined): Promise<readonly JobView[]> {
    const sources = source === undefined ? await this.#store.sources() : [source];
    const entries = (await Promise.all(sources.map((name) => this.#store.index(name)))).flat();
    const newest = entries
      .filter((entry) => entry.kind === kind)
      .toSorted((a, b) => b.createdAtMs - a.createdAtMs)
      .slice(0, LISTED_MAX);
    const jobs = await Promise.all(newest.map(({ id }) => this.#store.find(id)));
    return jobs.filter((job) => job !== undefined).map((job) => this.#view(job));
  }

  async cancel(kind: JobKind, id: string, actor: string, reason: string): Promise<JobView> {
    const { audit, clock } = this.#parts;
    const { source } = await this.#read(kind, id);
    const call = { actor, reason, action: "cancel-job", source, partition: null, detail: `job ${id}` } as const;
    const job = await audit.around(call, async (auditId) => {
      const atMs = clock.now();
      const cancelled = await this.#store.update(id, (present) =>
        hasEnded(present) || present.cancel !== undefined ? present : { ...present, cancel: { actor, atMs } },
      );
      await audit.finish(auditId, []);
      return cancelled;
    });
    this.#runs.get(id)?.look();
    this.#lookLater(0);
    return this.#view(job);
  }

  standing(): JobStanding {
    return this.#standings.standing(this.#parts.clock.now());
  }

  #executor(kind: JobKind): JobExecutor {
    const executor = this.#parts.executors.get(kind);
    if (executor === undefined) throw new StreamsError("JOB_KIND", `this build has no ${kind}`);
    return executor;
  }

  async #read(kind: JobKind, id: string): Promise<Job> {
    const job = await this.#store.read(id);
    if (job.kind !== kind) throw new StreamsError("JOB_UNKNOWN", `there is no ${kind} ${id}`);
    return job;
  }

  /** A submission that is repeated with its key is no further call: it gets the first one's job. */
  async #knownBy(source: string, { key }: JobEntry): Promise<Job | undefined> {
    if (key === undefined) return undefined;
    const known = (await this.#store.index(source)).findLast((other) => other.key?.name === key.name);
    if (known === undefined || known.key?.hash !== key.hash) return undefined;
    return this.#store.read(known.id);
  }

  async #admit(source: string, entry: JobEntry): Promise<void> {
    const admission = await this.#store.admit(source, entry);
    switch (admission.admission) {
      case "new":
        return;
      case "known":
      case "key-reused":
        throw new StreamsError("JOB_KEY_REUSED", `it was used for job ${admission.id}`, { job: admission.id });
      case "overlap": {
        const { id, kind, partition } = admission;
        throw new StreamsError("JOB_OVERLAPS", `${kind} ${id} applies to partition ${partition}`, {
          job: id,
          partition,
        });
      }
      default:
        throw new StreamsError("JOBS_TOO_MANY", `source ${source} has too many jobs that have not ended`, {
          retryAfterSeconds: 60,
        });
    }
  }

  #view(job: Job): JobView {
    const run = this.#runs.get(job.id);
    const shown = run === undefined || hasEnded(job) ? job : { ...run.job, cancel: job.cancel };
    return {
      ...shown,
      percent: percentOf(shown.partitions),
      etaSeconds: hasEnded(shown) ? undefined : etaSeconds(shown, this.#parts.clock.now()),
      waiting: hasEnded(shown) ? undefined : run?.waiting,
      cancelling: shown.cancel !== undefined && !hasEnded(shown),
    };
  }

  #lookLater(delayMs: number): void {
    this.#cancelLook();
    if (this.#ended) return;
    this.#cancelLook = this.#parts.clock.after(delayMs, () => {
      this.#looking = this.#look()
        .catch((error: unknown) => {
          // The store may be away: the next look will tell.
          if (!(error instanceof KvFault)) this.#parts.logger.error({ error }, "jobs could not be looked for");
        })
        .then(() => this.#lookLater(LOOK_EVERY_MS));
    });
  }

  /** Takes jobs that nobody runs, the oldest first, as many as this process may run. @throws KvFault */
  async #look(): Promise<void> {
    if (!this.#parts.ready()) return;
    const unfinished: Job[] = [];
    for (const source of await this.#store.sources()) {
      const active = (await this.#store.index(source)).filter(({ ended }) => !ended);
      for (const { id, createdAtMs } of active) {
        if (this.#ended) return;
        if (this.#runs.has(id)) continue;
        const job = await this.#store.find(id);
        if (job === undefined) {
          if (this.#parts.clock.now() - createdAtMs > ORPHANED_MS) await this.#store.ended(source, new Set([id]));
        } else if (hasEnded(job)) await this.#store.ended(source, new Set([id]));
        else {
          unfinished.push(job);
          if (this.#runs.size < RUNNING_MAX) await this.#take(job);
        }
      }
    }
    this.#standings.saw(unfinished);
  }

  async #take({ id, kind }: Job): Promise<void> {
    const { executors, clock, logger, backoff, alone } = this.#parts;
    const executor = executors.get(kind);
    // A job of a later build, perhaps: another instance may know it.
    if (executor === undefined) return;
    const parts = { store: this.#store, holder: this.#holder, executor, clock, logger, backoff };
    const taken = await takeJob(parts, id, alone);
    if (taken === undefined || this.#ended) return;
    const run = new JobRun(parts, taken);
    this.#runs.set(id, run);
    const end = run.run().finally(() => {
      this.#runs.delete(id);
      this.#standings.over(run);
      this.#ends.delete(end);
      this.#lookLater(0);
    });
    this.#ends.add(end);
  }
}
