import { BindingRecord, recordNames, StartRecordSchema } from "../control/records.ts";
import { readRecord } from "../control/json-record.ts";
import type { LagStanding, Oldest } from "../core/lag.ts";
import type { Offset } from "../core/offset.ts";
import type { RetentionFacts } from "../core/retention.ts";
import { rateOfStart, type StartReading, withStart } from "../core/time-to-loss.ts";
import { logOf } from "../core/topic/binding.ts";
import type { SourceService } from "../fleet/source-service.ts";
import { standing } from "../fleet/standing.ts";
import { SourceFault } from "../ports/record-source.ts";
import { OldestWatch, type Wanted } from "./oldest-watch.ts";

/** A topic's retention is changed by people: it is read anew this often. */
const RETENTION_EVERY_MS = 60_000;

/**
 * What lag needs beside the bounds of a source's log, read once for each of their readings: the record that each partition
 * waits at, where a partition without any commit begins, how fast the log starts move, and the topic's retention.
 */
export class LagWatch {
  readonly #service: SourceService;
  readonly #oldest: OldestWatch;
  #starts: ReadonlyMap<number, readonly StartReading[]> = new Map();
  #begins: ReadonlyMap<number, Offset> = new Map();
  /** The group's committed offsets at the end of the last round, and of the one before it. */
  #committed: ReadonlyMap<number, Offset> = new Map();
  #committedBefore: ReadonlyMap<number, Offset> = new Map();
  /** In the same way how far the copies were of the partitions that are not run here. */
  #copied: ReadonlyMap<number, Offset> = new Map();
  #copiedBefore: ReadonlyMap<number, Offset> = new Map();
  #retention: RetentionFacts | { readonly unknown: string } = { unknown: "not-measured" };
  #retentionAt: number | undefined;
  #round: Promise<void> | undefined;

  constructor(service: SourceService) {
    this.#service = service;
    this.#oldest = new OldestWatch(service.parts.source);
  }

  /** The topic's retention, or why it is unknown. */
  get retention(): RetentionFacts | { readonly unknown: string } {
    return this.#retention;
  }

  /** Offsets a millisecond by which a partition's log start moves; undefined while not known. */
  rateOf(partition: number): number | undefined {
    return rateOfStart(this.#starts.get(partition) ?? []);
  }

  /** Where a partition stands, whoever runs it; undefined when nothing is known of it. */
  standingOf(partition: number): LagStanding | undefined {
    const known = standing(this.#service, partition);
    if (known !== undefined) return known.basis === "committed" ? this.#asMeasured(partition, known.at) : known;
    const begins = this.#begins.get(partition);
    return begins === undefined ? undefined : { at: begins, basis: "start" };
  }

  /**
   * The committed offset is read after the end, so it may be ahead of it while records flow:
   *
   * 1. the end is read, 100, and the group has committed 90;
   * 2. the partition's owner commits 120;
   * 3. the committed offset is read: everything that was in the log at 1 is processed.
   *
   * One that was ahead of the end before the end was read is another matter: the log has lost what was committed.
   */
  #asMeasured(partition: number, committed: Offset): LagStanding {
    const answer = this.#service.readings.answers.get(partition);
    const end = answer?.known === true ? answer.end : committed;
    const before = this.#committedBefore.get(partition);
    const at = committed > end && before !== undefined && before <= end ? end : committed;
    return { at, basis: "committed" };
  }

  /**
   * Whether the log ends below what was applied of a partition that is not run here: the copy was read before the end was,
   * and Kafka deletes committed offsets with their topic, so these alone would speak of a log that is read from its start.
   */
  hasLost(partition: number): boolean {
    const { readings } = this.#service;
    const answer = readings.failure === undefined ? readings.answers.get(partition) : undefined;
    return answer?.known === true && answer.end < (this.#copiedBefore.get(partition) ?? 0);
  }

  /** The oldest unprocessed record of a partition that stands at `at`: in flight, or as it was read there. */
  oldestOf(partition: number, at: Offset): Oldest {
    const flying = this.#service.runners.get(partition)?.oldestInFlight;
    if (flying !== undefined) return { oldest: "record", timestampMs: flying.timestampMs };
    return this.#oldest.at(partition, at);
  }

  /** Reads what is missing, or joins the round under way. @throws KvFault; InvariantViolation on foreign records */
  round(): Promise<void> {
    this.#round ??= this.#read().finally(() => {
      this.#round = undefined;
    });
    return this.#round;
  }

  async #read(): Promise<void> {
    this.#noteStarts();
    this.#noteCommitted();
    await this.#readRetention();
    await this.#readBegins();
    await this.#oldest.round(this.#wanted());
  }

  #noteStarts(): void {
    const { readings, parts } = this.#service;
    if (readings.failure !== undefined) return;
    const atMs = parts.clock.monotonic();
    const known = [...readings.answers].flatMap(([partition, answer]) =>
      answer.known ? [[partition, answer.logStart] as const] : [],
    );
    const noted = known.map(
      ([partition, logStart]) => [partition, withStart(this.#starts.get(partition) ?? [], { atMs, logStart })] as const,
    );
    this.#starts = new Map([...this.#starts, ...noted]);
  }

  #noteCommitted(): void {
    const { partitions } = this.#service;
    this.#committedBefore = this.#committed;
    this.#committed = new Map(
      partitions.flatMap((partition) => {
        const committed = this.#service.committedOf(partition);
        return committed === undefined ? [] : [[partition, committed] as const];
      }),
    );
    this.#copiedBefore = this.#copied;
    this.#copied = new Map(
      partitions.flatMap((partition) => {
        const copy = this.#service.parts.survey.copyOf(partition);
        return copy === undefined ? [] : [[partition, copy.watermark] as const];
      }),
    );
  }

  async #readRetention(): Promise<void> {
    const { source, clock } = this.#service.parts;
    const now = clock.monotonic();
    if (this.#retentionAt !== undefined && now - this.#retentionAt < RETENTION_EVERY_MS) return;
    try {
      this.#retention = await source.retention();
      this.#retentionAt = now;
    } catch (error) {
      if (!(error instanceof SourceFault)) throw error;
      this.#retention = { unknown: `retention-${error.code}` };
    }
  }

  /** A partition that nobody has committed begins at its start record; without one, at the log start if all is wanted. */
  async #readBegins(): Promise<void> {
    const { readings, partitions, parts, name } = this.#service;
    const without = partitions.filter((partition) => standing(this.#service, partition) === undefined);
    const begins = new Map<number, Offset>();
    if (without.length > 0) {
      const { control } = parts.plane;
      const binding = (await readRecord(control, recordNames.binding(name), BindingRecord))?.value;
      const log = binding === undefined ? 0 : logOf(binding);
      const firstStart = binding?.firstStart ?? parts.inForce.definition.startFrom;
      for (const partition of without) {
        const record = await readRecord(control, recordNames.start(name, partition, log), StartRecordSchema);
        const answer = readings.answers.get(partition);
        const logStart = answer?.known === true && firstStart === "earliest" ? answer.logStart : undefined;
        const from = record?.value.from ?? logStart;
        if (from !== undefined) begins.set(partition, from);
      }
    }
    this.#begins = begins;
  }

  #wanted(): readonly Wanted[] {
    const { readings, partitions, runners } = this.#service;
    if (readings.failure !== undefined) return [];
    return partitions.flatMap((partition): readonly Wanted[] => {
      const answer = readings.answers.get(partition);
      const at = this.standingOf(partition)?.at;
      if (answer?.known !== true || at === undefined || at >= answer.end) return [];
      if (runners.get(partition)?.oldestInFlight !== undefined) return [];
      return [{ partition, at, logStart: answer.logStart, end: answer.end }];
    });
  }
}
