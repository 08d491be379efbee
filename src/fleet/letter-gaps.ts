import type { LetterMark } from "../core/gaps/gap.ts";
import type { GapLedger, GapOwner } from "../gaps/gap-ledger.ts";
import type { Clock } from "../ports/clock.ts";
import type { DeadLetter } from "../ports/dead-letters.ts";

/**
 * Enters the dead letters of one partition in the gap ledger, one write per batch that has any, in the order of the batches:
 * an entry that grew by a later batch would vouch for an earlier one. When one fails, those that wait behind it fail with
 * it; the partition holds, and tries them again in order.
 */
export class LetterGaps {
  readonly #ledger: GapLedger;
  readonly #owner: GapOwner;
  readonly #topicEpoch: number;
  readonly #clock: Clock;
  #turn: Promise<void> = Promise.resolve();

  constructor(ledger: GapLedger, owner: GapOwner, topicEpoch: number, clock: Clock) {
    this.#ledger = ledger;
    this.#owner = owner;
    this.#topicEpoch = topicEpoch;
    this.#clock = clock;
  }

  /** Resolves when the letters are entered durably. May be repeated. @throws KvFault */
  enter(letters: readonly DeadLetter[]): Promise<void> {
    if (letters.length === 0) return Promise.resolve();
    const marks: readonly LetterMark[] = letters.map(({ offset, fault }) => ({ offset, code: fault.code }));
    const turn = this.#turn.then(() =>
      this.#ledger.enterLetters(this.#owner, this.#topicEpoch, marks, this.#clock.now()),
    );
    this.#turn = turn;
    turn.catch(() => {
      if (this.#turn === turn) this.#turn = Promise.resolve();
    });
    return turn;
  }
}
