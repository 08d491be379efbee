import type { Clock } from "../../../src/ports/clock.ts";

/** A wait that can be cut short for everybody who waits. */
export class WakeUp {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves at the next {@link wake}, at the latest after `limitMs`. */
  async wait(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        cancel();
        this.#waiting.delete(go);
        resolve();
      };
      const cancel = this.#clock.after(limitMs, go);
      this.#waiting.add(go);
    });
  }

  wake(): void {
    for (const go of this.#waiting) go();
  }
}
