import { InvariantViolation } from "../core/invariant.ts";
import type { Offset } from "../core/offset.ts";
import { step } from "../core/partition/machine.ts";
import type { knownBounds } from "../core/partition/range.ts";
import {
  type Cause,
  INITIAL_STATE,
  type PartitionEffect,
  type PartitionEvent,
  type PartitionState,
} from "../core/partition/state.ts";
import type { Stop } from "../core/partition/stop.ts";
import { topicEpochOf } from "../core/topic/binding.ts";
import type { RecordBatch } from "../ports/record-batch.ts";
import type { BoundsAnswer, FetchFault } from "../ports/record-source.ts";
import { BatchWork, type OldestInFlight, oldestOf } from "./batch-work.ts";
import { recognise } from "./fold.ts";
import { type EffectHost, PartitionEffects } from "./partition-effects.ts";
import type { RunnerContext } from "./runner-context.ts";
import { noCounts, type RunnerCounts } from "./source-tally.ts";

/**
 * The one owner of one assigned partition: feeds the partition machine and carries out its effects. Lives for one
 * assignment epoch; after `revoke` every late result is void.
 */
export class PartitionRunner implements EffectHost {
  readonly partition: number;
  readonly topicEpoch: number;
  readonly counts = noCounts();
  readonly #context: RunnerContext;
  readonly #effects: PartitionEffects;
  readonly work = new Map<number, BatchWork>();
  sourceStop: Stop | undefined;
  readonly #queue: PartitionEvent[] = [];
  #state: PartitionState;
  #since: number;
  #unpausedAt = 0;

  constructor(context: RunnerContext, partition: number) {
    this.#context = context;
    this.#state = { ...INITIAL_STATE, disputesMax: context.disputesMax };
    this.partition = partition;
    this.topicEpoch = topicEpochOf(context.binding, partition) ?? 0;
    this.#effects = new PartitionEffects(context, this);
    this.#since = context.clock.now();
  }

  get state(): PartitionState {
    return this.#state;
  }

  /** When the present phase began; a stop of an earlier life, when that began. */
  get since(): number {
    return this.#since;
  }

  /** When a pause of the partition or of its source ended last; 0 while none has. */
  get unpausedAt(): number {
    return this.#unpausedAt;
  }

  stoppedSince(since: number): void {
    this.#since = since;
  }

  count(name: keyof RunnerCounts, count: number): void {
    this.counts[name] += count;
    this.#context.tally.add(name, count);
  }

  /** Whether anything is being written or published now. */
  get busy(): boolean {
    return this.#effects.busy;
  }

  /** The oldest record in flight that is not acknowledged; undefined when nothing is. */
  get oldestInFlight(): OldestInFlight | undefined {
    const { watermark = 0 } = this.#state;
    for (const work of this.work.values()) {
      const oldest = oldestOf(work, watermark);
      if (oldest !== undefined) return oldest;
    }
    return undefined;
  }

  /**
   * Gathers facts and begins. `stop`: the whole source must not be read; an operator may have let an old partition of a
   * topic that grew be read to its end all the same, which its facts tell.
   */
  start(stop: Stop | undefined, paused: boolean): void {
    this.sourceStop = stop;
    this.pause(paused);
    if (stop !== undefined && stop.code !== "PARTITIONS_CHANGED") this.dispatch({ event: "halt", stop });
    else void this.#effects.gather();
  }

  /** An operator paused the partition or its source, or that ended. */
  pause(paused: boolean): void {
    if (paused === this.#state.paused) return;
    if (!paused) this.#unpausedAt = this.#context.clock.now();
    this.dispatch({ event: "pause", paused });
    if (paused) this.#effects.rest();
    this.#context.logger.info(
      { ...this.#ids(), paused },
      paused ? "partition is paused" : "partition is not paused any more",
    );
  }

  /** The next records. Synchronous: decodes, folds and hands over to the store. */
  deliver(batch: RecordBatch): void {
    const { phase, nextSeq } = this.#state;
    const { clock, budget, inForce } = this.#context;
    const work = new BatchWork(batch, this.#context);
    this.work.set(nextSeq, work);
    const recognised = phase.phase === "verifying" ? recognise(batch, phase.verify.fingerprint) : undefined;
    this.dispatch({
      event: "batch",
      batch: {
        fetchedAt: batch.fetchedAt,
        next: batch.next,
        records: batch.count,
        bytes: batch.byteLength,
        logStart: batch.logStart,
        end: batch.end,
        leaderEpochs: batch.leaderEpochs,
        deliveredAtMs: clock.now(),
        crowded: budget.crowded(inForce.definition.name),
        recognised,
      },
    });
    if (!this.#state.inFlight.some((entry) => entry.seq === nextSeq)) this.forget([nextSeq]);
  }

  fault(fault: FetchFault): void {
    const kind = fault.code === "out-of-range" || fault.code === "batch-too-large" ? fault.code : "undecodable";
    const code = `FETCH_${fault.code.toUpperCase().replaceAll("-", "_")}`;
    this.#context.errors.note({ code, text: fault.text, partition: this.partition, last: `offset ${fault.position}` });
    this.dispatch({ event: "fetch-fault", position: fault.position, fault: kind, detail: fault.text });
  }

  /** Takes the answer of a regular reading of the bounds that began when `before` was true. */
  observe(answer: BoundsAnswer, before: ReturnType<typeof knownBounds>): void {
    if (!answer.known) return;
    this.dispatch({ event: "bounds", logStart: answer.logStart, end: answer.end, asked: false, before });
  }

  /** A commit was confirmed by the broker. */
  committed(offset: Offset): void {
    this.dispatch({ event: "committed", offset });
    this.#effects.confirmCommit();
  }

  drain(): void {
    this.dispatch({ event: "drain" });
    this.#effects.rest();
  }

  revoke(): void {
    this.dispatch({ event: "revoked" });
    this.forget([...this.work.keys()]);
    this.#effects.end();
  }

  /** Feeds the machine; effects may raise further events, which wait their turn. */
  dispatch(event: PartitionEvent): void {
    this.#queue.push(event);
    if (this.#queue.length > 1) return;
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      try {
        this.#apply(next);
      } finally {
        this.#queue.shift();
      }
    }
  }

  #apply(event: PartitionEvent): void {
    const before = this.#state;
    let result;
    try {
      result = step(before, event);
    } catch (error) {
      if (!(error instanceof InvariantViolation)) throw error;
      this.#context.logger.error({ ...this.#ids(), code: error.code }, error.message);
      result = step(before, { event: "halt", stop: { code: "INVARIANT_BROKEN", detail: error.message } });
    }
    this.#state = result.state;
    this.#dropSettled(before);
    if (before.phase.phase !== result.state.phase.phase) this.#changed(before, event);
    for (const effect of result.effects) this.#carryOut(effect);
  }

  /** An adapter that throws must not keep the other effects, or the events behind this one, from happening. */
  #carryOut(effect: PartitionEffect): void {
    try {
      this.#effects.carryOut(effect);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.#context.errors.note({
        code: "EFFECT_FAILED",
        text: `${effect.effect}: ${text}`,
        ...this.#ids(),
        fields: { error },
        level: "error",
      });
    }
  }

  /** Batches that left the machine's list (acknowledged prefix, dropped) give their memory back. */
  #dropSettled(before: PartitionState): void {
    if (before.inFlight === this.#state.inFlight) return;
    const kept = new Set(this.#state.inFlight.map((entry) => entry.seq));
    this.forget(before.inFlight.map((entry) => entry.seq).filter((seq) => !kept.has(seq)));
  }

  #changed(before: PartitionState, event: PartitionEvent): void {
    const heldMs = this.#context.clock.now() - this.#since;
    this.#since = this.#context.clock.now();
    const { phase } = this.#state;
    const { partition } = this;
    const { epoch, errors, logger } = this.#context;
    const fields = { epoch, from: before.phase.phase, to: phase.phase, event: event.event };
    if (phase.phase === "stopped") {
      const { code, detail } = phase.stop;
      errors.note({ code, text: detail, partition, fields, level: "error", eachPartition: true });
    } else if (phase.phase === "holding" && event.event !== "write-failed") {
      // A write that failed was noted with its attempt.
      errors.note({ ...phase.cause, partition, fields });
    } else logger.debug({ partition, ...fields }, "partition changed");
    const held = causeOfHold(before);
    if (held === undefined || (phase.phase !== "running" && phase.phase !== "verifying")) return;
    const over = { ...fields, held: held.cause.code, heldMs, attempts: held.attempts };
    errors.over({ code: "HOLD_OVER", text: "a partition goes on that was held", partition, fields: over });
  }

  forget(seqs: readonly number[]): void {
    for (const seq of seqs) {
      this.work.get(seq)?.release();
      this.work.delete(seq);
    }
  }

  #ids() {
    return { partition: this.partition, epoch: this.#context.epoch };
  }
}

/** Why the partition waited, a start that could not gather its facts included. */
function causeOfHold({ phase }: PartitionState): { readonly cause: Cause; readonly attempts: number } | undefined {
  if (phase.phase !== "holding" && phase.phase !== "starting") return undefined;
  return phase.cause === undefined ? undefined : { cause: phase.cause, attempts: phase.attempts };
}
