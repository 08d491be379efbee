/** Lets heavy work take turns with everything else that the process does. */
export interface Turns {
  /** Resolves when it is the caller's turn: in a round of the event loop in which no other caller's is. */
  next(): Promise<void>;
}

/**
 * One piece of heavy work in a round of the event loop, however many partitions have some: between two of them requests are
 * answered and owners heard. Promises alone would not do: the batches of all partitions would be counted in one go.
 */
export class LoopTurns implements Turns {
  #last: Promise<void> = Promise.resolve();

  next(): Promise<void> {
    this.#last = this.#last.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.#last;
  }
}
