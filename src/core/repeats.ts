/** How long a line that was written keeps its equals back. */
export const QUIET_MS = 60_000;

/** Keys that are remembered; beyond them the one that was written longest ago is forgotten. */
const KEYS_MAX = 200;

/** Decides which of many equal log lines to write: the first, then one a minute with the count of those left out. */
export class Repeats {
  readonly #seen = new Map<string, { readonly writtenAt: number; held: number }>();

  /**
   * Undefined when the line is not to be written, else how many like it were left out since the last one.
   * @param nowMs by a clock that does not go back
   */
  note(key: string, nowMs: number): number | undefined {
    const before = this.#seen.get(key);
    if (before !== undefined && nowMs - before.writtenAt < QUIET_MS) {
      before.held += 1;
      return undefined;
    }
    this.#seen.delete(key);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size >= KEYS_MAX && oldest !== undefined) this.#seen.delete(oldest);
    this.#seen.set(key, { writtenAt: nowMs, held: 0 });
    return before?.held ?? 0;
  }
}
