import { randomInt } from "node:crypto";

/** Waits between attempts: doubling from `minMs` up to `maxMs`, each shortened at random by up to half, without limit. */
export class Backoff {
  readonly #minMs: number;
  readonly #maxMs: number;
  #attempt = 0;

  constructor(minMs: number, maxMs: number) {
    this.#minMs = minMs;
    this.#maxMs = maxMs;
  }

  /** How long to wait before the next attempt, in milliseconds. */
  next(): number {
    const full = Math.min(this.#maxMs, this.#minMs * 2 ** Math.min(this.#attempt, 30));
    this.#attempt += 1;
    // Instances that lost the same broker at the same moment must not come back at the same moment.
    return full - randomInt(Math.floor(full / 2) + 1);
  }

  reset(): void {
    this.#attempt = 0;
  }
}
