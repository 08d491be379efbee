import type { CasOutcome, ControlRecord } from "../../../src/ports/kv-plane.ts";

/** There is no record. */
const ABSENT = 0;

interface Attempt {
  readonly parent: number;
  state: "open" | "written" | "refused" | "unknown";
}

/** What was known of a record when a call began. */
export interface Moment {
  readonly tip: number;
  /** Attempts whose outcome nobody knows, and that were over. */
  readonly unknown: readonly number[];
}

/**
 * What must be true of one control record. Every attempt writes a number of its own and names the one that it replaces, so
 * that what is ever observed must be one chain:
 *
 * - A call that begins after something was observed observes it or what came after it.
 * - Of two attempts to replace one value, one wins.
 * - A refused attempt is never observed; nor is one of unknown outcome, once a later call has not met it.
 */
export class ControlOracle {
  readonly #attempts = new Map<number, Attempt>();
  readonly #tags = new Map<string, number>();
  readonly #lost = new Set<number>();
  #tip = ABSENT;
  #last = ABSENT;

  /** Tag of the last observed value, or of the one before it. */
  tag(back: number): string | undefined {
    const number = this.#path(this.#tip)[back] ?? ABSENT;
    return [...this.#tags].find(([, of]) => of === number)?.[0];
  }

  /** Whether a record was observed. */
  get present(): boolean {
    return this.#tip !== ABSENT;
  }

  now(): Moment {
    const unknown = [...this.#attempts].flatMap(([number, { state }]) => (state === "unknown" ? [number] : []));
    return { tip: this.#tip, unknown };
  }

  /** An attempt begins to replace the value that has `expected`; returns the number to write. */
  begin(expected: string | undefined): number {
    this.#last += 1;
    const parent = expected === undefined ? ABSENT : (this.#tags.get(expected) ?? ABSENT);
    this.#attempts.set(this.#last, { parent, state: "open" });
    return this.#last;
  }

  /** An attempt that began at `moment` is over; undefined: nobody knows how. @throws when that cannot be */
  end(number: number, expected: string | undefined, moment: Moment, outcome: CasOutcome | undefined): void {
    const attempt = this.#attempts.get(number);
    if (attempt === undefined) throw new Error(`there was no attempt ${number}`);
    if (outcome === undefined) {
      attempt.state = "unknown";
      return;
    }
    if (outcome.outcome === "written") {
      attempt.state = "written";
      if (numberOf(outcome.record) !== number) throw new Error(`attempt ${number} wrote something else`);
      this.observe(moment, outcome.record);
      return;
    }
    attempt.state = "refused";
    if (outcome.current?.tag === expected) throw new Error(`attempt ${number} was refused over the expected value`);
    this.observe(moment, outcome.current);
  }

  /** A call that began at `moment` answered `record`. @throws when it may not */
  observe(moment: Moment, record: ControlRecord | undefined): void {
    const number = numberOf(record);
    if (record !== undefined) this.#checkTag(record.tag, number);
    const path = this.#path(number);
    for (const step of path) {
      const state = this.#attempts.get(step)?.state;
      if (state === "refused" || this.#lost.has(step)) throw new Error(`${step} surfaced: it had lost`);
    }
    if (!path.includes(moment.tip)) throw new Error(`a record went back or aside from ${moment.tip} to ${number}`);
    if (path.includes(this.#tip)) this.#tip = number;
    else if (!this.#path(this.#tip).includes(number)) throw new Error(`both ${number} and ${this.#tip} won`);
    const chain = this.#path(this.#tip);
    for (const unknown of moment.unknown) if (!chain.includes(unknown)) this.#lost.add(unknown);
  }

  #checkTag(tag: string, number: number): void {
    const known = this.#tags.get(tag);
    if (known !== undefined && known !== number) throw new Error(`one tag for ${known} and ${number}`);
    this.#tags.set(tag, number);
  }

  #path(number: number): readonly number[] {
    const path = [number];
    for (let at = number; at !== ABSENT;) {
      at = this.#attempts.get(at)?.parent ?? ABSENT;
      path.push(at);
    }
    return path;
  }
}

function numberOf(record: ControlRecord | undefined): number {
  return record === undefined ? ABSENT : Number(Buffer.from(record.value).toString());
}
