import type { Clock } from "../../../src/ports/clock.ts";

const QUIET_MS = 60_000;
const KEYS_MAX = 100;

/** Decides which of many equal log lines to write: the first, then one a minute with the count of those left out. */
export class Repeats {
  readonly #clock: Clock;
  readonly #seen = new Map<string, { writtenAt: number; held: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined when the line is not to be written, else how many like it were left out since the last one. */
  note(key: string): number | undefined {
    const now = this.#clock.monotonic();
    const before = this.#seen.get(key);
    if (before !== undefined && now - before.writtenAt < QUIET_MS) {
      before.held += 1;
      return undefined;
    }
    if (this.#seen.size >= KEYS_MAX) this.#seen.clear();
    this.#seen.set(key, { writtenAt: now, held: 0 });
    return before?.held ?? 0;
  }
}
