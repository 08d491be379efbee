import type { Clock } from "../ports/clock.ts";

/** The waits of one source: regular rounds and single ones, all ended together. */
export class Timers {
  readonly #clock: Clock;
  readonly #cancels = new Set<() => void>();
  #ended = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waits that are under way. */
  get waiting(): number {
    return this.#cancels.size;
  }

  /** Runs `task` again and again, `everyMs` after it last ended. */
  every(everyMs: number, task: () => Promise<void>): void {
    this.after(everyMs, () => task().finally(() => this.every(everyMs, task)));
  }

  /** Runs `task` once, unless the end comes first. */
  after(delayMs: number, task: () => Promise<void>): void {
    if (this.#ended) return;
    const cancel = this.#clock.after(delayMs, () => {
      this.#cancels.delete(cancel);
      void task();
    });
    this.#cancels.add(cancel);
  }

  /** Nothing that waits runs any more, and nothing more can wait. */
  end(): void {
    this.#ended = true;
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
  }
}
