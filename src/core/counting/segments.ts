import { invariant } from "../invariant.ts";
import { type CountingLedger, type CountingRow, countingRowAt } from "../ledger/counting-ledger.ts";
import { type CountedRecords, indexAtOrAbove } from "./count-records.ts";

/** Records of a batch, by index, that one row covers. Undefined: none does, an operator has passed them over. */
export interface Segment {
  readonly row: CountingRow | undefined;
  readonly from: number;
  readonly to: number;
}

/**
 * Cuts the records from index `from` on where ledger rows end: at most one segment a row. How batches are cut changes no count
 * (I17): a slot's total is that of its row, whoever adds up to it.
 *
 * @throws InvariantViolation for a record that nobody has reserved: it must not be decoded, and not be passed over either
 */
export function segmentsOf(
  ledger: CountingLedger,
  records: Pick<CountedRecords, "count" | "offsetAt">,
  from: number,
): readonly Segment[] {
  const segments: Segment[] = [];
  let start = from;
  while (start < records.count) {
    const offset = records.offsetAt(start);
    const row = countingRowAt(ledger, offset);
    const end = row?.until ?? ledger.rows.find((next) => next.from > offset)?.from;
    invariant(end !== undefined, "LEDGER_UNCOVERED", `offset ${offset} is not reserved`);
    const to = indexAtOrAbove(records, end);
    segments.push({ row, from: start, to });
    start = to;
  }
  return segments;
}
