import type { Clock } from "../../src/ports/clock.ts";

interface Timer {
  readonly due: number;
  readonly task: () => void;
}

/** A clock that tests turn by hand. */
export class ManualClock implements Clock {
  #now = 1_700_000_000_000;
  #timers: Timer[] = [];

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

  /** Turns the clock on, running what falls due in order, and lets promises settle after each. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      await settle();
      if ((this.#first()?.due ?? Infinity) > until) break;
      this.next();
    }
    this.#now = until;
    await settle();
  }

  /** Turns the clock on to the timer that is due next and runs it, and lets nothing else happen. */
  next(): void {
    const first = this.#first();
    if (first === undefined) return;
    this.#timers = this.#timers.filter((timer) => timer !== first);
    this.#now = Math.max(this.#now, first.due);
    first.task();
  }

  #first(): Timer | undefined {
    let [first] = this.#timers;
    for (const timer of this.#timers) if (first !== undefined && timer.due < first.due) first = timer;
    return first;
  }
}

/** Lets every promise that can settle without a timer do so. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}
