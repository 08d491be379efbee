/** Memory bounds it: each change may dirty a page of its own, which LMDB keeps in memory until the commit. */
const CHANGES_MAX = 32_768;
/** Below this a transaction costs what it costs, and a disk that syncs slowly would only get more of them. */
const CHANGES_MIN = 2_048;
/** A transaction that takes longer than this was too large: whoever reads waits for it, and its owner may look stalled. */
const LONG_MS = 800;
/** One that takes less may become larger: the larger, the less a change costs. */
const SHORT_MS = 400;

/** How many changes a transaction of an owner may make, by what its disk has shown. */
export class TransactionSize {
  #changes = CHANGES_MIN;

  /** Changes at most. */
  get changes(): number {
    return this.#changes;
  }

  /** A transaction of so many changes took so many milliseconds until it was flushed. */
  took(changes: number, ms: number): void {
    if (ms > LONG_MS) {
      const fitting = Math.floor((changes * SHORT_MS) / ms);
      this.#changes = Math.max(CHANGES_MIN, Math.min(this.#changes, fitting));
    } else if (ms < SHORT_MS && changes >= this.#changes) {
      this.#changes = Math.min(CHANGES_MAX, this.#changes * 2);
    }
  }
}
