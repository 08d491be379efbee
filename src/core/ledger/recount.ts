import type { Offset } from "../offset.ts";
import type { CountingLedger, CountingRow } from "./counting-ledger.ts";

/** A range that is counted again, or for the first time, into a row of its own beside live reading. */
export interface RecountRange {
  /** The row whose place it is to take; null where no row covers the range. */
  readonly replaces: number | null;
  readonly row: CountingRow;
}

/** What is to be counted. */
export interface RecountOrder {
  /** Rows to count again, by number. */
  readonly rows: readonly number[];
  /** A range that no row covers: a bulk load, or what an operator passed over. */
  readonly uncovered?: { readonly from: Offset; readonly until: Offset };
  /** How far the partition is applied, as the KV plane's copy says. */
  readonly copy: Offset;
  /** The revision now in force, which the job pins. */
  readonly revision: number;
  readonly nowMs: number;
}

/** Why a recount cannot be done, now or at all. */
export type RecountRefusal =
  /** No such row is summed: another recount may have replaced it. */
  | { readonly refused: "row-unknown"; readonly number: number }
  /** It is still being counted. `closeOpenRow` ends it. */
  | { readonly refused: "row-open"; readonly number: number }
  /** Live reading has not come to its end: what it still delivers would be in no sum. */
  | { readonly refused: "copy-behind"; readonly until: Offset; readonly copy: Offset }
  | { readonly refused: "range-empty" }
  | { readonly refused: "range-covered"; readonly number: number };

/** A recount that may begin: its rows have numbers, and the ledger knows that those are taken. */
export interface RecountPlan {
  readonly ledger: CountingLedger;
  readonly ranges: readonly RecountRange[];
}

/** Allots the rows of a recount. To be stored by compare-and-set before anything is counted. */
export function planRecount(ledger: CountingLedger, order: RecountOrder): RecountPlan | RecountRefusal {
  const { copy, revision, nowMs } = order;
  let { nextNumber } = ledger;
  const ranges: RecountRange[] = [];
  for (const number of order.rows) {
    const row = ledger.rows.find((candidate) => candidate.number === number);
    if (row === undefined || !ledger.listed.includes(number)) return { refused: "row-unknown", number };
    if (row === ledger.rows.at(-1)) return { refused: "row-open", number };
    if (row.until > copy) return { refused: "copy-behind", until: row.until, copy };
    ranges.push({ replaces: number, row: { ...row, number: nextNumber, revision, openedAtMs: nowMs } });
    nextNumber += 1;
  }
  if (order.uncovered !== undefined) {
    const { from, until } = order.uncovered;
    if (from >= until) return { refused: "range-empty" };
    if (until > copy) return { refused: "copy-behind", until, copy };
    const covering = overlapping(ledger, from, until);
    if (covering !== undefined) return { refused: "range-covered", number: covering.number };
    ranges.push({ replaces: null, row: { number: nextNumber, from, until, revision, openedAtMs: nowMs } });
    nextNumber += 1;
  }
  return ranges.length === 0 ? { refused: "range-empty" } : { ledger: { ...ledger, nextNumber }, ranges };
}

/**
 * Puts the counted rows in the place of those that they replace, in one write: readers sum either all of the old ones or all
 * of the new. Every slot of the new rows is at W by then. Done already: the same object.
 */
export function exchangeRows(ledger: CountingLedger, ranges: readonly RecountRange[]): CountingLedger | RecountRefusal {
  let exchanged = ledger;
  for (const range of ranges) {
    const next = exchangeOne(exchanged, range);
    if ("refused" in next) return next;
    exchanged = next;
  }
  return exchanged;
}

function exchangeOne(ledger: CountingLedger, { replaces, row }: RecountRange): CountingLedger | RecountRefusal {
  if (ledger.listed.includes(row.number)) return ledger;
  if (replaces === null) {
    const covering = overlapping(ledger, row.from, row.until);
    if (covering !== undefined) return { refused: "range-covered", number: covering.number };
    const rows = [...ledger.rows, row].toSorted((a, b) => a.from - b.from);
    return { ...ledger, rows, listed: [...ledger.listed, row.number] };
  }
  const old = ledger.rows.find((candidate) => candidate.number === replaces);
  if (old === undefined || !ledger.listed.includes(replaces)) return { refused: "row-unknown", number: replaces };
  return {
    ...ledger,
    rows: ledger.rows.map((candidate) => (candidate === old ? row : candidate)),
    listed: ledger.listed.map((number) => (number === replaces ? row.number : number)),
    former: [...ledger.former, { ...old, replacedBy: row.number }],
  };
}

function overlapping(ledger: CountingLedger, from: Offset, until: Offset): CountingRow | undefined {
  return ledger.rows.find((row) => row.from < until && from < row.until);
}
