/**
 * Counting of owners, without I/O, so that every engine that knows its owners counts alike.
 *
 * A write counts at W acks of distinct owners; a read that restores asks R = N + 1 − W, so that it meets at least one
 * owner of every acknowledged write. An owner that goes down takes its acks and answers with it.
 */

/** Who has answered one request and who still may. Owners are names of one incarnation each. */
export interface Tally {
  readonly answered: readonly string[];
  readonly waiting: readonly string[];
}

export type Verdict = "pending" | "reached" | "impossible";

/** How many owners a restoring read asks at least, of `owners` when a write counts at `writeAcks`. */
export function readAnswersNeeded(owners: number, writeAcks: number): number {
  return owners + 1 - writeAcks;
}

/** A request that was sent to `owners`, which must be distinct. */
export function startTally(owners: readonly string[]): Tally {
  return { answered: [], waiting: owners };
}

/** `owner` answered. One that was not asked, or was lost since, changes nothing. */
export function onAnswer(tally: Tally, owner: string): Tally {
  if (!tally.waiting.includes(owner)) return tally;
  return { answered: [...tally.answered, owner], waiting: tally.waiting.filter((name) => name !== owner) };
}

/** `owner` went down: what it answered counts no more, and nothing is expected of it. */
export function onLoss(tally: Tally, owner: string): Tally {
  const keep = (name: string): boolean => name !== owner;
  return { answered: tally.answered.filter(keep), waiting: tally.waiting.filter(keep) };
}

/** Whether a write has its `writeAcks` acks, or can no longer reach them. */
export function writeVerdict(tally: Tally, writeAcks: number): Verdict {
  if (tally.answered.length >= writeAcks) return "reached";
  return tally.answered.length + tally.waiting.length >= writeAcks ? "pending" : "impossible";
}

/**
 * Whether a read has enough answers: at least `readAnswers`, and as many as `wanted` while that many may still come. A read
 * wants W answers, because a value that fewer owners hold must be written back; with `wanted` = N it hears everybody.
 */
export function readVerdict(tally: Tally, readAnswers: number, wanted: number): Verdict {
  const reachable = tally.answered.length + tally.waiting.length;
  if (reachable < readAnswers) return "impossible";
  return tally.answered.length >= Math.max(readAnswers, Math.min(wanted, reachable)) ? "reached" : "pending";
}

/** What several owners' answers for one key come to. */
export interface Merged<Value> {
  /** The largest answer; undefined when all are absent. */
  readonly winner: Value | undefined;
  /** How many of those asked answered exactly this, absence included. */
  readonly alike: number;
}

/** Merges the answers of distinct owners for one key; undefined is absent. `compare` is the plane's total order. */
export function mergeAnswers<Value>(
  answers: readonly (Value | undefined)[],
  compare: (a: Value, b: Value) => number,
): Merged<Value> {
  let winner: Value | undefined;
  let alike = 0;
  for (const answer of answers) {
    const difference = compareAnswers(answer, winner, compare);
    if (difference > 0) {
      winner = answer;
      alike = 1;
    } else if (difference === 0) {
      alike += 1;
    }
  }
  return { winner, alike };
}

function compareAnswers<Value>(
  a: Value | undefined,
  b: Value | undefined,
  compare: (a: Value, b: Value) => number,
): number {
  if (a === undefined) return b === undefined ? 0 : -1;
  return b === undefined ? 1 : compare(a, b);
}

/**
 * Whether a merged answer must be written back before it is obeyed: fewer than W owners are known to hold it, so a later
 * read could miss it, and an acknowledgement that leans on it would lean on too few.
 */
export function needsWriteBack(merged: Merged<unknown>, writeAcks: number): boolean {
  return merged.winner !== undefined && merged.alike < writeAcks;
}
