import { type CountedRecords, indexAtOrAbove } from "../counting/count-records.ts";
import type { Offset } from "../offset.ts";

/** When poison is a bad deploy and not bad records (section 8 of the contract). */
export interface BreakerLimits {
  /** This many records in a row that cannot be applied stop the partition. */
  readonly run: number;
  /** This share of a window, in percent, stops it. */
  readonly sharePercent: number;
  /** Records in a window: the last so many that were delivered. */
  readonly window: number;
}

/**
 * Counts poison of one partition record by record, in the order of the log, so that its verdict does not depend on how the
 * log was cut into batches. What is read again (a hold, a rejoin of the reader) was counted before and is not counted
 * twice. It begins empty with each life of the partition, and again behind an `allowPoison`.
 */
export class PoisonBreaker {
  readonly #limits: BreakerLimits;
  /** The last `window` records, 1 for poison. */
  readonly #ring: Uint8Array;
  #at = 0;
  #seen = 0;
  #poison = 0;
  #run = 0;
  /** Everything below was counted. */
  #next: Offset = 0;

  constructor(limits: BreakerLimits) {
    this.#limits = limits;
    this.#ring = new Uint8Array(limits.window);
  }

  /** A record that was applied. */
  applied(offset: Offset): void {
    if (offset < this.#next) return;
    this.#next = offset + 1;
    this.#run = 0;
    this.#note(0);
  }

  /** Records that were applied: those of a batch from index `from` to `to`, the latter excluded. As one by one, and faster. */
  appliedRun(records: Pick<CountedRecords, "count" | "offsetAt">, from: number, to: number): void {
    const first = Math.max(from, indexAtOrAbove(records, this.#next));
    if (first >= to) return;
    this.#next = records.offsetAt(to - 1) + 1;
    this.#run = 0;
    const window = this.#ring.length;
    if (this.#poison === 0) {
      this.#at = (this.#at + to - first) % window;
      this.#seen = Math.min(this.#seen + to - first, window);
    } else for (let left = Math.min(to - first, window); left > 0; left -= 1) this.#note(0);
  }

  /** A record that cannot be applied. Returns why the partition must stop at it, undefined when it need not. */
  poison(offset: Offset): string | undefined {
    if (offset < this.#next) return undefined;
    const { run, sharePercent, window } = this.#limits;
    if (this.#run + 1 >= run) return `${run} records in a row cannot be applied`;
    const leaving = this.#seen < window ? 0 : (this.#ring[this.#at] ?? 0);
    const share = this.#poison - leaving + 1;
    if (this.#seen + 1 >= window && share * 100 >= sharePercent * window) {
      return `${share} of ${window} records cannot be applied`;
    }
    this.#next = offset + 1;
    this.#run += 1;
    this.#note(1);
    return undefined;
  }

  #note(poison: 0 | 1): void {
    this.#poison += poison - (this.#ring[this.#at] ?? 0);
    this.#ring[this.#at] = poison;
    this.#at = (this.#at + 1) % this.#ring.length;
    this.#seen = Math.min(this.#seen + 1, this.#ring.length);
  }
}
