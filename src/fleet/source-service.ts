import type { Offset } from "../core/offset.ts";
import type { Refusal } from "../core/retention.ts";
import { type PauseInForce, pauseOf, sourcePauseOf } from "../core/pause/pause.ts";
import { type Assignment, type FetchFault, type SourceEvents, type SourceState } from "../ports/record-source.ts";
import type { RecordBatch } from "../ports/record-batch.ts";
import type { InForce } from "../definitions/definition-store.ts";
import { LagWatch } from "../lag/lag-watch.ts";
import { AssignedRunners, type RunnersHost } from "./assigned-runners.ts";
import { type BoundsReadings, BoundsWatch } from "./bounds-watch.ts";
import { causeOf } from "./cause.ts";
import { Committer } from "./committer.ts";
import { type ConsumerStanding, ConsumerWatch } from "./consumer-watch.ts";
import type { PartitionRunner } from "./partition-runner.ts";
import type { RunnerContext } from "./runner-context.ts";
import type { SourceSurvey, StoredStop } from "./source-survey.ts";
import type { RunnerCounts } from "./source-tally.ts";
import { outstanding, uncommitted } from "./standing.ts";
import { Timers } from "./timers.ts";

const DRAIN_TURN_MS = 20;

/** Leaving the group gets at least this long, also when draining took all the time there was. */
const CLOSE_MS_MIN = 1_000;

/** What a source service is made of; everything that one assignment adds is left out. */
export interface SourceParts extends Omit<RunnerContext, "epoch" | "binding" | "facts" | "unrecorded" | "inForce"> {
  readonly inForce: InForce;
  /** What the store says of the source's partitions; read once before the service is made. */
  readonly survey: SourceSurvey;
  readonly timings: {
    readonly commitEveryMs: number;
    readonly boundsEveryMs: number;
    readonly sessionTimeoutMs: number;
  };
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
  #parts: SourceParts;
  readonly #committer: Committer;
  readonly #timers: Timers;
  readonly #bounds: BoundsWatch;
  /** What lag is computed from, beside the bounds. */
  readonly lagWatch: LagWatch;
  readonly #assigned: AssignedRunners;
  readonly #consumer: ConsumerWatch;
  #phase: "running" | "draining" = "running";

  constructor(parts: SourceParts) {
    this.#parts = parts;
    this.#committer = new Committer(parts.source, parts.plane, parts.errors, parts.clock);
    this.#timers = new Timers(parts.clock);
    const { clock, errors, timings, inForce } = parts;
    this.#consumer = new ConsumerWatch({ clock, errors, group: inForce.definition.group, ...timings });
    this.#bounds = new BoundsWatch(parts.source, parts.clock);
    this.lagWatch = new LagWatch(this);
    this.#assigned = new AssignedRunners(this.#runnersHost());
  }

  get parts(): SourceParts {
    return this.#parts;
  }

  get name(): string {
    return this.parts.inForce.definition.name;
  }

  get runners(): ReadonlyMap<number, PartitionRunner> {
    return this.#assigned.runners;
  }

  get consumer(): ConsumerStanding {
    return this.#consumer.standing;
  }

  /** Every partition that is known of, whoever reads it and whether or not the broker answers. Ascending. */
  get partitions(): readonly number[] {
    const bound = Array.from({ length: this.parts.survey.partitions }, (_unused, partition) => partition);
    const known = new Set([...bound, ...this.readings.answers.keys(), ...this.runners.keys()]);
    return [...known].toSorted((a, b) => a - b);
  }

  /** Partitions that the group has assigned to this process, taken or not. */
  get assignedHere(): ReadonlySet<number> {
    return this.#assigned.partitions;
  }

  /** Why the assignment could not be taken at the last attempt. */
  get takeFailure(): string | undefined {
    return this.#assigned.failure;
  }

  /** Why the source is not started although its topic can be read. */
  get refusal(): Refusal | undefined {
    return this.#assigned.refusal;
  }

  /** The group's committed offset of any partition, as it was last read. */
  committedOf(partition: number): Offset | undefined {
    return this.runners.get(partition)?.state.committed ?? this.#committer.held.get(partition);
  }

  /** When the group's committed offsets were last read back. */
  get committedAt(): number {
    return this.#committer.heldAt;
  }

  /** The stop of a partition, whoever runs it: what its runner says, or what the store holds. */
  stopOf(partition: number): StoredStop | undefined {
    const runner = this.runners.get(partition);
    if (runner?.state.phase.phase === "stopped") return { stop: runner.state.phase.stop, since: runner.since };
    const decided = runner !== undefined && runner.state.phase.phase !== "starting";
    return decided ? undefined : (this.#assigned.unrecorded.get(partition) ?? this.parts.survey.stopOf(partition));
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
      // Not waited for: what it reads is for people.
      void this.lagWatch.round().catch((error: unknown) => this.#note(error));
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
      await this.#assigned.obey();
    } catch (error) {
      this.#note(error);
    }
    // Also when the store is away: a pause ends by the clock.
    for (const [partition, runner] of this.runners) runner.pause(this.pauseOf(partition) !== undefined);
  }

  /**
   * Goes on under another revision of the same feed, without leaving the group: what is not applied yet gets a new row of the
   * ledger. Only for a definition that differs in how records are decoded. Never rejects.
   */
  async adopt(inForce: InForce): Promise<void> {
    this.#parts = { ...this.#parts, inForce, verdicts: this.#parts.verdicts.successor() };
    await this.#assigned.remake();
  }

  assigned(assignment: Assignment): void {
    this.#assigned.assign(assignment);
  }

  revoked(epoch: number): void {
    if (epoch !== this.#assigned.epoch) return;
    this.#assigned.revoke();
    if (this.#phase === "running") void this.#survey();
  }

  /** Nothing is committed here: a commit without a read-back could hide that the topic was re-created. */
  rebalancing(): void {
    this.parts.logger.debug({}, "group is rebalancing");
  }

  batch(batch: RecordBatch): void {
    if (batch.assignmentEpoch === this.#assigned.epoch) this.runners.get(batch.partition)?.deliver(batch);
  }

  fault(fault: FetchFault): void {
    if (fault.assignmentEpoch === this.#assigned.epoch) this.runners.get(fault.partition)?.fault(fault);
  }

  state(state: SourceState): void {
    this.#consumer.state(state);
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
    const runners = [...this.runners.values()];
    for (const runner of runners) runner.drain();
    const left = () => Math.max(until - clock.monotonic(), 0);
    const pending = () =>
      this.#assigned.unrecorded.size > 0 || runners.some((runner) => runner.busy || outstanding(runner));
    // Commits go on beside what still hangs: one write without an answer must not keep the others' work uncommitted.
    while (pending() && left() > 0) {
      await Promise.race([this.#commit(), this.#pause(left())]);
      if (pending()) await this.#pause(DRAIN_TURN_MS);
    }
    const closing = Math.max(left(), CLOSE_MS_MIN);
    await Promise.all([source.stop(closing), letters.close(closing)]);
    return { uncommitted: runners.filter(uncommitted).map((runner) => runner.partition) };
  }

  #runnersHost(): RunnersHost {
    const draining = () => this.draining;
    const parts = () => this.parts;
    return {
      get parts() {
        return parts();
      },
      timers: this.#timers,
      get draining() {
        return draining();
      },
      isPaused: (partition) => this.pauseOf(partition) !== undefined,
      commitsIdle: () => this.#committer.idle(),
      note: (error) => this.#note(error),
    };
  }

  /** `check`: reads the group back also when nothing is due, so that an idle partition notices that its log was replaced. */
  async #commit(check = false): Promise<void> {
    if (!check && (this.#assigned.epoch < 0 || this.runners.size === 0)) return;
    await this.#committer.commit({ source: this.name, epoch: this.#assigned.epoch, runners: this.runners, check });
  }

  async #readBounds(): Promise<void> {
    try {
      await this.#bounds.read(() => this.runners);
    } catch (error) {
      this.#note(error);
    }
  }

  async #survey(): Promise<void> {
    try {
      await this.parts.survey.refresh(new Set(this.runners.keys()));
    } catch (error) {
      this.#note(error);
    }
  }

  /** Returns what was noted, as one line. */
  #note(error: unknown): string {
    const cause = causeOf(error);
    this.parts.errors.note({ ...cause, error });
    return `${cause.code}: ${cause.text}`;
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.parts.clock.after(delayMs, resolve);
    });
  }
}
