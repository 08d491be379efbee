import type { Stop } from "../core/partition/stop.ts";
import type { Refusal } from "../core/retention.ts";
import type { Binding } from "../core/topic/binding.ts";
import type { Assignment } from "../ports/record-source.ts";
import { backoffMs } from "./backoff.ts";
import { FactsReader } from "./facts.ts";
import { openedAnother, resumedRunners } from "./operator-decisions.ts";
import { PartitionRunner } from "./partition-runner.ts";
import type { UnrecordedStop } from "./partition-store.ts";
import { checkRetention } from "./retention-check.ts";
import type { RunnerContext } from "./runner-context.ts";
import type { SourceParts } from "./source-service.ts";
import type { Timers } from "./timers.ts";
import { bindTopic } from "./topic-binding.ts";

/** The source as the runners of its assignment see it. */
export interface RunnersHost {
  readonly parts: SourceParts;
  readonly timers: Timers;
  /** Whether the source drains: nothing is begun any more. */
  readonly draining: boolean;
  isPaused(partition: number): boolean;
  /** Resolves when no commit round is under way. */
  commitsIdle(): Promise<void>;
  /** Notes a failure; returns it as one line. */
  note(error: unknown): string;
}

/** One assignment of the group, from its arrival until it is revoked: taken as soon as it can be, with a runner per partition. */
export class AssignedRunners {
  readonly #host: RunnersHost;
  readonly #unrecorded = new Map<number, UnrecordedStop>();
  #assignment: Assignment | undefined;
  /** What the runners share, once the assignment was taken. */
  #taken: { readonly context: RunnerContext; readonly stop: Stop | undefined } | undefined;
  /** Grows with each beginning, so that an attempt of an earlier one changes nothing any more. */
  #takes = 0;
  #runners: ReadonlyMap<number, PartitionRunner> = new Map();
  #partitions: ReadonlySet<number> = new Set();
  #failure: string | undefined;
  #refusal: Refusal | undefined;
  /** Why the source was not started at an earlier attempt. */
  #waited: string | undefined;
  #started = false;

  constructor(host: RunnersHost) {
    this.#host = host;
  }

  get runners(): ReadonlyMap<number, PartitionRunner> {
    return this.#runners;
  }

  /** The assignment's epoch; −1 without one. */
  get epoch(): number {
    return this.#assignment?.epoch ?? -1;
  }

  /** Partitions that the group has assigned to this process, taken or not. */
  get partitions(): ReadonlySet<number> {
    return this.#partitions;
  }

  /** Why the assignment could not be taken at the last attempt. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Why the source is not started although its topic can be read. */
  get refusal(): Refusal | undefined {
    return this.#refusal;
  }

  /** Stops that the store does not have yet; they outlive the assignment. */
  get unrecorded(): ReadonlyMap<number, UnrecordedStop> {
    return this.#unrecorded;
  }

  /** A new assignment replaces the one before. */
  assign(assignment: Assignment): void {
    this.#assignment = assignment;
    this.#partitions = new Set(assignment.partitions);
    this.#taken = undefined;
    this.#runners = new Map();
    this.#takes += 1;
    if (!this.#host.draining) void this.#take(assignment, 1, this.#takes);
  }

  /** Every result under the assignment is void from now on. */
  revoke(): void {
    for (const runner of this.#runners.values()) runner.revoke();
    this.#takes += 1;
    this.#assignment = undefined;
    this.#taken = undefined;
    this.#runners = new Map();
    this.#partitions = new Set();
    this.#failure = undefined;
  }

  /**
   * Does what operators decided: a partition whose stop was cleared gets a new runner, which gathers its facts anew, and
   * whatever of the old one is still under way is void; a log that was opened is taken. @throws KvFault
   */
  async obey(): Promise<void> {
    const taken = this.#taken;
    if (taken === undefined) return;
    const { context, stop } = taken;
    const { plane, inForce } = this.#host.parts;
    const told = { plane, source: inForce.definition.name, binding: context.binding };
    for (const runner of await resumedRunners(told, this.#runners.values(), this.#unrecorded)) {
      if (this.#host.draining || this.#runners.get(runner.partition) !== runner) continue;
      runner.revoke();
      const next = new PartitionRunner(context, runner.partition);
      this.#runners = new Map([...this.#runners, [next.partition, next]]);
      this.#begin(next, stop);
    }
    if ((await openedAnother(told)) && this.#taken === taken) await this.#retake("another log");
  }

  /**
   * What the runners share has changed: they are made anew within the assignment. As after a crash, what the old ones had in
   * flight is read again; where it still lands, the larger revision wins.
   */
  async remake(): Promise<void> {
    await this.#retake("same log");
  }

  /** Binds the topic, then starts a runner for each partition. */
  async #take(assignment: Assignment, attempt: number, take: number): Promise<void> {
    const { parts } = this.#host;
    const current = () => take === this.#takes && !this.#host.draining;
    try {
      const { binding, stop } = await bindTopic(parts, assignment, attempt);
      const refusal = await checkRetention(parts);
      await parts.survey.refreshPauses();
      if (!current()) return;
      // A source that runs is not given up when its topic's retention is lowered: that alone would lose records.
      this.#refusal = this.#started ? undefined : refusal;
      this.#waited = this.#refusal?.code ?? this.#waited;
      if (this.#refusal !== undefined) return this.#takeLater(assignment, attempt, take);
      this.#started = true;
      const context = this.#context(assignment.epoch, binding);
      this.#taken = { context, stop };
      const runners = assignment.partitions.map((partition) => new PartitionRunner(context, partition));
      this.#runners = new Map(runners.map((runner) => [runner.partition, runner]));
      const waited = this.#failure ?? this.#waited;
      this.#failure = undefined;
      this.#waited = undefined;
      if (waited !== undefined) {
        const text = "the source's partitions are taken, which could not be before";
        parts.errors.over({ code: "SOURCE_TAKEN", text, fields: { before: waited, attempts: attempt } });
      }
      for (const runner of runners) this.#begin(runner, stop);
    } catch (error) {
      this.#failure = this.#host.note(error);
      if (current()) this.#takeLater(assignment, attempt, take);
    }
  }

  #takeLater(assignment: Assignment, attempt: number, take: number): void {
    const { timers, parts } = this.#host;
    timers.after(backoffMs(attempt, parts.backoff), () => this.#take(assignment, attempt + 1, take));
  }

  #begin(runner: PartitionRunner, stop: Stop | undefined): void {
    runner.start(stop, this.#host.isPaused(runner.partition));
  }

  /**
   * A log that an operator opened is taken like a new assignment:
   *
   * 1. the runners of the log before are revoked, so that nothing of them is acknowledged or committed any more; their stops
   *    that are not stored yet are of that log, and void;
   * 2. a commit round that is under way ends: a commit of the old log may not come after the new log's start was recorded;
   * 3. the assignment is taken again, under the new binding.
   */
  async #retake(log: "same log" | "another log"): Promise<void> {
    const assignment = this.#assignment;
    if (assignment === undefined || this.#host.draining) return;
    this.#takes += 1;
    const take = this.#takes;
    this.#taken = undefined;
    for (const [partition, runner] of this.#runners) {
      runner.revoke();
      this.#host.parts.source.pause(assignment.epoch, partition);
    }
    if (log === "another log") this.#unrecorded.clear();
    this.#runners = new Map();
    await this.#host.commitsIdle();
    await this.#take(assignment, 1, take);
  }

  #context(epoch: number, binding: Binding): RunnerContext {
    const { parts } = this.#host;
    const facts = new FactsReader(parts.inForce.definition.name, parts.source, parts.plane);
    return { ...parts, epoch, binding, facts, unrecorded: this.#unrecorded };
  }
}
