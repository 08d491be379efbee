import { hasEnded, type Job, type JobKind } from "../core/job/job.ts";
import type { JobStanding } from "../ports/jobs.ts";
import type { JobRun } from "./job-runner.ts";

/** What this process knows of jobs without asking the store: those it runs, as they stand, and the others as it last saw them. */
export class JobStandings {
  readonly #runs: ReadonlyMap<string, JobRun>;
  readonly #read = new Map<JobKind, number>();
  #seen: readonly Job[] = [];

  /** `runs`: of this process, by id of the job. */
  constructor(runs: ReadonlyMap<string, JobRun>) {
    this.#runs = runs;
  }

  /** All jobs that have not ended were looked at. */
  saw(unfinished: readonly Job[]): void {
    this.#seen = unfinished;
  }

  /** A run is over: what it read stays counted. */
  over({ job: { id, kind }, recordsRead }: JobRun): void {
    this.#seen = this.#seen.filter((job) => job.id !== id);
    this.#read.set(kind, (this.#read.get(kind) ?? 0) + recordsRead);
  }

  /** See `JobCommands.standing`. */
  standing(nowMs: number): JobStanding {
    const recordsRead = new Map(this.#read);
    const own = [...this.#runs.values()];
    for (const { job, recordsRead: read } of own) {
      recordsRead.set(job.kind, (recordsRead.get(job.kind) ?? 0) + read);
    }
    const here = own.filter(({ job }) => !hasEnded(job));
    const others = this.#seen.filter(({ id }) => !this.#runs.has(id));
    return {
      unfinished: [
        ...here.map(({ job, waiting }) => ({ ...common(job, nowMs), runs: "here" as const, waiting })),
        ...others.map((job) => {
          const held = job.holder !== undefined && job.holder.untilMs > nowMs;
          const runs = held ? ("elsewhere" as const) : ("nowhere" as const);
          return { ...common(job, nowMs), runs, waiting: undefined };
        }),
      ],
      recordsRead,
    };
  }
}

function common({ source, kind, createdAtMs }: Job, nowMs: number) {
  return { source, kind, ageSeconds: Math.max(nowMs - createdAtMs, 0) / 1_000 };
}
