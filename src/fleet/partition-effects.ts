import { unreachable } from "../core/invariant.ts";
import type { Offset } from "../core/offset.ts";
import { PoisonBreaker } from "../core/partition/breaker.ts";
import { knownBounds } from "../core/partition/range.ts";
import type { PartitionEffect, PartitionEvent, PartitionState } from "../core/partition/state.ts";
import type { Stop } from "../core/partition/stop.ts";
import { COUNTING_KINDS } from "../core/source.ts";
import { logOf } from "../core/topic/binding.ts";
import type { DeadLetter } from "../ports/dead-letters.ts";
import type { Applier } from "./applier.ts";
import { backoffMs } from "./backoff.ts";
import type { BatchWork } from "./batch-work.ts";
import { causeOf, consequenceOf } from "./cause.ts";
import { CountingApplier } from "./counting-applier.ts";
import { enterResumption } from "./entering.ts";
import { type PartitionFacts, revisionsOf } from "./facts.ts";
import { LetterGaps } from "./letter-gaps.ts";
import { PartitionStore } from "./partition-store.ts";
import type { RunnerContext } from "./runner-context.ts";
import type { RunnerCounts } from "./source-tally.ts";
import { StopRecording } from "./stop-recording.ts";
import { VersionedApplier } from "./versioned-applier.ts";

/** The runner as its effects see it. */
export interface EffectHost {
  readonly partition: number;
  readonly topicEpoch: number;
  readonly state: PartitionState;
  readonly since: number;
  /** Why the whole source must not be read; undefined when it may. */
  readonly sourceStop: Stop | undefined;
  readonly work: ReadonlyMap<number, BatchWork>;
  dispatch(event: PartitionEvent): void;
  /** Counts what was done, for the partition and for the source. */
  count(name: keyof RunnerCounts, count: number): void;
  /** The stop was read from the store: it began then. */
  stoppedSince(since: number): void;
  forget(seqs: readonly number[]): void;
}

/** Carries out what the partition machine asks for, and answers with events. */
export class PartitionEffects {
  readonly #context: RunnerContext;
  readonly #host: EffectHost;
  readonly #store: PartitionStore;
  readonly #stops: StopRecording;
  readonly #applier: Applier;
  /** The start record that still decides; settled by the first confirmed commit. */
  #unsettledStart: Offset | undefined;
  readonly #breaker: PoisonBreaker;
  #allowPoisonTo: Offset = 0;
  #busy = 0;
  /** Nothing is read for now: once nothing is under way either, what was taken in advance is given back. */
  #resting = false;

  constructor(context: RunnerContext, host: EffectHost) {
    this.#context = context;
    this.#host = host;
    const { partition, topicEpoch } = host;
    const { definition } = context.inForce;
    const gaps = new LetterGaps(context.gaps, { source: definition.name, partition }, topicEpoch, context.clock);
    this.#breaker = new PoisonBreaker(context.breaker);
    this.#store = new PartitionStore(context, partition);
    this.#stops = new StopRecording(context, host, this.#store);
    const parts = { context, partition, topicEpoch, store: this.#store, gaps };
    const counts = COUNTING_KINDS.has(definition.kind);
    this.#applier = counts ? new CountingApplier(parts) : new VersionedApplier(parts);
  }

  /** Whether anything is being written, published or recorded now. */
  get busy(): boolean {
    return this.#busy > 0;
  }

  carryOut(effect: PartitionEffect): void {
    const { source, epoch } = this.#context;
    switch (effect.effect) {
      case "gather-facts":
        return this.#later(effect.attempt, () => this.gather());
      case "record-first-start":
        return void this.#firstStart();
      case "begin":
        return void this.#begin(effect.position, 1);
      case "pause":
        return source.pause(epoch, this.#host.partition);
      case "resume":
        return source.resume(epoch, this.#host.partition);
      case "process":
        return void this.#process(effect.seq, effect.from);
      case "drop":
        this.#applier.drop(effect.seqs);
        return this.#host.forget(effect.seqs);
      case "retry-later":
        return this.#later(effect.attempt, () =>
          this.#host.dispatch({ event: "retry", seq: effect.seq, attempt: effect.attempt }),
        );
      case "read-bounds":
        return this.#later(effect.attempt, () => this.#readBounds());
      case "persist-stop":
        return void this.#persistStop(effect.stop, 1);
      default:
        return unreachable(effect);
    }
  }

  /** Reads what is stored and known of the partition; answers with `facts` or `facts-failed`. */
  async gather(): Promise<void> {
    try {
      const { partition, topicEpoch } = this.#host;
      const { binding } = this.#context;
      const facts = await this.#context.facts.read({ partition, topicEpoch, log: logOf(binding) });
      if (facts.stop === undefined && this.#stopsWithSource(facts)) return;
      if (facts.stop === undefined) await this.#enter(facts);
      this.#allowPoisonTo = facts.resumed?.allowPoison ?? 0;
      // A revision that this build cannot compile is waited for here, before anything is decided: another build heals it.
      if (facts.stop === undefined)
        await this.#context.verdicts.load(revisionsOf(facts, this.#context.inForce.revision));
      const { startRecord } = facts.start;
      if (startRecord !== undefined && !startRecord.settled) this.#unsettledStart = startRecord.from;
      const stop = facts.stop ?? this.#stops.pending(facts.start.copy?.watermark ?? 0);
      this.#host.dispatch({ event: "facts", facts: facts.start, stop: stop?.stop });
      if (stop !== undefined) this.#host.stoppedSince(stop.since);
      if (stop !== undefined && facts.stop === undefined) void this.#persistStop(stop.stop, 1);
    } catch (error) {
      this.#failed(error, (cause) => ({ event: "facts-failed", cause }));
    }
  }

  /** Old partitions of a topic that grew may be read to their end, one by one, by an operator's decision. */
  #stopsWithSource({ resumed }: PartitionFacts): boolean {
    const { sourceStop } = this.#host;
    if (sourceStop === undefined) return false;
    if (resumed?.despite !== undefined && resumed.despite === this.#context.binding.refused) return false;
    this.#host.dispatch({ event: "halt", stop: sourceStop });
    return true;
  }

  /** What an operator's resumption passed over is in the gap ledger before anything is read. @throws KvFault */
  async #enter({ resumed }: PartitionFacts): Promise<void> {
    if (resumed === undefined || resumed.entered) return;
    const owner = { source: this.#context.inForce.definition.name, partition: this.#host.partition };
    await enterResumption(this.#context, owner, logOf(this.#context.binding), resumed);
  }

  /** A commit was confirmed: a start record that decided until now no longer does. */
  confirmCommit(): void {
    const from = this.#unsettledStart;
    if (from === undefined) return;
    this.#unsettledStart = undefined;
    this.#busy += 1;
    this.#store
      .settleStart(from)
      .catch((error: unknown) => {
        this.#unsettledStart = from;
        this.#report(error);
      })
      .finally(() => {
        this.#busy -= 1;
      });
  }

  async #firstStart(): Promise<void> {
    try {
      await this.#store.recordFirstStart(this.#host.state.logStart ?? 0, this.#host.state.committed);
      await this.gather();
    } catch (error) {
      this.#failed(error, (cause) => ({ event: "facts-failed", cause }));
    }
  }

  /** Fetching begins only when every offset that it can deliver is covered by a ledger row (I17). */
  async #begin(position: Offset, attempt: number): Promise<void> {
    const { source, epoch } = this.#context;
    try {
      const { watermark, copied } = this.#host.state;
      await this.#applier.cover(watermark ?? position, copied ?? 0);
      this.#resting = false;
      const { phase, fetching } = this.#host.state;
      const wanted = (phase.phase === "running" || phase.phase === "verifying") && fetching;
      if (wanted && this.#host.state.position === position) source.begin(epoch, this.#host.partition, position);
    } catch (error) {
      const consequence = consequenceOf(error);
      this.#report(error);
      if (consequence.consequence === "stop") this.#halt(consequence.detail, consequence.stop);
      else this.#later(attempt, () => this.#begin(position, attempt + 1));
    }
  }

  async #process(seq: number, from: Offset): Promise<void> {
    const work = this.#host.work.get(seq);
    if (work === undefined) return this.#halt(`batch ${seq} has no work`);
    this.#busy += 1;
    try {
      const applied = await this.#applier.apply({
        seq,
        work,
        from,
        allowPoisonTo: this.#allowPoisonTo,
        breaker: this.#breaker,
        onPoison: (poison) => this.#host.dispatch({ event: "poison", seq, ...poison }),
      });
      if (applied === undefined) return;
      // Not what was dropped meanwhile behind a stop, nor what was read only to recognise the log: it is read again.
      if (this.#host.work.get(seq) === work) this.#host.count("delivered", applied.records);
      this.#host.count("written", applied.written);
      this.#host.count("folded", applied.folded);
      this.#confirmed(applied.letters);
      this.#host.dispatch({ event: "acknowledged", seq, fingerprint: applied.fingerprint });
    } catch (error) {
      this.#failed(error, (cause) => ({ event: "write-failed", seq, cause }));
    } finally {
      this.#busy -= 1;
      this.#restWhenIdle();
    }
  }

  /** Nothing is read any more, or for now. What was taken in advance is given back as soon as nothing is under way. */
  rest(): void {
    this.#resting = true;
    this.#restWhenIdle();
  }

  /** The runner's life is over. */
  end(): void {
    this.#applier.end();
  }

  #restWhenIdle(): void {
    if (!this.#resting || this.#busy > 0) return;
    this.#resting = false;
    this.#busy += 1;
    this.#applier
      .rest()
      // What is not given back is reserved for nobody, and found there at the next start.
      .catch((error: unknown) => this.#report(error))
      .finally(() => {
        this.#busy -= 1;
      });
  }

  /** A dead letter leaves a trace on this side, too: where it was and why, nothing of what it held. */
  #confirmed(letters: readonly DeadLetter[]): void {
    const { tally, errors } = this.#context;
    this.#host.count("deadLettered", letters.length);
    for (const { partition, offset, fault } of letters) {
      tally.letter(fault.code);
      errors.note({ code: fault.code, text: `dead letter: ${fault.text}`, partition, last: `offset ${offset}` });
    }
  }

  async #readBounds(): Promise<void> {
    const before = knownBounds(this.#host.state);
    try {
      const answer = (await this.#context.source.bounds()).get(this.#host.partition);
      if (answer?.known !== true) {
        const text = answer === undefined ? "the partition is not in the topic's metadata" : answer.text;
        return this.#host.dispatch({ event: "bounds-failed", cause: { code: "BOUNDS_UNKNOWN", text } });
      }
      this.#host.dispatch({ event: "bounds", logStart: answer.logStart, end: answer.end, asked: true, before });
    } catch (error) {
      this.#failed(error, (cause) => ({ event: "bounds-failed", cause }));
    }
  }

  async #persistStop(stop: Stop, attempt: number): Promise<void> {
    this.rest();
    this.#busy += 1;
    try {
      await this.#stops.record(stop);
    } catch (error) {
      this.#report(error);
      this.#later(attempt, () => this.#persistStop(stop, attempt + 1));
    } finally {
      this.#busy -= 1;
    }
  }

  #failed(error: unknown, event: (cause: { code: string; text: string }) => PartitionEvent): void {
    const consequence = consequenceOf(error);
    if (consequence.consequence === "stop") return this.#halt(consequence.detail, consequence.stop);
    this.#report(error);
    this.#host.dispatch(event(consequence.cause));
  }

  #halt(detail: string, stop: Stop = { code: "INVARIANT_BROKEN", detail }): void {
    this.#host.dispatch({ event: "halt", stop });
  }

  #report(error: unknown): void {
    const { epoch, errors } = this.#context;
    errors.note({ ...causeOf(error), partition: this.#host.partition, fields: { epoch }, error });
  }

  #later(attempt: number, task: () => unknown): void {
    if (this.#host.state.phase.phase === "draining") return;
    this.#context.clock.after(backoffMs(attempt, this.#context.backoff), () => {
      if (this.#host.state.phase.phase !== "gone") void task();
    });
  }
}
