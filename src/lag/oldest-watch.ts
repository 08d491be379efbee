import type { Oldest } from "../core/lag.ts";
import type { Offset } from "../core/offset.ts";
import { type RecordSource, SourceFault } from "../ports/record-source.ts";

/** Asked for first: the first batch comes whole, and more is not needed where it holds a record. */
const FIRST_BYTES = 4_096;

/** Asked for where a stretch holds nothing that is delivered: aborted transactions may be long. */
const FURTHER_BYTES = 262_144;

/** Reads of one partition in one round; a longer stretch of nothing is gone on with in the next. */
const READS_MAX = 8;

/** Partitions that are read at once. */
const AT_ONCE = 2;

/** A partition whose oldest unprocessed record is wanted: the first one delivered at or above `at` and below `end`. */
export interface Wanted {
  readonly partition: number;
  readonly at: Offset;
  readonly logStart: Offset;
  readonly end: Offset;
}

interface Found {
  readonly at: Offset;
  readonly answer: Oldest;
  /** Nothing is delivered from `at` up to here. */
  readonly upTo: Offset;
}

const NOT_READ: Oldest = { oldest: "unknown", cause: "oldest-record-not-read" };

/**
 * Reads the record that a partition waits at, where nothing of it is in flight: once for each place, not at each question.
 * Knows nothing of group or positions.
 */
export class OldestWatch {
  readonly #source: Pick<RecordSource, "read">;
  #found: ReadonlyMap<number, Found> = new Map();

  constructor(source: Pick<RecordSource, "read">) {
    this.#source = source;
  }

  /** What was read at `at`; unknown when that is not the place that was read last. */
  at(partition: number, at: Offset): Oldest {
    const found = this.#found.get(partition);
    return found?.at === at ? found.answer : NOT_READ;
  }

  /** Reads what is wanted and not known yet; what is not wanted is forgotten. A fault of the broker is an answer. */
  async round(wanted: readonly Wanted[]): Promise<void> {
    const kept = wanted.flatMap(({ partition, at }) => {
      const found = this.#found.get(partition);
      return found?.at === at ? [[partition, found] as const] : [];
    });
    const found = new Map(kept);
    this.#found = found;
    const waiting = [...wanted];
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        found.set(next.partition, await this.#read(next, found.get(next.partition)));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  async #read({ partition, at, logStart, end }: Wanted, known: Found | undefined): Promise<Found> {
    if (known?.answer.oldest === "record" && logStart <= at) return known;
    let from = Math.max(known?.upTo ?? at, at, logStart);
    try {
      for (let reads = 0; reads < READS_MAX && from < end; reads += 1) {
        const read = await this.#source.read(partition, from, reads === 0 ? FIRST_BYTES : FURTHER_BYTES);
        if (read.read === "out-of-range") return { at, answer: unknown("out-of-range"), upTo: from };
        if (read.read === "fault") return { at, answer: unknown(read.code), upTo: from };
        const { batch } = read;
        if (batch.count > 0) {
          return { at, answer: { oldest: "record", timestampMs: batch.timestampAt(0) }, upTo: from };
        }
        // A log that ends below the last reading of its end: the next round knows it better.
        if (batch.next <= from) break;
        from = batch.next;
      }
    } catch (error) {
      if (!(error instanceof SourceFault)) throw error;
      return { at, answer: unknown(error.code), upTo: from };
    }
    return { at, answer: from >= end ? { oldest: "nothing", upTo: from } : NOT_READ, upTo: from };
  }
}

function unknown(cause: string): Oldest {
  return { oldest: "unknown", cause };
}
