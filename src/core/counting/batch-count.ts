import type { OrderedBytes } from "../cell.ts";
import { invariant } from "../invariant.ts";
import type { CountingLedger, CountingRow } from "../ledger/counting-ledger.ts";
import type { Offset } from "../offset.ts";
import { countAgain, countRecords, type CountedRecords, type OnFault, type RowCounter } from "./count-records.ts";
import { type FoldCounts, type SlotWrite, TallyFold } from "./fold-tally.ts";
import { type Segment, segmentsOf } from "./segments.ts";
import type { SlotCache } from "./slot-cache.ts";
import { Tally } from "./tally.ts";

/** What counting a batch depends on. */
export interface CountContext {
  /** With a reservation that covers the batch. */
  readonly ledger: CountingLedger;
  /** How records are counted under a revision. */
  readonly counterOf: (revision: number) => RowCounter;
  /** What follows a counter's key in the keys of a row's slots, see `slotSuffix`. */
  readonly suffixOf: (row: number) => Uint8Array;
  readonly onFault: OnFault;
}

/** Records of one row, counted. */
interface Part extends Segment {
  readonly row: CountingRow;
  readonly tally: Tally;
}

/**
 * One batch of a counting kind on its way to the store. The runner calls, batch by batch in the order of the log:
 *
 * 1. `mustReserve` and `reserve`, stored by compare-and-set, before anything is decoded;
 * 2. the constructor: decodes and adds up, once; needs no store, so it may be done while an earlier batch waits;
 * 3. `bind` when the batch before it is folded: names what has to be restored; after a failed restore it is called again;
 * 4. `fold`: skips what is stored, folds the rest. Its writes are kept until they are at W, and sent again as they are;
 * 5. at W `SlotCache.acked`, then the copy, then the commit.
 *
 * A batch that is given up takes the cache with it: `SlotCache.drop`.
 */
export class BatchCount {
  /** Index of the record at which `onFault` stopped, or the number of records. Nothing at or after it is counted. */
  readonly end: number;
  /** Records that were looked at and lie in no row: an operator has passed them over. */
  readonly uncovered: number;
  readonly #records: CountedRecords;
  readonly #context: CountContext;
  readonly #parts: Part[] = [];
  #folds: readonly TallyFold[] = [];

  /** Counts the records from index `from` on. */
  constructor(records: CountedRecords, from: number, context: CountContext) {
    this.#records = records;
    this.#context = context;
    let end = from;
    let uncovered = 0;
    for (const segment of segmentsOf(context.ledger, records, from)) {
      if (segment.row === undefined) uncovered += segment.to - segment.from;
      end = segment.row === undefined ? segment.to : this.#count(segment, segment.row);
      if (end < segment.to) break;
    }
    this.end = end;
    this.uncovered = uncovered;
  }

  /** Looks up the slots of the batch, which begins at `position`. Returns the keys to restore at R. */
  bind(cache: SlotCache, position: Offset): readonly Uint8Array[] {
    this.#folds = this.#parts.map(({ row, tally }) => {
      cache.meet(row, position);
      return new TallyFold(tally, row.number, this.#context.suffixOf(row.number), cache);
    });
    return this.#folds.flatMap((fold) => fold.unknown());
  }

  /**
   * Folds into the slots; `cells` is what is stored under the keys of {@link bind}, in their order. Keeps the slots pinned under
   * `seq`, 1 or more. @throws InvariantViolation when it was not bound, or is folded twice
   */
  fold(cells: readonly (OrderedBytes | undefined)[], seq: number, writes: SlotWrite[]): FoldCounts {
    const folds = this.#folds;
    invariant(folds.length === this.#parts.length, "BATCH_UNBOUND", "a batch is folded that no cache was asked for");
    this.#folds = [];
    let at = 0;
    let written = 0;
    let skipped = 0;
    for (const [index, fold] of folds.entries()) {
      const count = fold.unknown().length;
      fold.restored(cells.slice(at, at + count));
      at += count;
      const after = fold.behind();
      if (after !== undefined) this.#countAgain(index, after);
      const counts = fold.fold(seq, writes);
      written += counts.written;
      skipped += counts.skipped;
    }
    return { written, skipped };
  }

  #count(segment: Segment, row: CountingRow): number {
    const { counterOf, onFault } = this.#context;
    const counter = counterOf(row.revision);
    const tally = new Tally(counter.families);
    const to = countRecords(this.#records, segment.from, segment.to, counter, tally, onFault);
    this.#parts.push({ row, from: segment.from, to, tally });
    return to;
  }

  #countAgain(index: number, after: Float64Array): void {
    const part = this.#parts[index];
    if (part === undefined) return;
    countAgain(this.#records, part, this.#context.counterOf(part.row.revision), part.tally, after);
  }
}
