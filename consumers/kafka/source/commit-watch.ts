import type { Clock } from "../../../src/ports/clock.ts";
import type { CommitOutcome } from "../../../src/ports/record-source.ts";
import type { LifeEnd } from "./consumer-life.ts";

/**
 * Notices that commits have stopped working for good. kafkajs keeps committing to a coordinator that has moved or died
 * until something else makes it join again; when nothing but failures came back for a whole session, only a new
 * consumer helps.
 */
export class CommitWatch {
  readonly #clock: Clock;
  readonly #patienceMs: number;
  #failingSince: number | undefined;

  constructor(clock: Clock, patienceMs: number) {
    this.#clock = clock;
    this.#patienceMs = patienceMs;
  }

  /** Call with every outcome. Returns why the consumer should be built anew, when it should. */
  note(outcome: CommitOutcome): LifeEnd | undefined {
    // A refusal for want of rights would meet the next consumer as well.
    if (outcome.outcome !== "failed" || outcome.cause === "not-authorized") {
      this.reset();
      return undefined;
    }
    this.#failingSince ??= this.#clock.monotonic();
    if (this.#clock.monotonic() - this.#failingSince < this.#patienceMs) return undefined;
    this.reset();
    return { cause: outcome.cause, text: `commits keep failing: ${outcome.text}` };
  }

  /** The group was joined: what failed before does not count. */
  reset(): void {
    this.#failingSince = undefined;
  }
}
