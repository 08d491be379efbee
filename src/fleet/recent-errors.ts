import { Repeats } from "../core/repeats.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";

/** A kind of failure of a source as its status shows it. */
export interface RecentError {
  /** When it happened last. */
  readonly at: number;
  readonly firstAt: number;
  readonly count: number;
  readonly code: string;
  readonly text: string;
}

/** One failure, without any of a record's content. */
export interface Failure {
  readonly code: string;
  /** The same for the same failure, wherever and how often it happens: what varies has members of its own. */
  readonly text: string;
  readonly partition?: number;
  /** What was thrown: those who asked together share it, and one failure that many partitions meet counts once. */
  readonly error?: unknown;
  /** What distinguishes this one from its equals, such as `offset 17`. */
  readonly last?: string;
  /** Further fields of the log line. */
  readonly fields?: object;
  readonly level?: "warn" | "error";
  /** A line for each partition instead of one for the source. */
  readonly eachPartition?: boolean;
}

interface Kept {
  readonly code: string;
  readonly text: string;
  readonly firstAt: number;
  at: number;
  count: number;
  last: string | undefined;
  readonly partitions: Set<number>;
}

/** How many kinds of failure are kept. */
const KEPT = 20;

/** How many partitions a text names. */
const NAMED = 8;

/** How many partitions of one failure are remembered. */
const PARTITIONS_MAX = 1_000;

/**
 * The last failures of a source, for its status and for the log. Equal ones are one entry with a count. The log gets the
 * first of each code, then at most one line a minute with the number of those left out: an outage must not bury what else
 * happens during it.
 */
export class RecentErrors {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #repeats = new Repeats();
  readonly #counted = new WeakSet<object>();
  /** The one that happened last is the last one. */
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Notes a failure, and logs it when a line is due. */
  note(failure: Failure): void {
    this.#keep(failure);
    const { code, text, partition, last, fields, level = "warn", eachPartition = false } = failure;
    const repeated = this.#repeats.note(eachPartition ? `${code} ${partition}` : code, this.#clock.monotonic());
    if (repeated === undefined) return;
    this.#logger[level](
      {
        ...fields,
        code,
        ...(partition === undefined ? {} : { partition }),
        ...(last === undefined ? {} : { last }),
        ...(repeated === 0 ? {} : { repeated }),
      },
      text,
    );
  }

  /** What was noted is over, or part of it: an information for the log, at the same pace, and no entry. */
  over({ code, text, partition, fields }: Pick<Failure, "code" | "text" | "partition" | "fields">): void {
    const repeated = this.#repeats.note(`over ${code}`, this.#clock.monotonic());
    if (repeated === undefined) return;
    const where = partition === undefined ? {} : { partition };
    this.#logger.info({ ...fields, code, ...where, ...(repeated === 0 ? {} : { repeated }) }, text);
  }

  /** Newest first. */
  list(): readonly RecentError[] {
    return [...this.#kept.values()]
      .toReversed()
      .map(({ at, firstAt, count, code, ...rest }) => ({ at, firstAt, count, code, text: shown(rest) }));
  }

  #keep({ code, text, partition, last, error }: Failure): void {
    const key = JSON.stringify([code, text]);
    const now = this.#clock.now();
    const kept = this.#kept.get(key) ?? { code, text, firstAt: now, at: now, count: 0, last, partitions: new Set() };
    kept.at = now;
    if (!this.#isCounted(error)) kept.count += 1;
    kept.last = last;
    if (partition !== undefined && kept.partitions.size < PARTITIONS_MAX) kept.partitions.add(partition);
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }

  #isCounted(error: unknown): boolean {
    if (typeof error !== "object" || error === null) return false;
    if (this.#counted.has(error)) return true;
    this.#counted.add(error);
    return false;
  }
}

function shown({ text, partitions, last }: Pick<Kept, "text" | "partitions" | "last">): string {
  const details = last === undefined ? "" : ` (last: ${last})`;
  if (partitions.size === 0) return `${text}${details}`;
  const numbers = [...partitions].toSorted((a, b) => a - b);
  const more = numbers.length > NAMED ? ` and ${numbers.length - NAMED} more` : "";
  const where = `${numbers.length === 1 ? "partition" : "partitions"} ${numbers.slice(0, NAMED).join(", ")}${more}`;
  return `${where}: ${text}${details}`;
}
