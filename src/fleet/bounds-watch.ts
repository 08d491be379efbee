import { knownBounds } from "../core/partition/range.ts";
import type { Clock } from "../ports/clock.ts";
import { type BoundsAnswer, type RecordSource, SourceFault } from "../ports/record-source.ts";
import type { PartitionRunner } from "./partition-runner.ts";

/** The last regular reading of the log's bounds. `measuredAt` is when it began: what came later is not in it. */
export interface BoundsReadings {
  readonly measuredAt: number;
  readonly answers: ReadonlyMap<number, BoundsAnswer>;
  /** Why there is no reading now, as a stable word: `topic-missing`, `broker-unreachable`, `not-measured` … */
  readonly failure: string | undefined;
}

/** Reads the bounds of a source's log and tells them to its runners. */
export class BoundsWatch {
  readonly #source: RecordSource;
  readonly #clock: Clock;
  #readings: BoundsReadings = { measuredAt: 0, answers: new Map(), failure: "not-measured" };

  constructor(source: RecordSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  get readings(): BoundsReadings {
    return this.#readings;
  }

  /** Reads once. `runners`: those of the moment, asked for before and after. @throws SourceFault, after it is in `readings` */
  async read(runners: () => ReadonlyMap<number, PartitionRunner>): Promise<void> {
    const measuredAt = this.#clock.now();
    const before = [...runners().values()].map((runner) => ({ runner, known: knownBounds(runner.state) }));
    try {
      const answers = await this.#source.bounds();
      this.#readings = { measuredAt, answers, failure: undefined };
      for (const { runner, known } of before) {
        const answer = answers.get(runner.partition);
        // Told to the runner that was asked about, not to the one that took its place: that may read another log.
        if (answer !== undefined) runner.observe(answer, known);
      }
    } catch (error) {
      const failure = error instanceof SourceFault ? error.code : "unavailable";
      // Of a topic that is gone no bounds are known any more; those of one that cannot be asked may still be true.
      const answers = failure === "topic-missing" ? new Map<number, BoundsAnswer>() : this.#readings.answers;
      this.#readings = { ...this.#readings, answers, failure };
      throw error;
    }
  }
}
