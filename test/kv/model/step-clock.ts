import type { Clock } from "../../../src/ports/clock.ts";

/** A clock that moves from one timer to the next when it is told to, and lets nothing else happen. */
export class StepClock implements Clock {
  #now = 1_700_000_000_000;
  #timers: { readonly due: number; readonly task: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  after(delayMs: number, task: () => void): () => void {
    const timer = { due: this.#now + delayMs, task };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Runs the timer that is due next. */
  next(): void {
    let [first] = this.#timers;
    for (const timer of this.#timers) if (first !== undefined && timer.due < first.due) first = timer;
    if (first === undefined) return;
    this.#timers = this.#timers.filter((timer) => timer !== first);
    this.#now = Math.max(this.#now, first.due);
    first.task();
  }
}
