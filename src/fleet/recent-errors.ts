import type { Clock } from "../ports/clock.ts";

export interface RecentError {
  readonly at: number;
  readonly code: string;
  readonly text: string;
}

/** How many are kept. */
const KEPT = 20;

/** The last failures of a source, newest first, for its status. The same failure in a row is kept once, with its last time. */
export class RecentErrors {
  readonly #clock: Clock;
  #list: readonly RecentError[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes a failure. Returns false when it repeats the newest one, so that logs stay short. */
  note(code: string, text: string): boolean {
    const [newest] = this.#list;
    const repeated = newest !== undefined && newest.code === code && newest.text === text;
    const entry = { at: this.#clock.now(), code, text };
    this.#list = [entry, ...(repeated ? this.#list.slice(1) : this.#list)].slice(0, KEPT);
    return !repeated;
  }

  list(): readonly RecentError[] {
    return this.#list;
  }
}
