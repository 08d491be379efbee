import type { Clock } from "../../ports/clock.ts";
import type { OwnerLink } from "./owner-link.ts";

export interface RetriesOptions {
  readonly clock: Clock;
  /** How long after going down an owner is looked at again: at first, and at most. */
  readonly retryInitialMs: number;
  readonly retryMaxMs: number;
}

/** Longest wait while too few owners are up. */
const URGENT_MS = 5_000;

/** When owners that are not up are looked at again: twice as late each time, until one has stayed up for long. */
export class Retries {
  readonly #options: RetriesOptions;
  readonly #attempts = new Map<OwnerLink, number>();
  readonly #scheduled = new Map<OwnerLink, () => void>();

  constructor(options: RetriesOptions) {
    this.#options = options;
  }

  /** Runs `task` for an owner before long, unless one is scheduled for it; before very long when it is `urgent`. */
  later(link: OwnerLink, task: () => void, urgent: boolean): void {
    if (urgent) this.cancel(link);
    if (this.#scheduled.has(link)) return;
    const { clock, retryInitialMs, retryMaxMs } = this.#options;
    const attempt = this.#attempts.get(link) ?? 0;
    this.#attempts.set(link, attempt + 1);
    const longest = urgent ? Math.min(retryMaxMs, URGENT_MS) : retryMaxMs;
    const cancel = clock.after(Math.min(longest, retryInitialMs * 2 ** attempt), () => {
      this.#scheduled.delete(link);
      task();
    });
    this.#scheduled.set(link, cancel);
  }

  /** What is scheduled for an owner does not run. */
  cancel(link: OwnerLink): void {
    this.#scheduled.get(link)?.();
    this.#scheduled.delete(link);
  }

  /** Forgets the failures of an owner that is up now, and runs `settled`, if it stays so for long enough. */
  settle(link: OwnerLink, settled: () => void): void {
    const { since } = link.status();
    this.#options.clock.after(this.#options.retryMaxMs, () => {
      if (!link.up || link.status().since !== since) return;
      this.#attempts.delete(link);
      settled();
    });
  }
}
