import { type CountingLedger, type CountingRow, countingRowAt } from "../ledger/counting-ledger.ts";
import type { CountedRecords } from "./count-records.ts";
import { TALLY_RECORDS_MAX } from "./tally.ts";

/** Records of a batch, by index, that one row covers. Undefined: none does, an operator has passed them over. */
export interface Segment {
  readonly row: CountingRow | undefined;
  readonly from: number;
  readonly to: number;
}

/**
 * Cuts the records from index `from` on where ledger rows end, and where a tally would be full. How a batch is cut changes no
 * count (I17): a slot's total is that of its row, whoever adds up to it.
 */
export function segmentsOf(
  ledger: CountingLedger,
  records: Pick<CountedRecords, "count" | "offsetAt">,
  from: number,
): readonly Segment[] {
  const segments: Segment[] = [];
  let start = from;
  while (start < records.count) {
    const row = countingRowAt(ledger, records.offsetAt(start));
    const most = Math.min(records.count, start + TALLY_RECORDS_MAX);
    let to = start + 1;
    while (to < most && countingRowAt(ledger, records.offsetAt(to)) === row) to += 1;
    segments.push({ row, from: start, to });
    start = to;
  }
  return segments;
}
