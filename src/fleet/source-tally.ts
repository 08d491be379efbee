/** What was done with records. */
export interface RunnerCounts {
  delivered: number;
  written: number;
  deadLettered: number;
  folded: number;
}

/** Nothing done yet. */
export function noCounts(): RunnerCounts {
  return { delivered: 0, written: 0, deadLettered: 0, folded: 0 };
}

/**
 * What this process has done for one source, over all assignments and all definitions: its numbers never go down while the
 * process lives, whatever is rebuilt.
 */
export class SourceTally {
  readonly #totals = noCounts();
  readonly #letters = new Map<string, number>();
  readonly #crossings = { sampled: 0, lost: 0 };

  get totals(): Readonly<RunnerCounts> {
    return this.#totals;
  }

  /** Confirmed dead letters by the code of their fault. */
  get letters(): ReadonlyMap<string, number> {
    return this.#letters;
  }

  /** Writes that were looked at after they were acknowledged, and how many had lost to another partition's. */
  get crossings(): { readonly sampled: number; readonly lost: number } {
    return this.#crossings;
  }

  sampled(count: number): void {
    this.#crossings.sampled += count;
  }

  crossed(): void {
    this.#crossings.lost += 1;
  }

  add(name: keyof RunnerCounts, count: number): void {
    this.#totals[name] += count;
  }

  /** A dead letter was confirmed. */
  letter(code: string): void {
    this.#letters.set(code, (this.#letters.get(code) ?? 0) + 1);
  }
}
