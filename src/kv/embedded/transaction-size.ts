/** Pages that a transaction dirties at most, about: LMDB keeps them in memory until the commit. */
const DIRTY_PAGES_MAX = 32_768;
const CHANGES_MAX = 131_072;
/** Below this a transaction costs what it costs, and a disk that syncs slowly would only get more of them. */
const CHANGES_MIN = 2_048;
/** A transaction that takes longer than this was too large: whoever reads waits for it, and its owner may look stalled. */
const LONG_MS = 800;
/** One that takes less may become larger: the larger, the less a change costs. */
const SHORT_MS = 400;

const PAGE_BYTES = 4_096;
/** A key's leaf, and a share of what is above it. */
const PAGES_PER_CHANGE = 2;
/** No packed cell is shorter. */
const CELL_BYTES_MIN = 24;

/** How far behind the end of its store a transaction may come that makes so many changes, with cells of so many bytes. */
export function reachOf(changes: number, bytes: number): number {
  const pages = Math.min(changes, Math.ceil(bytes / CELL_BYTES_MIN)) * PAGES_PER_CHANGE;
  return Math.min(pages, 2 * DIRTY_PAGES_MAX) * PAGE_BYTES + bytes;
}

/** How many changes a transaction of an owner may make, by what its disk has shown and what fits into memory. */
export class TransactionSize {
  #changes = CHANGES_MIN;

  /** Changes at most, in a store of so many pages. */
  changes(pages: number): number {
    if (pages <= DIRTY_PAGES_MAX) return this.#changes;
    // Changes that fall on any page alike dirty pages · (1 − e^(−changes / pages)) of them.
    return Math.min(this.#changes, Math.floor(-pages * Math.log1p(-DIRTY_PAGES_MAX / pages)));
  }

  /** A transaction of so many changes, of as many as it was allowed, took so many milliseconds until it was flushed. */
  took(changes: number, allowed: number, ms: number): void {
    if (ms > LONG_MS) {
      const fitting = Math.floor((changes * SHORT_MS) / ms);
      this.#changes = Math.max(CHANGES_MIN, Math.min(this.#changes, fitting));
    } else if (ms < SHORT_MS && changes >= allowed) {
      this.#changes = Math.min(CHANGES_MAX, this.#changes * 2);
    }
  }
}
