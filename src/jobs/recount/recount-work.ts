import type { SlotWrite } from "../../core/counting/fold-tally.ts";
import { ACTION_KEYS, kindRange, slotSuffix, TRAFFIC_KEYS } from "../../core/counting/keys.ts";
import { SlotCache } from "../../core/counting/slot-cache.ts";
import { invariant } from "../../core/invariant.ts";
import { EMPTY_RECEIPT, type Job, type JobPartition, type JobStep } from "../../core/job/job.ts";
import { EMPTY_COUNTING_LEDGER } from "../../core/ledger/counting-ledger.ts";
import { exchangeRows, type RecountRange } from "../../core/ledger/recount.ts";
import { PoisonBreaker } from "../../core/partition/breaker.ts";
import { inTurns, type Steps } from "../../core/steps.ts";
import { StreamsError } from "../../errors.ts";
import { type CountedBatch, countBatch } from "../../fleet/counted-batch.ts";
import { LetterGaps } from "../../fleet/letter-gaps.ts";
import type { SourceParts } from "../../fleet/source-service.ts";
import type { Verdicts } from "../../fleet/verdicts.ts";
import type { JobWork } from "../../ports/jobs.ts";
import type { RecordBatch } from "../../ports/record-batch.ts";
import { bytesOf, LogStretches } from "../log-stretch.ts";
import { compareSlots } from "./compare-slots.ts";
import type { RecountRangeSpec, RecountSpec } from "../../control/recount-spec.ts";

/** Memory for the slots of one row that is counted again, in bytes. */
const CACHE_BYTES = 32 * 1024 * 1024;

/** A recount's records judge nothing about a deploy: all poison is passed over. */
const NO_BREAKER = { run: Number.MAX_SAFE_INTEGER, sharePercent: 100, window: 1 };

/** What a recount stands on. */
export interface RecountWorkParts {
  readonly source: SourceParts;
  readonly spec: RecountSpec;
  readonly verdicts: Verdicts;
  readonly topicEpochOf: (partition: number) => number;
}

/**
 * Counts rows again from the log into rows of their own, by the steps of a runner: restore, skip, fold, write whole. A crash
 * repeats some of it, and finds it in the slots. Nothing of it is summed before `finish` exchanges the numbers.
 */
export class RecountWork implements JobWork {
  readonly #parts: RecountWorkParts;
  readonly #stretches: LogStretches;
  readonly #breaker = new PoisonBreaker(NO_BREAKER);
  #cache: { readonly range: RecountRangeSpec; readonly slots: SlotCache } | undefined;
  #seq = 0;

  constructor(parts: RecountWorkParts) {
    this.#parts = parts;
    this.#stretches = new LogStretches(parts.source.source);
  }

  async step(entry: JobPartition): Promise<JobStep> {
    const range = this.#rangeOf(entry);
    const stretch = await this.#stretches.next(entry);
    if (stretch.batch === undefined) return stretch.step;
    const { batch, next } = stretch;
    const counted = await this.#inTurns(this.#count(range, batch, entry.next));
    await this.#fold(range, counted, entry.next);
    if (range.exchange) await this.#publish(range.partition, counted);
    const faults = counted.letters.length;
    const good = batch.count - faults;
    const receipt = {
      ...EMPTY_RECEIPT,
      read: batch.count,
      bytes: bytesOf(batch),
      ...(range.exchange ? { applied: good, deadLettered: faults } : { alreadyApplied: good, failed: faults }),
    };
    return { next, receipt };
  }

  /** One write per partition puts the new rows in the place of the old: those of which the log held all. */
  async finish(job: Job): Promise<unknown> {
    const whole = new Set(
      job.partitions.filter(({ state }) => state === "done").map(({ partition, from }) => `${partition}/${from}`),
    );
    const { ranges, log } = this.#parts.spec;
    const ready = ranges.filter(({ partition, row }) => whole.has(`${partition}/${row.from}`));
    const exchanged = ready.filter(({ exchange }) => exchange);
    for (const partition of new Set(exchanged.map((range) => range.partition))) {
      await this.#exchange(
        partition,
        exchanged.filter((range) => range.partition === partition),
      );
    }
    const { definition } = this.#parts.source.inForce;
    const compared = ready.filter(({ exchange }) => !exchange);
    const letter = definition.kind === "traffic" ? TRAFFIC_KEYS : ACTION_KEYS;
    const comparison =
      compared.length === 0
        ? undefined
        : await compareSlots(
            this.#parts.source.plane,
            kindRange(definition.namespace, letter),
            { source: definition.name, log },
            compared,
          );
    const kept = ranges.length - ready.length;
    return { exchanged: exchanged.length, kept, ...(comparison === undefined ? {} : { comparison }) };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #rangeOf({ partition, from }: JobPartition): RecountRangeSpec {
    const range = this.#parts.spec.ranges.find((other) => other.partition === partition && other.row.from === from);
    invariant(range !== undefined, "JOB_SPEC", `the recount has no row of partition ${partition} at ${from}`);
    return range;
  }

  #count({ partition, row }: RecountRangeSpec, batch: RecordBatch, from: number): Steps<CountedBatch> {
    const { source, spec, verdicts, topicEpochOf } = this.#parts;
    const owner = { source: source.inForce.definition.name, partition, log: spec.log, row: row.number };
    const suffix = slotSuffix(owner);
    return countBatch(
      { batch, from, allowPoisonTo: Number.POSITIVE_INFINITY, breaker: this.#breaker },
      {
        ledger: { ...EMPTY_COUNTING_LEDGER, rows: [row] },
        topicEpoch: topicEpochOf(partition),
        verdictOf: (revision) => verdicts.counting(revision),
        suffixOf: () => suffix,
        nowMs: source.clock.now(),
      },
    );
  }

  #inTurns<Result>(steps: Steps<Result>): Promise<Result> {
    return inTurns(steps, () => this.#parts.source.turns.next());
  }

  async #fold(range: RecountRangeSpec, { count }: CountedBatch, position: number): Promise<void> {
    const { plane } = this.#parts.source;
    // Another row has other slots. What a failed step has counted on and not written must not be counted on again.
    const slots = this.#cache?.range === range ? this.#cache.slots : new SlotCache(CACHE_BYTES);
    this.#cache = undefined;
    const keys = await this.#inTurns(count.bind(slots, position));
    const cells = keys.length === 0 ? [] : await plane.restore(keys.map((key) => ({ space: "slot", key })));
    const writes: SlotWrite[] = [];
    this.#seq += 1;
    await this.#inTurns(count.fold(cells, this.#seq, writes));
    if (writes.length > 0) await plane.write(writes);
    slots.acked(this.#seq);
    slots.trim();
    this.#cache = { range, slots };
  }

  async #publish(partition: number, { letters }: CountedBatch): Promise<void> {
    if (letters.length === 0) return;
    const { source, topicEpochOf } = this.#parts;
    const { definition } = source.inForce;
    await source.letters.publish(definition.deadLetterTopic, letters);
    const owner = { source: definition.name, partition };
    await new LetterGaps(source.gaps, owner, topicEpochOf(partition), source.clock).enter(letters);
  }

  async #exchange(partition: number, ranges: readonly RecountRange[]): Promise<void> {
    const { source, spec } = this.#parts;
    const target = { source: source.inForce.definition.name, partition, log: spec.log };
    await source.ledgers.update(target, (ledger) => {
      const exchanged = exchangeRows(ledger, ranges);
      if (!("refused" in exchanged)) return exchanged;
      throw new StreamsError("JOB_RANGE", `partition ${partition}: ${exchanged.refused}`, {
        refused: exchanged.refused,
      });
    });
  }
}
