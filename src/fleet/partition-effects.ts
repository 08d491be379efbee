import type { Ledger } from "../core/ledger/ledger.ts";
import { unreachable } from "../core/invariant.ts";
import { OFFSET_LIMIT, type Offset } from "../core/offset.ts";
import { PoisonBreaker } from "../core/partition/breaker.ts";
import { reachOf } from "../core/partition/commit.ts";
import { knownBounds } from "../core/partition/range.ts";
import type { PartitionEffect, PartitionEvent, PartitionState } from "../core/partition/state.ts";
import { isSourceWide, type Stop } from "../core/partition/stop.ts";
import { logOf } from "../core/topic/binding.ts";
import type { DeadLetter } from "../ports/dead-letters.ts";
import { backoffMs } from "./backoff.ts";
import type { BatchWork } from "./batch-work.ts";
import { consequenceOf } from "./cause.ts";
import { enterResumption } from "./entering.ts";
import type { PartitionFacts } from "./facts.ts";
import { LetterGaps } from "./letter-gaps.ts";
import { PartitionStore, type UnrecordedStop } from "./partition-store.ts";
import type { RunnerContext } from "./runner-context.ts";
import type { RunnerCounts } from "./source-tally.ts";

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
  #ledger: Ledger | undefined;
  /** The start record that still decides; settled by the first confirmed commit. */
  #unsettledStart: Offset | undefined;
  readonly #letters: LetterGaps;
  readonly #breaker: PoisonBreaker;
  #allowPoisonTo: Offset = 0;
  #busy = 0;

  constructor(context: RunnerContext, host: EffectHost) {
    this.#context = context;
    this.#host = host;
    const owner = { source: context.inForce.definition.name, partition: host.partition };
    this.#letters = new LetterGaps(context.gaps, owner, host.topicEpoch, context.clock);
    this.#breaker = new PoisonBreaker(context.breaker);
    this.#store = new PartitionStore(context, host.partition);
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
      if (facts.stop === undefined) await this.#loadRevisions(facts);
      const { startRecord } = facts.start;
      if (startRecord !== undefined && !startRecord.settled) this.#unsettledStart = startRecord.from;
      const stop = facts.stop ?? this.#pendingStop(facts.start.copy?.watermark ?? 0);
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

  /** @throws StreamsError when one does not compile with this build; KvFault */
  async #loadRevisions({ ledger, start: { committed, copy, startRecord } }: PartitionFacts): Promise<void> {
    // A start record that is settled decides nothing: with it every revision since the first start would be compiled.
    const start = startRecord?.settled === true ? undefined : startRecord?.from;
    const known = [committed, copy?.watermark, start].filter((offset) => offset !== undefined);
    const lowest = known.length === 0 ? 0 : Math.min(...known);
    const needed = ledger.rows.filter((row) => row.until === null || row.until > lowest).map((row) => row.revision);
    const { verdicts, inForce } = this.#context;
    await verdicts.load([...needed, inForce.revision]);
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
      this.#ledger ??= await this.#store.coverLedger(watermark ?? position, copied ?? 0);
      const { phase, fetching } = this.#host.state;
      const wanted = (phase.phase === "running" || phase.phase === "verifying") && fetching;
      if (wanted && this.#host.state.position === position) source.begin(epoch, this.#host.partition, position);
    } catch (error) {
      const consequence = consequenceOf(error);
      this.#report(error);
      if (consequence.consequence === "stop") this.#halt(consequence.detail);
      else this.#later(attempt, () => this.#begin(position, attempt + 1));
    }
  }

  async #process(seq: number, from: Offset): Promise<void> {
    const work = this.#host.work.get(seq);
    const ledger = this.#ledger;
    if (work === undefined || ledger === undefined) return this.#halt(`batch ${seq} has no work or no ledger`);
    this.#busy += 1;
    try {
      const poison = { allowPoisonTo: this.#allowPoisonTo, breaker: this.#breaker };
      const folded = work.fold(from, this.#host.topicEpoch, ledger, poison);
      if (folded.poison !== undefined) this.#host.dispatch({ event: "poison", seq, ...folded.poison });
      // Both before the acknowledgement: what is passed over is in the ledger of gaps (I12).
      const results = await Promise.allSettled([work.settle(folded), this.#letters.enter(folded.letters)]);
      for (const result of results) if (result.status === "rejected") throw result.reason;
      // Not what was dropped meanwhile behind a stop, nor what was read only to recognise the log: it is read again.
      if (this.#host.work.get(seq) === work) this.#host.count("delivered", folded.records);
      this.#host.count("written", folded.writes.length);
      this.#host.count("folded", folded.superseded);
      this.#confirmed(folded.letters);
      this.#context.crossings.sample(this.#host.partition, folded.writes);
      this.#host.dispatch({ event: "acknowledged", seq, fingerprint: folded.fingerprint });
    } catch (error) {
      this.#failed(error, (cause) => ({ event: "write-failed", seq, cause }));
    } finally {
      this.#busy -= 1;
    }
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

  /** A stop of an earlier assignment that is not recorded yet, unless somebody went on beyond its reach meanwhile. */
  #pendingStop(copy: Offset): UnrecordedStop | undefined {
    const { unrecorded } = this.#context;
    const pending = unrecorded.get(this.#host.partition);
    if (pending === undefined || copy <= pending.reach) return pending;
    unrecorded.delete(this.#host.partition);
    return undefined;
  }

  /** Until it is recorded the stop is kept beside this assignment: a rejoin must not forget it (I13). */
  async #persistStop(stop: Stop, attempt: number): Promise<void> {
    const { unrecorded } = this.#context;
    const pending = unrecorded.get(this.#host.partition) ?? {
      stop,
      since: this.#host.since,
      reach: isSourceWide(stop) ? OFFSET_LIMIT : reachOf(this.#host.state),
    };
    unrecorded.set(this.#host.partition, pending);
    this.#busy += 1;
    try {
      await this.#store.recordStop(pending);
      unrecorded.delete(this.#host.partition);
    } catch (error) {
      this.#report(error);
      this.#later(attempt, () => this.#persistStop(stop, attempt + 1));
    } finally {
      this.#busy -= 1;
    }
  }

  #failed(error: unknown, event: (cause: { code: string; text: string }) => PartitionEvent): void {
    const consequence = consequenceOf(error);
    if (consequence.consequence === "stop") return this.#halt(consequence.detail);
    this.#report(error);
    this.#host.dispatch(event(consequence.cause));
  }

  #halt(detail: string): void {
    this.#host.dispatch({ event: "halt", stop: { code: "INVARIANT_BROKEN", detail } });
  }

  #report(error: unknown): void {
    const consequence = consequenceOf(error);
    const cause =
      consequence.consequence === "hold" ? consequence.cause : { code: "INTERNAL", text: consequence.detail };
    const { epoch, errors } = this.#context;
    errors.note({ ...cause, partition: this.#host.partition, fields: { epoch }, error });
  }

  #later(attempt: number, task: () => unknown): void {
    if (this.#host.state.phase.phase === "draining") return;
    this.#context.clock.after(backoffMs(attempt, this.#context.backoff), () => {
      if (this.#host.state.phase.phase !== "gone") void task();
    });
  }
}
