import type { Clock } from "../../src/ports/clock.ts";

/** A clock that tests turn by hand. */
export class ManualClock implements Clock {
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

  /** Turns the clock on, running what falls due in order, and lets promises settle after each. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      await settle();
      const next = this.#timers.toSorted((a, b) => a.due - b.due)[0];
      if (next === undefined || next.due > until) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#now = Math.max(this.#now, next.due);
      next.task();
    }
    this.#now = until;
    await settle();
  }
}

/** Lets every promise that can settle without a timer do so. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}
