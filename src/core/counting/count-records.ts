import type { RecordFault } from "../fault.ts";
import { invariant } from "../invariant.ts";
import type { Offset } from "../offset.ts";
import type { CounterFamily, Increments, InputView } from "./inputs.ts";
import type { Tally } from "./tally.ts";

/** The columns of a batch that counting looks at. */
export interface CountedRecords {
  readonly count: number;
  offsetAt(index: number): Offset;
  timestampAt(index: number): number;
  keyAt(index: number): Uint8Array | null;
  valueAt(index: number): Uint8Array | null;
}

/** Reads a record's inputs where they stand. */
export interface InputReader {
  readonly view: InputView;
  /** Reads one value into the view. Returns the fault, if there is one. */
  read(value: Uint8Array): RecordFault | undefined;
}

/**
 * Judges one record and adds what it counts; a record with a fault adds nothing. Pure: what it does follows from its
 * arguments alone (I17).
 */
export type CountRecord = (
  key: Uint8Array | null,
  timestampMs: number,
  inputs: InputView,
  increments: Increments,
) => RecordFault | undefined;

/** How the records of one ledger row are counted. */
export interface RowCounter {
  readonly families: readonly CounterFamily[];
  readonly reader: InputReader;
  readonly count: CountRecord;
}

/** What is to be done about a faulty record: pass it over (it goes to the dead letters), or stop before it. */
export type OnFault = (index: number, fault: RecordFault) => "pass" | "stop";

/**
 * Counts the records from index `from` to `to`, the latter excluded. Returns the index at which it ended: `to`, or that of
 * the record which `onFault` stopped at, and of which and after which nothing is counted.
 */
export function countRecords(
  records: CountedRecords,
  from: number,
  to: number,
  counter: RowCounter,
  tally: Tally,
  onFault: OnFault,
): number {
  const { reader, count } = counter;
  for (let index = from; index < to; index += 1) {
    tally.begin(records.offsetAt(index));
    const fault = judge(records, index, reader, count, tally);
    if (fault !== undefined && onFault(index, fault) === "stop") return index;
  }
  return to;
}

function judge(
  records: CountedRecords,
  index: number,
  reader: InputReader,
  count: CountRecord,
  tally: Tally,
): RecordFault | undefined {
  const timestampMs = records.timestampAt(index);
  if (!Number.isSafeInteger(timestampMs)) {
    const text = "the record's timestamp is beyond what milliseconds since 1970 can mean";
    return { code: "CONTRACT_TIMESTAMP", text };
  }
  const value = records.valueAt(index);
  if (value === null) return { code: "CONTRACT_NULL_VALUE", text: "a null value means nothing to a kind that counts" };
  return reader.read(value) ?? count(records.keyAt(index), timestampMs, reader.view, tally);
}

/** Index of the first record at or above `offset`; `count` when all are below. */
export function indexAtOrAbove(records: Pick<CountedRecords, "count" | "offsetAt">, offset: Offset): number {
  let from = 0;
  let to = records.count;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (records.offsetAt(middle) < offset) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Counts the same records again for slots that hold some of them, see {@link Tally.recount}; faults are known already. */
export function countAgain(
  records: CountedRecords,
  range: { readonly from: number; readonly to: number },
  counter: RowCounter,
  tally: Tally,
  after: Float64Array,
): void {
  tally.recount(after);
  const ended = countRecords(records, range.from, range.to, counter, tally, () => "pass");
  invariant(ended === range.to, "TALLY_CHANGED", `counted again, the records end at ${ended}, not at ${range.to}`);
}
