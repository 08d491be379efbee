import {
  EMPTY_RECEIPT,
  endOf,
  hasEnded,
  type Job,
  type JobError,
  type JobPartition,
  type JobStep,
  mayTake,
  stepped,
  taken,
} from "../core/job/job.ts";
import { Pace } from "../core/job/pace.ts";
import type { BackoffLimits } from "../fleet/backoff.ts";
import { backoffMs } from "../fleet/backoff.ts";
import { consequenceOf } from "../fleet/cause.ts";
import { StreamsError } from "../errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { JobExecutor, JobWork } from "../ports/jobs.ts";
import type { Logger } from "../ports/logger.ts";
import type { JobStore } from "./job-store.ts";

/** How long a holder may be silent before another takes its job over. */
export const LEASE_MS = 15_000;
/** How often progress is stored, and with it whether somebody cancelled. */
const STORE_EVERY_MS = 1_000;
/** How long a job waits that yields to live reading, before it looks again. */
const YIELD_MS = 1_000;

/** What a runner of one job stands on. */
export interface JobRunParts {
  readonly store: JobStore;
  readonly executor: JobExecutor;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly backoff: BackoffLimits;
  /** Of this process. */
  readonly holder: string;
}

/** Why a run ended without the job's end: another has it, or the process drains. */
class Given extends Error {}

/** Somebody cancelled the job while it waited for store or broker. */
class Cancelled extends Error {}

/**
 * Runs one job to its end, from wherever it stands. Progress is stored after the work that it speaks of is durable, so that a
 * crash repeats some of it, which changes nothing. A store or broker fault is waited out; only what the job itself cannot do
 * fails it.
 *
 * 1. A run that was frozen stores its progress after another has taken the job: its name stands there no more, and it ends.
 * 2. What it applied meanwhile is the same that the other applies.
 */
export class JobRun {
  readonly #parts: JobRunParts;
  readonly #pace: Pace;
  #job: Job;
  #storedAt: number;
  #waiting: JobError | undefined;
  #recordsRead = 0;
  #stopping = false;
  #wake: () => void = () => undefined;

  /** `job` has been taken by this process. */
  constructor(parts: JobRunParts, job: Job) {
    this.#parts = parts;
    this.#job = job;
    this.#pace = new Pace(job.rates);
    this.#storedAt = parts.clock.monotonic();
  }

  get job(): Job {
    return this.#job;
  }

  /** Records that this run read, what it repeats after a crash of another included. */
  get recordsRead(): number {
    return this.#recordsRead;
  }

  /** Why it waits now. */
  get waiting(): JobError | undefined {
    return this.#waiting;
  }

  /** The process drains, or somebody cancelled: ends soon, and leaves the job to whoever comes next. */
  stop(): void {
    this.#stopping = true;
    this.#wake();
  }

  /** Somebody may have cancelled it: looks at once. */
  look(): void {
    this.#storedAt = Number.NEGATIVE_INFINITY;
    this.#wake();
  }

  /** Resolves when the job has ended, or is another's. Never rejects. */
  async run(): Promise<void> {
    const { logger } = this.#parts;
    const { id, kind, source } = this.#job;
    logger.info({ job: id, kind, source }, "job is run");
    try {
      await this.#toEnd();
    } catch (error) {
      if (!(error instanceof Given)) logger.error({ job: id, error }, "job could not be run");
      else if (this.#stopping) await this.#release();
      return;
    }
    logger.info({ job: id, kind, source, state: this.#job.state }, "job has ended");
  }

  async #toEnd(): Promise<void> {
    let work: JobWork | undefined;
    try {
      if (this.#job.cancel !== undefined) return await this.#end("cancelled");
      work = await this.#patiently(() => this.#parts.executor.open(this.#job));
      for (;;) {
        // Before the work, too: whoever slept beyond the lease does nothing more with a job that is another's.
        await this.#storeIfDue();
        if (this.#job.cancel !== undefined) return await this.#end("cancelled");
        const entry = this.#pending();
        if (entry === undefined) break;
        await this.#advance(work, entry);
      }
      const opened = work;
      const result = await this.#patiently(async () => opened.finish?.(this.#job));
      await this.#end(endOf(this.#job.partitions), result);
    } catch (error) {
      if (error instanceof Given) throw error;
      if (error instanceof Cancelled) return await this.#end("cancelled");
      await this.#end("failed", undefined, errorOf(error));
    } finally {
      await work?.close();
      this.#waiting = undefined;
    }
  }

  #pending(): JobPartition | undefined {
    return this.#job.partitions.find(({ state }) => state === "pending");
  }

  async #advance(work: JobWork, entry: JobPartition): Promise<void> {
    const cause = work.yields?.();
    if (cause !== undefined) {
      this.#waiting = { code: "YIELDING", text: cause };
      await this.#pause(YIELD_MS);
      return this.#storeIfDue();
    }
    const step = await this.#patiently(() => this.#stepOf(work, entry));
    const partitions = this.#job.partitions.map((other) => (other === entry ? stepped(other, step) : other));
    this.#job = { ...this.#job, partitions };
    const { read, bytes } = step.receipt;
    this.#recordsRead += read;
    const waitMs = this.#pace.spend({ records: read, bytes }, this.#parts.clock.monotonic());
    await this.#storeIfDue();
    await this.#spread(waitMs);
  }

  /** Waits for what the pace asks, in pieces: meanwhile the job stays ours, and somebody may cancel it. */
  async #spread(waitMs: number): Promise<void> {
    const { clock } = this.#parts;
    const until = clock.monotonic() + waitMs;
    for (let left = waitMs; left > 0 && this.#job.cancel === undefined; left = until - clock.monotonic()) {
      await this.#pause(Math.min(left, STORE_EVERY_MS));
      await this.#storeIfDue();
    }
  }

  /** What the job itself cannot do fails its partition, and the others go on. */
  async #stepOf(work: JobWork, entry: JobPartition): Promise<JobStep> {
    try {
      return await work.step(entry);
    } catch (error) {
      if (!(error instanceof StreamsError)) throw error;
      return { next: entry.next, receipt: EMPTY_RECEIPT, error: errorOf(error) };
    }
  }

  /** Tries for as long as store or broker are away. @throws Given, Cancelled; what the job cannot do */
  async #patiently<T>(task: () => Promise<T>, cancellable = true): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      if (this.#stopping && cancellable) throw new Given();
      try {
        const result = await task();
        this.#waiting = undefined;
        return result;
      } catch (error) {
        const consequence = consequenceOf(error);
        if (error instanceof StreamsError || error instanceof Given || consequence.consequence === "stop") throw error;
        this.#waiting = consequence.cause;
        if (this.#stopping) throw new Given();
        await this.#pause(backoffMs(attempt, this.#parts.backoff));
        if (cancellable && (await this.#isCancelled())) throw new Cancelled();
      }
    }
  }

  /**
   * Keeps the job while it waits, and hears a cancel. Where the store does not answer, nobody has cancelled anything in it, nor
   * taken the job: one try is enough. @throws Given when another has the job
   */
  async #isCancelled(): Promise<boolean> {
    if (!this.#isDue()) return this.#job.cancel !== undefined;
    try {
      // Entries stay the same objects: one of them is being worked on.
      const { cancel, holder } = await this.#write((job) => job);
      this.#job = { ...this.#job, cancel, holder };
      this.#storedAt = this.#parts.clock.monotonic();
      return cancel !== undefined;
    } catch (error) {
      if (error instanceof Given || error instanceof StreamsError) throw error;
      return false;
    }
  }

  #isDue(): boolean {
    return this.#parts.clock.monotonic() - this.#storedAt >= STORE_EVERY_MS;
  }

  async #storeIfDue(): Promise<void> {
    if (this.#stopping) throw new Given();
    if (this.#isDue()) await this.#store();
  }

  /** @throws Given when another has the job, or the process drains while the store is away */
  async #store(change: (job: Job) => Job = (job) => job): Promise<void> {
    this.#job = await this.#patiently(() => this.#write(change), false);
    this.#storedAt = this.#parts.clock.monotonic();
  }

  /** One try. @throws Given when another has the job; KvFault */
  #write(change: (job: Job) => Job): Promise<Job> {
    const { store, holder, clock } = this.#parts;
    return store.update(this.#job.id, (present) => {
      if (hasEnded(present) || present.holder?.name !== holder) throw new Given();
      const untilMs = clock.now() + LEASE_MS;
      return change({ ...this.#job, cancel: present.cancel, holder: { name: holder, untilMs } });
    });
  }

  /** Stores where it stands and lets go of it, so that another need not wait for the lease's end; one try. */
  async #release(): Promise<void> {
    try {
      await this.#write((job) => ({ ...job, holder: undefined }));
    } catch (error) {
      // Another's already, or the store is away: its lease ends by itself.
      this.#parts.logger.info({ job: this.#job.id, error }, "job is left to its lease");
    }
  }

  async #end(state: "done" | "failed" | "cancelled", result?: unknown, error?: JobError): Promise<void> {
    const endedAtMs = this.#parts.clock.now();
    await this.#store((job) => ({ ...job, state, result, error, endedAtMs, holder: undefined }));
    await this.#patiently(() => this.#parts.store.ended(this.#job.source, new Set([this.#job.id])), false);
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#parts.clock.after(delayMs, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
      if (this.#stopping) this.#wake();
    });
  }
}

function errorOf(error: unknown): JobError {
  if (error instanceof StreamsError) return { code: error.code, text: error.message };
  const consequence = consequenceOf(error);
  if (consequence.consequence === "hold") return consequence.cause;
  return { code: "INTERNAL", text: consequence.detail };
}

/** Takes a job for this process, where it may be taken; undefined where another has it. @throws KvFault */
export async function takeJob(
  { store, holder, clock }: Pick<JobRunParts, "store" | "holder" | "clock">,
  id: string,
  alone: boolean,
): Promise<Job | undefined> {
  const nowMs = clock.now();
  const job = await store.update(id, (present) =>
    mayTake(present, holder, nowMs, alone)
      ? taken(present, { name: holder, untilMs: nowMs + LEASE_MS }, nowMs)
      : present,
  );
  return !hasEnded(job) && job.holder?.name === holder ? job : undefined;
}
