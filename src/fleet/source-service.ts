import type { Offset } from "../core/offset.ts";
import type { Refusal } from "../core/retention.ts";
import type { Stop } from "../core/partition/stop.ts";
import { type PauseInForce, pauseOf, sourcePauseOf } from "../core/pause/pause.ts";
import type { Binding } from "../core/topic/binding.ts";
import { type Assignment, type FetchFault, type SourceEvents, type SourceState } from "../ports/record-source.ts";
import type { RecordBatch } from "../ports/record-batch.ts";
import type { InForce } from "../definitions/definition-store.ts";
import { backoffMs } from "./backoff.ts";
import { type BoundsReadings, BoundsWatch } from "./bounds-watch.ts";
import { brokerCode, consequenceOf } from "./cause.ts";
import { Committer } from "./committer.ts";
import { FactsReader } from "./facts.ts";
import { openedAnother, resumedRunners } from "./operator-decisions.ts";
import { PartitionRunner } from "./partition-runner.ts";
import type { UnrecordedStop } from "./partition-store.ts";
import { checkRetention } from "./retention-check.ts";
import type { RunnerContext } from "./runner-context.ts";
import type { SourceSurvey, StoredStop } from "./source-survey.ts";
import type { RunnerCounts } from "./source-tally.ts";
import { outstanding, uncommitted } from "./standing.ts";
import { Timers } from "./timers.ts";
import { bindTopic } from "./topic-binding.ts";

const DRAIN_TURN_MS = 20;

/** Leaving the group gets at least this long, also when draining took all the time there was. */
const CLOSE_MS_MIN = 1_000;

/** What a source service is made of; everything that one assignment adds is left out. */
export interface SourceParts extends Omit<RunnerContext, "epoch" | "binding" | "facts" | "unrecorded" | "inForce"> {
  readonly inForce: InForce;
  /** What the store says of the source's partitions; read once before the service is made. */
  readonly survey: SourceSurvey;
  readonly timings: { readonly commitEveryMs: number; readonly boundsEveryMs: number };
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
  readonly #timers: Timers;
  readonly #bounds: BoundsWatch;
  #runners: ReadonlyMap<number, PartitionRunner> = new Map();
  #epoch = -1;
  #assigned: ReadonlySet<number> = new Set();
  #assignment: Assignment | undefined;
  /** What the runners of the assignment share, once it was taken. */
  #taken: { readonly context: RunnerContext; readonly stop: Stop | undefined } | undefined;
  /** Grows with each attempt to take an assignment that replaces an earlier one. */
  #takes = 0;
  #takeFailure: string | undefined;
  #refusal: Refusal | undefined;
  #started = false;
  #consumer: SourceState = { state: "idle", rebuilds: 0 };
  #consumerSince: number;
  #phase: "running" | "draining" = "running";
  readonly #unrecorded = new Map<number, UnrecordedStop>();

  constructor(parts: SourceParts) {
    this.parts = parts;
    this.#committer = new Committer(parts.source, parts.plane, parts.errors, parts.clock);
    this.#timers = new Timers(parts.clock);
    this.#consumerSince = parts.clock.now();
    this.#bounds = new BoundsWatch(parts.source, parts.clock);
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
    const bound = Array.from({ length: this.parts.survey.partitions }, (_unused, partition) => partition);
    const known = new Set([...bound, ...this.readings.answers.keys(), ...this.#runners.keys()]);
    return [...known].toSorted((a, b) => a - b);
  }

  /** Partitions that the group has assigned to this process, taken or not. */
  get assignedHere(): ReadonlySet<number> {
    return this.#assigned;
  }

  /** Why the assignment could not be taken at the last attempt. */
  get takeFailure(): string | undefined {
    return this.#takeFailure;
  }

  /** Why the source is not started although its topic can be read. */
  get refusal(): Refusal | undefined {
    return this.#refusal;
  }

  /** The group's committed offset of any partition, as it was last read. */
  committedOf(partition: number): Offset | undefined {
    return this.#runners.get(partition)?.state.committed ?? this.#committer.held.get(partition);
  }

  /** When the group's committed offsets were last read back. */
  get committedAt(): number {
    return this.#committer.heldAt;
  }

  /** The stop of a partition, whoever runs it: what its runner says, or what the store holds. */
  stopOf(partition: number): StoredStop | undefined {
    const runner = this.#runners.get(partition);
    if (runner?.state.phase.phase === "stopped") return { stop: runner.state.phase.stop, since: runner.since };
    const decided = runner !== undefined && runner.state.phase.phase !== "starting";
    return decided ? undefined : (this.#unrecorded.get(partition) ?? this.parts.survey.stopOf(partition));
  }

  /** The pause that keeps a partition from being read now; that of the source as a whole without one. */
  pauseOf(partition?: number): PauseInForce | undefined {
    const { pauses } = this.parts.survey;
    const now = this.parts.clock.now();
    return partition === undefined ? sourcePauseOf(pauses, now) : pauseOf(pauses, partition, now);
  }

  /** What this process has done for the source, over all assignments and definitions. */
  get totals(): Readonly<RunnerCounts> {
    return this.parts.tally.totals;
  }

  /** Waits that are under way: one for each regular round, and at most one for an assignment that is not taken yet. */
  get waits(): number {
    return this.#timers.waiting;
  }

  get draining(): boolean {
    return this.#phase === "draining";
  }

  get readings(): BoundsReadings {
    return this.#bounds.readings;
  }

  start(): void {
    const { source, timings } = this.parts;
    source.start(this);
    this.#timers.every(timings.commitEveryMs, () => this.#commit());
    this.#timers.every(timings.boundsEveryMs, async () => {
      await this.#readBounds();
      await this.#commit(true);
      await this.#survey();
      await this.obey();
    });
  }

  /**
   * Does what operators decided, on this instance or on another: pauses and their end, stops that were cleared, a log that
   * was opened. Runs regularly, and at once for a decision that was made here. Never rejects.
   */
  async obey(): Promise<void> {
    try {
      await this.parts.survey.refreshPauses();
      await this.#obeyDecisions();
    } catch (error) {
      this.#note(error);
    }
    // Also when the store is away: a pause ends by the clock.
    for (const [partition, runner] of this.#runners) runner.pause(this.pauseOf(partition) !== undefined);
  }

  assigned(assignment: Assignment): void {
    this.#epoch = assignment.epoch;
    this.#assigned = new Set(assignment.partitions);
    this.#assignment = assignment;
    this.#runners = new Map();
    this.#takes += 1;
    if (this.#phase === "running") void this.#take(assignment, 1, this.#takes);
  }

  revoked(epoch: number): void {
    if (epoch !== this.#epoch) return;
    this.#epoch = -1;
    for (const runner of this.#runners.values()) runner.revoke();
    this.#runners = new Map();
    this.#assigned = new Set();
    this.#assignment = undefined;
    this.#taken = undefined;
    this.#takeFailure = undefined;
    if (this.#phase === "running") void this.#survey();
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
    this.#timers.end();
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
  async #take(assignment: Assignment, attempt: number, take: number): Promise<void> {
    const current = () => take === this.#takes && assignment.epoch === this.#epoch && this.#phase === "running";
    try {
      const { binding, stop } = await bindTopic(this.parts, assignment, attempt);
      const refusal = await checkRetention(this.parts);
      await this.parts.survey.refreshPauses();
      if (!current()) return;
      // A source that runs is not given up when its topic's retention is lowered: that alone would lose records.
      this.#refusal = this.#started ? undefined : refusal;
      if (this.#refusal !== undefined) return this.#takeLater(assignment, attempt, take);
      this.#started = true;
      const context = this.#context(assignment.epoch, binding);
      this.#taken = { context, stop };
      const runners = assignment.partitions.map((partition) => new PartitionRunner(context, partition));
      this.#runners = new Map(runners.map((runner) => [runner.partition, runner]));
      this.#takeFailure = undefined;
      for (const runner of runners) this.#begin(runner, stop);
    } catch (error) {
      this.#takeFailure = this.#note(error);
      if (current()) this.#takeLater(assignment, attempt, take);
    }
  }

  #begin(runner: PartitionRunner, stop: Stop | undefined): void {
    runner.start(stop, this.pauseOf(runner.partition) !== undefined);
  }

  #takeLater(assignment: Assignment, attempt: number, take: number): void {
    this.#timers.after(backoffMs(attempt, this.parts.backoff), () => this.#take(assignment, attempt + 1, take));
  }

  /**
   * A partition whose stop was cleared gets a new runner, which gathers its facts anew; whatever of the old one is still
   * under way is void.
   */
  async #obeyDecisions(): Promise<void> {
    const taken = this.#taken;
    if (taken === undefined) return;
    const { context, stop } = taken;
    const told = { control: this.parts.plane.control, source: this.name, binding: context.binding };
    for (const runner of await resumedRunners(told, this.#runners.values(), this.#unrecorded)) {
      if (this.#phase !== "running" || this.#runners.get(runner.partition) !== runner) continue;
      runner.revoke();
      const next = new PartitionRunner(context, runner.partition);
      this.#runners = new Map([...this.#runners, [next.partition, next]]);
      this.#begin(next, stop);
    }
    if ((await openedAnother(told)) && this.#taken === taken) await this.#retake();
  }

  /**
   * A log that an operator opened is taken like a new assignment:
   *
   * 1. the runners of the log before are revoked, so that nothing of them is acknowledged or committed any more;
   * 2. a commit round that is under way ends: a commit of the old log may not come after the new log's start was recorded;
   * 3. the assignment is taken again, under the new binding.
   */
  async #retake(): Promise<void> {
    const assignment = this.#assignment;
    if (assignment === undefined || this.#phase !== "running") return;
    this.#takes += 1;
    const take = this.#takes;
    this.#taken = undefined;
    for (const [partition, runner] of this.#runners) {
      runner.revoke();
      this.parts.source.pause(assignment.epoch, partition);
    }
    this.#runners = new Map();
    await this.#committer.idle();
    await this.#take(assignment, 1, take);
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
    try {
      await this.#bounds.read(() => this.#runners);
    } catch (error) {
      this.#note(error);
    }
  }

  async #survey(): Promise<void> {
    try {
      await this.parts.survey.refresh(new Set(this.#runners.keys()));
    } catch (error) {
      this.#note(error);
    }
  }

  /** Returns what was noted, as one line. */
  #note(error: unknown): string {
    const consequence = consequenceOf(error);
    const cause =
      consequence.consequence === "hold" ? consequence.cause : { code: "INTERNAL", text: consequence.detail };
    this.parts.errors.note(cause);
    return `${cause.code}: ${cause.text}`;
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.parts.clock.after(delayMs, resolve);
    });
  }
}
