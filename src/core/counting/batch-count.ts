import type { OrderedBytes } from "../cell.ts";
import { invariant } from "../invariant.ts";
import type { CountingLedger, CountingRow } from "../ledger/counting-ledger.ts";
import type { Offset } from "../offset.ts";
import type { Steps } from "../steps.ts";
import { countAgain, countRecords, type CountedRecords, type OnFault, type RowCounter } from "./count-records.ts";
import { type FoldCounts, type SlotWrite, TallyFold } from "./fold-tally.ts";
import { type Segment, segmentsOf } from "./segments.ts";
import type { SlotCache } from "./slot-cache.ts";
import { Tally } from "./tally.ts";

/** Records that are counted in a piece: some milliseconds. */
const RECORDS_PER_STEP = 4_096;

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
 * 2. `of`: decodes and adds up, once; needs no store, so it may be done while an earlier batch waits;
 * 3. `bind` when the batch before it is folded: names what has to be restored; after a failed restore it is called again;
 * 4. `fold`: skips what is stored, folds the rest. Its writes are kept until they are at W, and sent again as they are;
 * 5. at W `SlotCache.acked`, then the copy, then the commit.
 *
 * Each of these is done in pieces: between two of them the thread may do other work, but nothing with this cache. A batch that is
 * given up takes the cache with it: `SlotCache.drop`.
 */
export class BatchCount {
  readonly #records: CountedRecords;
  readonly #context: CountContext;
  readonly #parts: Part[] = [];
  #folds: readonly TallyFold[] = [];
  #end = 0;
  #uncovered = 0;

  private constructor(records: CountedRecords, context: CountContext) {
    this.#records = records;
    this.#context = context;
  }

  /** Counts the records from index `from` on. */
  static *of(records: CountedRecords, from: number, context: CountContext): Steps<BatchCount> {
    const batch = new BatchCount(records, context);
    batch.#end = from;
    for (const segment of segmentsOf(context.ledger, records, from)) {
      if (segment.row === undefined) batch.#uncovered += segment.to - segment.from;
      batch.#end = segment.row === undefined ? segment.to : yield* batch.#count(segment, segment.row);
      if (batch.#end < segment.to) break;
    }
    return batch;
  }

  /** Index of the record at which `onFault` stopped, or the number of records. Nothing at or after it is counted. */
  get end(): number {
    return this.#end;
  }

  /** Records that were looked at and lie in no row: an operator has passed them over. */
  get uncovered(): number {
    return this.#uncovered;
  }

  /** Looks up the slots of the batch, which begins at `position`. Returns the keys to restore at R. */
  *bind(cache: SlotCache, position: Offset): Steps<readonly Uint8Array[]> {
    const folds: TallyFold[] = [];
    const unknown: Uint8Array[] = [];
    for (const { row, tally } of this.#parts) {
      cache.meet(row, position);
      const fold = new TallyFold(tally, row.number, this.#context.suffixOf(row.number), cache);
      yield* fold.find(unknown);
      folds.push(fold);
    }
    this.#folds = folds;
    return unknown;
  }

  /**
   * Folds into the slots; `cells` is what is stored under the keys of {@link bind}, in their order. Keeps the slots pinned under
   * `seq`, 1 or more. @throws InvariantViolation when it was not bound, or is folded twice
   */
  *fold(cells: readonly (OrderedBytes | undefined)[], seq: number, writes: SlotWrite[]): Steps<FoldCounts> {
    const folds = this.#folds;
    invariant(folds.length === this.#parts.length, "BATCH_UNBOUND", "a batch is folded that no cache was asked for");
    this.#folds = [];
    let at = 0;
    let written = 0;
    let skipped = 0;
    for (const [index, fold] of folds.entries()) {
      at = fold.restored(cells, at);
      const after = fold.behind();
      if (after !== undefined) this.#countAgain(index, after);
      const counts = yield* fold.fold(seq, writes);
      written += counts.written;
      skipped += counts.skipped;
    }
    invariant(at === cells.length, "RESTORED", `${cells.length} cells, ${at} were asked for`);
    return { written, skipped };
  }

  *#count({ from, to }: Segment, row: CountingRow): Steps<number> {
    const { counterOf, onFault } = this.#context;
    const counter = counterOf(row.revision);
    const tally = new Tally(counter.families);
    let at = from;
    for (;;) {
      const end = Math.min(at + RECORDS_PER_STEP, to);
      at = countRecords(this.#records, at, end, counter, tally, onFault);
      if (at < end || at === to) break;
      yield;
    }
    this.#parts.push({ row, from, to: at, tally });
    return at;
  }

  #countAgain(index: number, after: Float64Array): void {
    const part = this.#parts[index];
    if (part === undefined) return;
    countAgain(this.#records, part, this.#context.counterOf(part.row.revision), part.tally, after);
  }
}
