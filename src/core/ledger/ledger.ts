import { invariant } from "../invariant.ts";
import type { Offset } from "../offset.ts";

/** Which revision the offsets `[from, until)` of one partition are judged under. `until` null: open. */
export interface LedgerRow {
  readonly number: number;
  readonly from: Offset;
  readonly until: Offset | null;
  readonly revision: number;
}

/** The rows of one source and partition, by `from`, without overlap; only the last may be open. Numbers are never reused. */
export interface Ledger {
  readonly rows: readonly LedgerRow[];
  readonly nextNumber: number;
}

/** The ledger of a partition that was never read. */
export const EMPTY_LEDGER: Ledger = { rows: [], nextNumber: 1 };

/**
 * Makes sure that every offset from `position` on has a row and that new ground is judged under `revision`.
 *
 * `applied` is how far the partition was applied already: what lies between `position` and it was judged under its old
 * row and stays so (I17), so a change of revision takes effect at the larger of the two. Ground below the first row
 * (an operator went back before the source's beginning) gets a closed row of its own.
 * Returns the same object when nothing changes.
 */
export function coverFrom(ledger: Ledger, position: Offset, applied: Offset, revision: number): Ledger {
  const boundary = Math.max(position, applied);
  const last = ledger.rows.at(-1);
  if (last === undefined) {
    return { rows: [row(ledger.nextNumber, position, null, revision)], nextNumber: ledger.nextNumber + 1 };
  }
  invariant(last.until === null, "LEDGER_CLOSED", "the last row is always open");
  const below = coverBelow(ledger, position, revision);
  // Revisions only grow: an old one comes from a life that was slow to notice its successor, and changes nothing.
  return last.revision >= revision ? below : turnOver(below, last, Math.max(boundary, last.from), revision);
}

function coverBelow(ledger: Ledger, position: Offset, revision: number): Ledger {
  const first = ledger.rows[0];
  if (first === undefined || position >= first.from) return ledger;
  const added = row(ledger.nextNumber, position, first.from, revision);
  return { rows: [added, ...ledger.rows], nextNumber: ledger.nextNumber + 1 };
}

function turnOver(ledger: Ledger, last: LedgerRow, boundary: Offset, revision: number): Ledger {
  const kept = ledger.rows.slice(0, -1);
  const closed = boundary > last.from ? [{ ...last, until: boundary }] : [];
  const opened = row(ledger.nextNumber, boundary, null, revision);
  return { rows: [...kept, ...closed, opened], nextNumber: ledger.nextNumber + 1 };
}

function row(number: number, from: Offset, until: Offset | null, revision: number): LedgerRow {
  return { number, from, until, revision };
}

/** The row that covers an offset; undefined below the first. */
export function rowAt(ledger: Ledger, offset: Offset): LedgerRow | undefined {
  return ledger.rows.findLast(
    (candidate) => candidate.from <= offset && (candidate.until === null || offset < candidate.until),
  );
}
