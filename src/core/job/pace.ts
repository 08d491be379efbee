/** How fast a job may go. */
export interface Rates {
  readonly recordsPerSecond?: number;
  readonly bytesPerSecond?: number;
}

/**
 * Spreads a job's work over time: what was done is paid for by waiting. Pure; times are milliseconds of a clock that only
 * goes forward. What was not used is not saved up beyond one second.
 */
export class Pace {
  readonly #rates: Rates;
  #paidUntilMs = 0;

  constructor(rates: Rates) {
    this.#rates = rates;
  }

  /** Something was done that ended at `nowMs`. Returns how long to wait before the next, in milliseconds. */
  spend(done: { readonly records: number; readonly bytes: number }, nowMs: number): number {
    const { recordsPerSecond = Infinity, bytesPerSecond = Infinity } = this.#rates;
    const costMs = Math.max(done.records / recordsPerSecond, done.bytes / bytesPerSecond) * 1_000;
    this.#paidUntilMs = Math.max(this.#paidUntilMs, nowMs - 1_000) + costMs;
    return Math.ceil(Math.max(this.#paidUntilMs - nowMs, 0));
  }
}
