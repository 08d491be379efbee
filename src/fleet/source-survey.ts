import { BindingRecord, StopRecord, recordNames } from "../control/records.ts";
import { PausesRecord } from "../control/log-records.ts";
import { readRecord } from "../control/json-record.ts";
import { copyKey } from "../core/keys.ts";
import type { Offset } from "../core/offset.ts";
import type { Stop } from "../core/partition/stop.ts";
import { NO_PAUSES, type Pauses } from "../core/pause/pause.ts";
import { type Binding, logOf, topicEpochOf } from "../core/topic/binding.ts";
import type { Clock } from "../ports/clock.ts";
import type { KvPlane } from "../ports/kv-plane.ts";

/** More stops than any topic has partitions. */
const STOPS_MAX = 100_000;

/** A stop that the store holds and that is not void. */
export interface StoredStop {
  readonly stop: Stop;
  readonly since: number;
}

/** How far a partition was applied by whoever had it, and when that was read from the store. */
export interface StoredCopy {
  readonly watermark: Offset;
  readonly readAt: number;
}

/**
 * What the store last said of a source's partitions, whoever runs them: the binding, the stops, and how far those got that
 * are not run here. A stop must be seen also while this process does not run its partition: the broker is away, another
 * member has it, the consumer backs off. While the store is away the last answer stands.
 */
export class SourceSurvey {
  readonly #source: string;
  readonly #plane: KvPlane;
  readonly #clock: Clock;
  #binding: Binding | undefined;
  #pauses: Pauses = NO_PAUSES;
  #stops: ReadonlyMap<number, StoredStop> = new Map();
  #copies: ReadonlyMap<number, StoredCopy> = new Map();
  #round: Promise<void> | undefined;

  constructor(source: string, plane: KvPlane, clock: Clock) {
    this.#source = source;
    this.#plane = plane;
    this.#clock = clock;
  }

  /** Partitions that the topic had when the source was last bound; 0 before its first start. */
  get partitions(): number {
    return this.#binding?.epochs.at(-1)?.partitions ?? 0;
  }

  get #bound(): readonly number[] {
    return Array.from({ length: this.partitions }, (_unused, partition) => partition);
  }

  topicEpochOf(partition: number): number {
    return this.#binding === undefined ? 0 : (topicEpochOf(this.#binding, partition) ?? 0);
  }

  /** Every pause of the source, as the store last said; whether one still holds is a matter of the clock. */
  get pauses(): Pauses {
    return this.#pauses;
  }

  stopOf(partition: number): StoredStop | undefined {
    return this.#stops.get(partition);
  }

  copyOf(partition: number): StoredCopy | undefined {
    return this.#copies.get(partition);
  }

  /**
   * Reads anew, or joins the reading under way. `running`: partitions that this process runs and knows better.
   * @throws KvFault; InvariantViolation on foreign records
   */
  refresh(running: ReadonlySet<number>): Promise<void> {
    this.#round ??= this.#read(running).finally(() => {
      this.#round = undefined;
    });
    return this.#round;
  }

  /** Reads the pauses alone, anew. @throws KvFault; InvariantViolation on foreign records */
  async refreshPauses(): Promise<void> {
    const stored = await readRecord(this.#plane.control, recordNames.pauses(this.#source), PausesRecord);
    this.#pauses = stored?.value ?? NO_PAUSES;
  }

  async #read(running: ReadonlySet<number>): Promise<void> {
    const { control } = this.#plane;
    this.#binding = (await readRecord(control, recordNames.binding(this.#source), BindingRecord))?.value;
    await this.refreshPauses();
    const log = this.#binding === undefined ? 0 : logOf(this.#binding);
    const names = new Set(await control.list(recordNames.stops(this.#source), STOPS_MAX));
    const named = this.#bound.filter((partition) => names.has(recordNames.stop(this.#source, partition, log)));
    const recorded = await Promise.all(
      named.map(async (partition) => {
        const record = await readRecord(control, recordNames.stop(this.#source, partition, log), StopRecord);
        return { partition, record: record?.value };
      }),
    );
    // After the stops: a copy never goes down, so a stop that it makes void stays void.
    const copies = await this.#readCopies(
      recorded.map(({ partition }) => partition),
      running,
    );
    const stops = new Map<number, StoredStop>();
    for (const { partition, record } of recorded) {
      const stop = record?.stop ?? null;
      if (record === undefined || stop === null) continue;
      if ((copies.get(partition)?.watermark ?? 0) <= record.reach) stops.set(partition, { stop, since: record.since });
    }
    this.#stops = stops;
    this.#copies = copies;
  }

  async #readCopies(
    stopped: readonly number[],
    running: ReadonlySet<number>,
  ): Promise<ReadonlyMap<number, StoredCopy>> {
    const wanted = [...new Set([...stopped, ...this.#bound.filter((partition) => !running.has(partition))])];
    if (wanted.length === 0) return new Map();
    const readAt = this.#clock.now();
    const cells = await this.#plane.restore(
      wanted.map((partition) => ({
        space: "copy",
        key: copyKey(this.#source, this.topicEpochOf(partition), partition),
      })),
    );
    const copies = new Map<number, StoredCopy>();
    wanted.forEach((partition, index) => {
      const cell = cells[index];
      if (cell !== undefined) copies.set(partition, { watermark: cell.order - 1, readAt });
    });
    return copies;
  }
}
