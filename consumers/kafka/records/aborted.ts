import type { BatchHeader } from "./batch-header.ts";

/** A transaction that the broker lists as aborted in a fetch response. */
export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: number;
}

/**
 * Which batches of one fetch belong to aborted transactions.
 *
 * A transaction is aborted from its first offset to its producer's abort marker. Several may be open at once and may
 * have begun before the fetched position, so every one that has begun by a batch's last offset is active for it; only a
 * control batch of the same producer ends one, never a data record, whatever its key is.
 */
export class AbortedFilter {
  readonly #waiting: AbortedTransaction[];
  readonly #active = new Set<bigint>();

  constructor(aborted: readonly AbortedTransaction[]) {
    this.#waiting = aborted.toSorted((a, b) => a.firstOffset - b.firstOffset);
  }

  /** Call for each batch in log order; `abort`: it is a control batch that aborts. Returns whether to leave it out. */
  drops(header: BatchHeader, abort: boolean): boolean {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (first.firstOffset > header.lastOffset) break;
      this.#active.add(first.producerId);
      this.#waiting.shift();
    }
    if (header.control) {
      if (abort) this.#active.delete(header.producerId);
      return true;
    }
    return header.transactional && this.#active.has(header.producerId);
  }
}
