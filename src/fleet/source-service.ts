import type { Offset } from "../core/offset.ts";
import { commitDue, copyDue } from "../core/partition/commit.ts";
import { knownBounds } from "../core/partition/range.ts";
import type { Binding } from "../core/topic/binding.ts";
import {
  type Assignment,
  type BoundsAnswer,
  type FetchFault,
  type SourceEvents,
  SourceFault,
  type SourceState,
} from "../ports/record-source.ts";
import type { RecordBatch } from "../ports/record-batch.ts";
import type { InForce } from "../definitions/definition-store.ts";
import { backoffMs } from "./backoff.ts";
import { brokerCode, consequenceOf } from "./cause.ts";
import { Committer } from "./committer.ts";
import { FactsReader } from "./facts.ts";
import type { RunnerCounts } from "./partition-effects.ts";
import { PartitionRunner } from "./partition-runner.ts";
import type { UnrecordedStop } from "./partition-store.ts";
import type { RunnerContext } from "./runner-context.ts";
import { bindTopic } from "./topic-binding.ts";

const DRAIN_TURN_MS = 20;

/** Leaving the group gets at least this long, also when draining took all the time there was. */
const CLOSE_MS_MIN = 1_000;

/** What a source service is made of; everything that one assignment adds is left out. */
export interface SourceParts extends Omit<RunnerContext, "epoch" | "binding" | "facts" | "unrecorded" | "inForce"> {
  readonly inForce: InForce;
  /** Partitions that the topic had when the source was last bound; 0 before its first start. */
  readonly boundPartitions: number;
  readonly timings: { readonly commitEveryMs: number; readonly boundsEveryMs: number };
}

/** The last regular reading of the log's bounds. `measuredAt` is when it began: what came later is not in it. */
export interface BoundsReadings {
  readonly measuredAt: number;
  readonly answers: ReadonlyMap<number, BoundsAnswer>;
  /** Why there is no reading now, as a stable word: `topic-missing`, `broker-unreachable`, `not-measured` … */
  readonly failure: string | undefined;
}

/** How many records a drain left uncommitted, by partition. */
export interface DrainResult {
  readonly uncommitted: readonly number[];
}

/**
 * One source in this process: its consumer, the runners of its assigned partitions, its commit rounds and its regular
 * reading of the log's bounds.
 */
export class SourceService implements SourceEvents {
  readonly parts: SourceParts;
  readonly #committer: Committer;
  readonly #timers: (() => void)[] = [];
  #runners: ReadonlyMap<number, PartitionRunner> = new Map();
  #epoch = -1;
  #consumer: SourceState = { state: "idle", rebuilds: 0 };
  #consumerSince: number;
  #readings: BoundsReadings;
  #phase: "running" | "draining" = "running";
  readonly #unrecorded = new Map<number, UnrecordedStop>();
  /** What runners of earlier assignments have done. */
  #past: Readonly<RunnerCounts> = { delivered: 0, written: 0, deadLettered: 0, folded: 0 };

  constructor(parts: SourceParts) {
    this.parts = parts;
    this.#committer = new Committer(parts.source, parts.plane, parts.errors);
    this.#consumerSince = parts.clock.now();
    this.#readings = { measuredAt: 0, answers: new Map(), failure: "not-measured" };
  }

  get name(): string {
    return this.parts.inForce.definition.name;
  }

  get runners(): ReadonlyMap<number, PartitionRunner> {
    return this.#runners;
  }

  get consumer(): SourceState & { readonly since: number } {
    return { ...this.#consumer, since: this.#consumerSince };
  }

  /** Every partition that is known of, whoever reads it and whether or not the broker answers. Ascending. */
  get partitions(): readonly number[] {
    const bound = Array.from({ length: this.parts.boundPartitions }, (_unused, partition) => partition);
    const known = new Set([...bound, ...this.#readings.answers.keys(), ...this.#runners.keys()]);
    return [...known].toSorted((a, b) => a - b);
  }

  /** The group's committed offset of any partition, as it was last read. */
  committedOf(partition: number): Offset | undefined {
    return this.#runners.get(partition)?.state.committed ?? this.#committer.held.get(partition);
  }

  /** What this process has done for the source, over all assignments. */
  get totals(): Readonly<RunnerCounts> {
    return [...this.#runners.values()].reduce((sum, runner) => add(sum, runner.counts), this.#past);
  }

  get draining(): boolean {
    return this.#phase === "draining";
  }

  get readings(): BoundsReadings {
    return this.#readings;
  }

  start(): void {
    const { source, timings } = this.parts;
    source.start(this);
    this.#every(timings.commitEveryMs, () => this.#commit());
    this.#every(timings.boundsEveryMs, async () => {
      await this.#readBounds();
      await this.#commit(true);
    });
  }

  assigned(assignment: Assignment): void {
    this.#epoch = assignment.epoch;
    this.#runners = new Map();
    if (this.#phase === "running") void this.#take(assignment, 1);
  }

  revoked(epoch: number): void {
    if (epoch !== this.#epoch) return;
    this.#epoch = -1;
    this.#past = this.totals;
    for (const runner of this.#runners.values()) runner.revoke();
    this.#runners = new Map();
  }

  /** Nothing is committed here: a commit without a read-back could hide that the topic was re-created. */
  rebalancing(): void {
    this.parts.logger.debug({}, "group is rebalancing");
  }

  batch(batch: RecordBatch): void {
    if (batch.assignmentEpoch === this.#epoch) this.#runners.get(batch.partition)?.deliver(batch);
  }

  fault(fault: FetchFault): void {
    if (fault.assignmentEpoch === this.#epoch) this.#runners.get(fault.partition)?.fault(fault);
  }

  state(state: SourceState): void {
    if (state.state !== this.#consumer.state) this.#consumerSince = this.parts.clock.now();
    this.#consumer = state;
    if (state.cause === undefined) return;
    const fields = { consumer: state.state, rebuilds: state.rebuilds };
    this.parts.errors.note({ code: brokerCode(state.cause), text: state.text ?? state.cause, fields });
  }

  /**
   * SIGTERM: stops fetching, lets what is in flight be acknowledged, commits it and leaves the group, all within
   * `deadlineMs`. What did not make it is read again by whoever comes next. Never rejects.
   */
  async drain(deadlineMs: number): Promise<DrainResult> {
    const { clock, source, letters } = this.parts;
    const until = clock.monotonic() + deadlineMs;
    this.#phase = "draining";
    for (const cancel of this.#timers) cancel();
    const runners = [...this.#runners.values()];
    for (const runner of runners) runner.drain();
    const left = () => Math.max(until - clock.monotonic(), 0);
    const pending = () => this.#unrecorded.size > 0 || runners.some((runner) => runner.busy || outstanding(runner));
    // Commits go on beside what still hangs: one write without an answer must not keep the others' work uncommitted.
    while (pending() && left() > 0) {
      await Promise.race([this.#commit(), this.#pause(left())]);
      if (pending()) await this.#pause(DRAIN_TURN_MS);
    }
    const closing = Math.max(left(), CLOSE_MS_MIN);
    await Promise.all([source.stop(closing), letters.close(closing)]);
    return { uncommitted: runners.filter(uncommitted).map((runner) => runner.partition) };
  }

  /** Binds the topic, then starts a runner for each partition of the assignment. */
  async #take(assignment: Assignment, attempt: number): Promise<void> {
    const current = () => assignment.epoch === this.#epoch && this.#phase === "running";
    try {
      const { binding, stop } = await bindTopic(this.parts, assignment, attempt);
      if (!current()) return;
      const context = this.#context(assignment.epoch, binding);
      const runners = assignment.partitions.map((partition) => new PartitionRunner(context, partition));
      this.#runners = new Map(runners.map((runner) => [runner.partition, runner]));
      for (const runner of runners) runner.start(stop);
    } catch (error) {
      this.#note(error);
      if (current()) this.#after(backoffMs(attempt, this.parts.backoff), () => this.#take(assignment, attempt + 1));
    }
  }

  #context(epoch: number, binding: Binding): RunnerContext {
    const { source, plane } = this.parts;
    const facts = new FactsReader(this.name, source, plane);
    return { ...this.parts, epoch, binding, facts, unrecorded: this.#unrecorded };
  }

  /** `check`: reads the group back also when nothing is due, so that an idle partition notices that its log was replaced. */
  async #commit(check = false): Promise<void> {
    if (!check && (this.#epoch < 0 || this.#runners.size === 0)) return;
    await this.#committer.commit({ source: this.name, epoch: this.#epoch, runners: this.#runners, check });
  }

  async #readBounds(): Promise<void> {
    const { source, clock } = this.parts;
    const measuredAt = clock.now();
    const before = new Map([...this.#runners].map(([partition, runner]) => [partition, knownBounds(runner.state)]));
    try {
      const answers = await source.bounds();
      this.#readings = { measuredAt, answers, failure: undefined };
      for (const [partition, known] of before) {
        const answer = answers.get(partition);
        if (answer !== undefined) this.#runners.get(partition)?.observe(answer, known);
      }
    } catch (error) {
      this.#note(error);
      this.#readings = { ...this.#readings, failure: error instanceof SourceFault ? error.code : "unavailable" };
    }
  }

  #note(error: unknown): void {
    const consequence = consequenceOf(error);
    if (consequence.consequence === "hold") this.parts.errors.note(consequence.cause);
    else this.parts.errors.note({ code: "INTERNAL", text: consequence.detail });
  }

  /** Runs `task` again and again, `everyMs` after it last ended. */
  #every(everyMs: number, task: () => Promise<void>): void {
    let cancel = () => {};
    const round = () => {
      cancel = this.parts.clock.after(everyMs, () => {
        void task().finally(() => {
          if (this.#phase === "running") round();
        });
      });
    };
    this.#timers.push(() => cancel());
    round();
  }

  #after(delayMs: number, task: () => Promise<void>): void {
    this.#timers.push(this.parts.clock.after(delayMs, () => void task()));
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.parts.clock.after(delayMs, resolve);
    });
  }
}

/** Whether what was acknowledged is ahead of what the group holds; also of a partition that was lost meanwhile. */
function uncommitted({ state: { watermark, startedAt, committed } }: PartitionRunner): boolean {
  if (watermark === undefined || startedAt === undefined || watermark <= startedAt) return false;
  return committed === undefined || committed < watermark;
}

function add(a: Readonly<RunnerCounts>, b: Readonly<RunnerCounts>): RunnerCounts {
  return {
    delivered: a.delivered + b.delivered,
    written: a.written + b.written,
    deadLettered: a.deadLettered + b.deadLettered,
    folded: a.folded + b.folded,
  };
}

/** Whether something acknowledged is not committed yet. */
function outstanding(runner: PartitionRunner): boolean {
  return copyDue(runner.state) !== undefined || commitDue(runner.state) !== undefined;
}

/** Where a partition stands for its readers: its watermark, or what the group has committed where no runner of ours knows more. */
export function standing(service: SourceService, partition: number): Standing | undefined {
  const watermark = service.runners.get(partition)?.state.watermark;
  if (watermark !== undefined) return { at: watermark, basis: "watermark" };
  const committed = service.committedOf(partition);
  return committed === undefined ? undefined : { at: committed, basis: "committed" };
}

interface Standing {
  readonly at: Offset;
  readonly basis: "watermark" | "committed";
}
