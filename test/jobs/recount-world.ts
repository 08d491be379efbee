import { kinds } from "../../consumers/index.ts";
import { AuditLog } from "../../src/audit/audit-log.ts";
import type { Job } from "../../src/core/job/job.ts";
import { DEFAULT_COUNTING_OF_SOURCE, type SourceDefinition } from "../../src/core/source.ts";
import { JobService } from "../../src/jobs/job-service.ts";
import { JobStore } from "../../src/jobs/job-store.ts";
import type { RecountRequest } from "../../src/jobs/recount/recount-plan.ts";
import { RecountExecutor } from "../../src/jobs/recount/recount-executor.ts";
import { ReplayExecutor } from "../../src/jobs/replay/replay-executor.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { JobExecutor, JobView } from "../../src/ports/jobs.ts";
import { CounterReader } from "../../src/queries/counter-queries.ts";
import { CountingLedgers } from "../../src/ledgers/counting-ledgers.ts";
import { FleetWorld, stubCompiler } from "../support/fleet-world.ts";
import { silent } from "../support/silent.ts";

export const HOUR = 3_600_000;
const BASE = 1_700_000_000_000 - (1_700_000_000_000 % HOUR);

/** The clock of a process: once that is killed nothing falls due any more. */
class MortalClock implements Clock {
  readonly #clock: Clock;
  dead = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  after(delayMs: number, task: () => void): () => void {
    return this.#clock.after(delayMs, () => {
      if (!this.dead) task();
    });
  }
}

/** A counting source over fakes, its jobs, and what readers see. */
export class RecountWorld extends FleetWorld {
  readonly ledgers = new CountingLedgers(this.plane.control);
  readonly store = new JobStore(this.plane.control);
  #clock = new MortalClock(this.clock);
  jobs: JobService = this.#newJobs();

  /** SIGKILL of what runs the jobs: what was under way still lands, and another process comes. */
  killJobs(): void {
    this.#clock.dead = true;
    this.#clock = new MortalClock(this.clock);
    this.jobs = this.#newJobs();
  }

  /** A process of its own: what it finds held is nobody's. */
  #newJobs(): JobService {
    const fleet = { service: () => this.service };
    const descriptor = () => Promise.reject(new Error("no descriptors here"));
    const verdicts = { control: this.plane.control, compiler: stubCompiler, kinds, descriptor };
    const clock = this.#clock;
    const recounts = new RecountExecutor({ fleet, clock, verdicts });
    const lag = { ofSource: () => ({ measuredAt: 0, partitions: [], unknown: [] }) };
    const replays = new ReplayExecutor({ fleet, store: this.store, verdicts, lag, recounts, clock });
    const executors: [JobExecutor["kind"], JobExecutor][] = [
      ["recount", recounts],
      ["replay", replays],
    ];
    const jobs = new JobService({
      control: this.plane.control,
      executors: new Map(executors),
      audit: new AuditLog(this.plane.control, clock, silent),
      clock,
      logger: silent,
      backoff: this.backoff,
      ready: () => true,
      alone: true,
    });
    jobs.start();
    return jobs;
  }

  /** Starts, or starts anew, with slots of this width. */
  async count(slotWidthMs: number, change: Partial<SourceDefinition> = {}): Promise<void> {
    await this.start({ kind: "traffic", counting: { ...DEFAULT_COUNTING_OF_SOURCE, slotWidthMs }, ...change });
    await this.flow();
  }

  /** Lets everything be read, applied and committed. */
  async flow(): Promise<void> {
    this.source.poll();
    await this.clock.advance(5_000);
  }

  /** Appends `count` events, one a minute, in hours from the same one on. */
  events(partition: number, count: number, article = "a"): void {
    for (let index = 0; index < count; index += 1) {
      const value = `${article}|view|${BASE + index * 60_000}||`;
      this.log.append(partition, article, value, this.clock.now() + HOUR * 100);
    }
  }

  async submit(request: RecountRequest, kind: "recount" | "replay" = "recount"): Promise<JobView> {
    const { job } = await this.jobs.submit(kind, "articles", request, { actor: "ann", reason: "r" });
    return job;
  }

  /** Submits and lets it end. */
  async recount(request: RecountRequest, kind: "recount" | "replay" = "recount"): Promise<Job> {
    return this.ended((await this.submit(request, kind)).id);
  }

  async ended(id: string): Promise<Job> {
    for (let turn = 0; turn < 60; turn += 1) {
      await this.clock.advance(1_000);
      const job = await this.store.read(id);
      if (job.endedAtMs !== undefined) return job;
    }
    throw new Error("the job does not end");
  }

  /** Count of an article over all spans, as readers see it, and how many spans there are. */
  async total(article = "a"): Promise<readonly [bigint, number]> {
    const services = () => [this.service];
    const reader = new CounterReader({ phase: "serving", services }, this.plane, this.clock);
    const query = { namespace: undefined, metric: undefined, fromMs: undefined, toMs: undefined, breakdown: false };
    const { items } = await reader.traffic({ ...query, article, by: "slot" });
    return [items.reduce((sum, { count }) => sum + count, 0n), items.length];
  }

  async rows(partition = 0) {
    const { rows, listed } = await this.ledgers.read({ source: "articles", partition, log: 0 });
    return rows.map(({ number, from, until, revision }) => ({
      number,
      from,
      until,
      revision,
      listed: listed.includes(number),
    }));
  }
}
