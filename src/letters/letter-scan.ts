import type { Offset } from "../core/offset.ts";
import { StreamsError } from "../errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { LetterReader, OriginFilter, StoredLetter } from "../ports/letters.ts";
import type { LogBounds } from "../ports/record-source.ts";
import { OriginTable } from "./origin-table.ts";

/** Distinct origins that one question about dead letters may be about. */
export const LETTER_ORIGINS_MAX = 500_000;

/** Asked for at once. */
export const LETTER_READ_BYTES = 1_048_576;

/** What a scan is of. */
export interface ScanOf {
  readonly source: string;
  readonly topic: string;
  /** Letters of these origins; of all without. */
  readonly ranges?: readonly OriginFilter[];
}

/** How much one request may look at; shared by all that it does. */
export class LookBudget {
  readonly #clock: Clock;
  readonly #until: number;
  #bytes: number;

  constructor(clock: Clock, bytes: number, ms: number) {
    this.#clock = clock;
    this.#until = clock.monotonic() + ms;
    this.#bytes = bytes;
  }

  get spent(): boolean {
    return this.#bytes <= 0 || this.#clock.monotonic() >= this.#until;
  }

  spend(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/**
 * Goes through a dead-letter topic once, from its start to its end, and knows which letter stands for each origin. As long as
 * it has not reached the end nobody knows that of any: a later letter may have a higher attempt. Goes on where it was.
 */
export class LetterScan {
  readonly of: ScanOf;
  readonly table = new OriginTable(LETTER_ORIGINS_MAX);
  readonly startedAt: number;
  readonly #reader: LetterReader;
  /** Next to look at, by partition of the dead-letter topic. */
  readonly #next = new Map<number, Offset>();
  #turn: Promise<void> = Promise.resolve();

  constructor(reader: LetterReader, of: ScanOf, nowMs: number) {
    this.#reader = reader;
    this.of = of;
    this.startedAt = nowMs;
  }

  /** Up to where everything was looked at. */
  reached(partition: number): Offset {
    return this.#next.get(partition) ?? 0;
  }

  /** How far it is: offsets looked at, of those that the bounds hold. */
  looked(bounds: ReadonlyMap<number, LogBounds>): { readonly records: number; readonly of: number } {
    let [records, of] = [0, 0];
    for (const [partition, { logStart, end }] of bounds) {
      of += end - logStart;
      records += Math.min(Math.max(this.reached(partition) - logStart, 0), end - logStart);
    }
    return { records, of };
  }

  complete(bounds: ReadonlyMap<number, LogBounds>): boolean {
    return [...bounds].every(([partition, { logStart, end }]) => end <= logStart || this.reached(partition) >= end);
  }

  /** Whether the topic is another one than it went through: its end is below that. */
  outlived(bounds: ReadonlyMap<number, LogBounds>): boolean {
    return [...this.#next].some(([partition, next]) => next > (bounds.get(partition)?.end ?? 0));
  }

  /** Goes on towards the ends until the budget is spent. @throws SourceFault; StreamsError DEAD_LETTERS_TOO_MANY, RECORD_UNREADABLE */
  advance(bounds: ReadonlyMap<number, LogBounds>, budget: LookBudget): Promise<void> {
    const turn = this.#turn.then(() => this.#advance(bounds, budget));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #advance(bounds: ReadonlyMap<number, LogBounds>, budget: LookBudget): Promise<void> {
    const { topic } = this.of;
    for (const [partition, { logStart, end }] of bounds) {
      let next = Math.max(this.reached(partition), logStart);
      while (next < end && !budget.spent) {
        const read = await readLetters(this.#reader, topic, partition, next);
        if (read === undefined || read.next <= next) break;
        for (const letter of read.letters) if (letter.place.offset < end) this.#note(letter);
        budget.spend(read.bytes);
        // What lies behind the end is looked at when it is asked for: the ends may be those of a job.
        next = Math.min(read.next, end);
        this.#next.set(partition, next);
      }
    }
  }

  #note(letter: StoredLetter): void {
    if (!isOf(letter, this.of) || this.table.note(letter)) return;
    throw new StreamsError(
      "DEAD_LETTERS_TOO_MANY",
      `${this.of.topic} holds letters of more than ${LETTER_ORIGINS_MAX} records that the question is about`,
    );
  }
}

/** Whether a letter is one of those that a scan is of. */
export function isOf({ source, partition, offset }: StoredLetter, of: ScanOf): boolean {
  if (source !== of.source) return false;
  const within = ({ partition: wanted = partition, from = 0, to = Infinity }: OriginFilter) =>
    partition === wanted && offset >= from && offset < to;
  return of.ranges === undefined || of.ranges.some(within);
}

/** One stretch; undefined where retention has passed it. @throws SourceFault; StreamsError RECORD_UNREADABLE */
export async function readLetters(reader: LetterReader, topic: string, partition: number, from: Offset) {
  const read = await reader.read(topic, partition, from, LETTER_READ_BYTES);
  if (read.read === "letters") return read;
  if (read.read === "out-of-range") return undefined;
  throw new StreamsError(
    "RECORD_UNREADABLE",
    `what partition ${partition} of ${topic} holds at offset ${from} cannot be read: ${read.code}`,
  );
}
