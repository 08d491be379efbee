import { SourceFault } from "../../../src/ports/record-source.ts";

/** Lets a few tasks run at once, keeps some waiting in order, and refuses the rest. */
export class Turns {
  readonly #runningMax: number;
  readonly #waitingMax: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(runningMax: number, waitingMax: number) {
    this.#runningMax = runningMax;
    this.#waitingMax = waitingMax;
  }

  /** Runs `task` when it is its turn. @throws SourceFault `timeout` when too many wait; whatever the task throws */
  async take<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#runningMax) {
      if (this.#waiting.length >= this.#waitingMax) throw new SourceFault("timeout", "too many reads wait already");
      // Whoever ends hands its turn over: `#running` does not change.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running += 1;
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
