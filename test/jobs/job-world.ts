import { AuditLog } from "../../src/audit/audit-log.ts";
import { EMPTY_RECEIPT, type Job, type JobPartition } from "../../src/core/job/job.ts";
import { JobService } from "../../src/jobs/job-service.ts";
import { JobStore } from "../../src/jobs/job-store.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { JobExecutor, JobView } from "../../src/ports/jobs.ts";
import { type ControlStore, KvFault } from "../../src/ports/kv-plane.ts";
import { SourceFault } from "../../src/ports/record-source.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { MemoryPlane } from "../support/memory-plane.ts";
import { silent } from "../support/silent.ts";

/** Offsets that one step of {@link Instance} deals with. */
const STEP = 10;

/** One process: its clock stops when it is killed or frozen, its store and its broker may be away from it alone. */
class Instance {
  readonly jobs: JobService;
  /** Offsets that it applied, one entry a step. */
  readonly applied: number[] = [];
  readonly opened: string[] = [];
  finished = 0;
  dead = false;
  frozen: (() => void)[] | undefined;
  storeAway = false;
  brokerAway = false;
  yields: string | undefined;

  constructor(world: JobWorld) {
    this.jobs = new JobService({
      control: this.#control(world.plane.control),
      executors: new Map([["replay", this.#executor()]]),
      audit: new AuditLog(world.plane.control, world.clock, silent),
      clock: this.#clock(world.clock),
      logger: silent,
      backoff: { initialMs: 100, maxMs: 1_000 },
      ready: () => true,
      alone: false,
    });
    this.jobs.start();
  }

  /** What fell due meanwhile runs now, as after SIGCONT. */
  thaw(): void {
    const due = this.frozen ?? [];
    this.frozen = undefined;
    for (const task of due) task();
  }

  #clock(clock: Clock): Clock {
    const run = (task: () => void) => {
      if (this.dead) return;
      if (this.frozen === undefined) task();
      else this.frozen.push(task);
    };
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: (delayMs, task) => clock.after(delayMs, () => run(task)),
    };
  }

  #control(control: ControlStore): ControlStore {
    const there = <T>(call: () => Promise<T>) =>
      this.storeAway ? Promise.reject(new KvFault("KV_NO_QUORUM", "the store is away")) : call();
    return {
      read: (name) => there(() => control.read(name)),
      compareAndSet: (name, expected, value) => there(() => control.compareAndSet(name, expected, value)),
      list: (prefix, limit) => there(() => control.list(prefix, limit)),
    };
  }

  #executor(): JobExecutor {
    return {
      kind: "replay",
      plan: (_source, request) => {
        const { to, partition = 0, rate } = request as { to: number; partition?: number; rate?: number };
        const rates = rate === undefined ? {} : { recordsPerSecond: rate };
        return Promise.resolve({
          revision: 1,
          spec: {},
          partitions: [{ partition, from: 0, to }],
          rates,
          applies: true,
        });
      },
      open: (job) => {
        this.opened.push(job.id);
        return Promise.resolve({
          step: (entry) => this.#step(entry),
          yields: () => this.yields,
          finish: () => {
            this.finished += 1;
            return Promise.resolve({ finished: true });
          },
          close: () => Promise.resolve(),
        });
      },
    };
  }

  #step({ next, to }: JobPartition) {
    if (this.brokerAway) return Promise.reject(new SourceFault("broker-unreachable", "the broker is away"));
    this.applied.push(next);
    const read = Math.min(STEP, to - next);
    return Promise.resolve({ next: next + read, receipt: { ...EMPTY_RECEIPT, read, applied: read } });
  }
}

/** Processes beside each other over one store. */
export class JobWorld {
  readonly clock = new ManualClock();
  readonly plane = new MemoryPlane();
  readonly store = new JobStore(this.plane.control);

  instance(): Instance {
    return new Instance(this);
  }

  /** Ten records a second unless told otherwise: a step, and a second of waiting. */
  async submit({ jobs }: Instance, request: unknown = { to: 100, rate: 10 }, key?: string): Promise<JobView> {
    const order = { actor: "ann", reason: "r", ...(key === undefined ? {} : { key }) };
    return (await jobs.submit("replay", "articles", request, order)).job;
  }

  async ended(id: string): Promise<Job> {
    for (let turn = 0; turn < 200; turn += 1) {
      await this.clock.advance(1_000);
      const job = await this.store.read(id);
      if (job.endedAtMs !== undefined) return job;
    }
    throw new Error("the job does not end");
  }
}
