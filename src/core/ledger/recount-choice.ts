import type { Offset } from "../offset.ts";
import type { CountingLedger, CountingRow } from "./counting-ledger.ts";

/** Offsets `[from, until)` of one partition. */
export interface OffsetRange {
  readonly from: Offset;
  readonly until: Offset;
}

/** What a partition holds when a recount is asked for. */
export interface RecountGround {
  /** How far it is applied, as the KV plane's copy says. */
  readonly copy: Offset;
  readonly logStart: Offset;
}

/** Which rows a recount may take, and why not the others. Rows are taken whole, so a wish is widened to their ends. */
export interface RecountChoice {
  /** Numbers of the rows that can be counted again. */
  readonly rows: readonly number[];
  /** The log has lost records of these: they stay as they were counted. */
  readonly gone: readonly CountingRow[];
  /** Live reading has not come to their end. */
  readonly behind: readonly CountingRow[];
  /** Parts of the wish that no row covers: a bulk load, or what an operator passed over. */
  readonly uncovered: readonly OffsetRange[];
}

/** Sorts the summed rows that overlap `wish`. The open row is never among them: `closeOpenRow` ends it first. */
export function chooseRows(ledger: CountingLedger, wish: OffsetRange, ground: RecountGround): RecountChoice {
  const rows: number[] = [];
  const gone: CountingRow[] = [];
  const behind: CountingRow[] = [];
  const uncovered: OffsetRange[] = [];
  const open = ledger.rows.at(-1);
  let from = wish.from;
  for (const row of ledger.rows) {
    if (row.until <= wish.from || row.from >= wish.until) continue;
    if (from < row.from) uncovered.push({ from, until: row.from });
    from = Math.max(from, row.until);
    if (row === open || !ledger.listed.includes(row.number)) continue;
    if (row.from < ground.logStart) gone.push(row);
    else if (row.until > ground.copy) behind.push(row);
    else rows.push(row.number);
  }
  // Beyond the open row nothing was read yet: that is live reading's to count.
  const end = open === undefined ? wish.until : Math.min(wish.until, open.from);
  if (from < end) uncovered.push({ from, until: end });
  return { rows, gone, behind, uncovered };
}
