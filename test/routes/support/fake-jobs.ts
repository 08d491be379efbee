import { EMPTY_RECEIPT } from "../../../src/core/job/job.ts";
import type { JobCommands, JobPreview, JobStanding, JobView } from "../../../src/ports/jobs.ts";

/** `id` of the one job that there is. */
export const JOB = "3f0c8f3e-8b67-4c55-9d8e-0a6f5b1c2d3e";

/** One job, and what was asked. */
export class FakeJobs implements JobCommands {
  readonly asked: (readonly unknown[])[] = [];
  failure: Error | undefined;
  view: JobView = {
    id: JOB,
    kind: "redrive",
    source: "articles",
    revision: 4,
    request: {},
    spec: {},
    rates: {},
    actor: "script",
    reason: "mended",
    audit: "0-1",
    createdAtMs: 1_000,
    state: "running",
    holder: undefined,
    cancel: undefined,
    startedAtMs: 2_000,
    endedAtMs: undefined,
    error: undefined,
    result: undefined,
    percent: 50,
    etaSeconds: 1.5,
    waiting: { code: "YIELDING", text: "live reading lags" },
    cancelling: false,
    partitions: [
      {
        partition: 0,
        from: 0,
        to: 20,
        next: 20,
        state: "done",
        receipt: { ...EMPTY_RECEIPT, read: 3, bytes: 9, applied: 2, superseded: 1 },
      },
      {
        partition: 1,
        from: 5,
        to: 9,
        next: 7,
        state: "failed",
        receipt: { ...EMPTY_RECEIPT, read: 1, bytes: 2, failed: 1 },
        error: { code: "RECORD_UNREADABLE", text: "a damaged batch" },
        lost: { from: 5, to: 6 },
      },
    ],
  };
  stands: JobStanding = {
    unfinished: [
      { source: "articles", kind: "replay", ageSeconds: 90, runs: "here", waiting: { code: "YIELDING", text: "lag" } },
      { source: "articles", kind: "replay", ageSeconds: 30, runs: "here", waiting: undefined },
      { source: "articles", kind: "replay", ageSeconds: 20, runs: "nowhere", waiting: undefined },
      { source: "articles", kind: "redrive", ageSeconds: 70, runs: "elsewhere", waiting: undefined },
    ],
    recordsRead: new Map([["replay", 12]]),
  };
  previewed: JobPreview = {
    plan: { revision: 4, spec: {}, partitions: [{ partition: 0, from: 0, to: 20 }], rates: {}, applies: true },
    offsets: 20,
    sampled: { records: 3, bytes: 9, failed: 1 },
    durationSeconds: 2,
  };

  submit(...asked: readonly unknown[]) {
    return this.#answer(["submit", ...asked], { job: this.view, known: false });
  }

  preview(...asked: readonly unknown[]) {
    return this.#answer(["preview", ...asked], this.previewed);
  }

  get(kind: string, id: string) {
    return this.#answer(["get", kind, id], this.view);
  }

  list(...asked: readonly unknown[]) {
    return this.#answer(["list", ...asked], [this.view]);
  }

  cancel(...asked: readonly unknown[]) {
    return this.#answer(["cancel", ...asked], { ...this.view, cancelling: true });
  }

  #answer<T>(asked: readonly unknown[], answer: T): Promise<T> {
    this.asked.push(asked);
    return this.failure === undefined ? Promise.resolve(answer) : Promise.reject(this.failure);
  }

  standing(): JobStanding {
    return this.stands;
  }
}
