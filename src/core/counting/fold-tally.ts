import type { OrderedBytes } from "../cell.ts";
import { invariant } from "../invariant.ts";
import type { Steps } from "../steps.ts";
import { slotKey } from "./keys.ts";
import { LiveSlot, type SlotCache } from "./slot-cache.ts";
import type { Tally } from "./tally.ts";

/** Counters that are looked up or folded in a piece: some milliseconds. */
const ENTRIES_PER_STEP = 2_048;

/** One slot to write: its key and its cell. */
export interface SlotWrite extends OrderedBytes {
  readonly key: Uint8Array;
}

/** How many counters a fold found in which state. */
export interface FoldCounts {
  readonly written: number;
  /** Their slots hold all of the batch already. */
  readonly skipped: number;
}

/**
 * Turns the tally of one ledger row into writes: *skip* what the slots hold already, *then* fold the rest, each touched slot
 * once and whole. In this order, by one caller at a time per cache:
 *
 * 1. `find` names the slots to restore at R, written back at W where answers differ; `restored` takes the answers.
 * 2. `behind` says which slots hold some of the batch and not all; the records are counted again for those.
 * 3. `fold` gives the writes and keeps the slots, pinned under the batch's number until `SlotCache.acked`.
 *
 * A fold that is not carried to its end changes nothing in the cache.
 */
export class TallyFold {
  readonly tally: Tally;
  readonly row: number;
  readonly #cache: SlotCache;
  readonly #suffix: Uint8Array;
  readonly #slots: (LiveSlot | undefined)[] = [];
  readonly #unknown: number[] = [];

  /** `suffix` is what follows a counter's key in the keys of this row's slots, see `slotSuffix`. */
  constructor(tally: Tally, row: number, suffix: Uint8Array, cache: SlotCache) {
    this.tally = tally;
    this.row = row;
    this.#suffix = suffix;
    this.#cache = cache;
  }

  /** Looks up the slots; appends the keys of those that have to be restored to `unknown`. */
  *find(unknown: Uint8Array[]): Steps<void> {
    for (let entry = 0; entry < this.tally.size; entry += 1) {
      if (pieceEnds(entry)) yield;
      const slot = this.#cache.find(this.row, this.tally, entry);
      this.#slots.push(slot);
      if (slot !== undefined) continue;
      this.#unknown.push(entry);
      unknown.push(slotKey(this.tally.key(entry), this.#suffix));
    }
  }

  /**
   * Takes what is stored under the keys of {@link find}, in their order and from `at` on; undefined for nothing. Returns where
   * that ends.
   */
  *restored(cells: readonly (OrderedBytes | undefined)[], at: number): Steps<number> {
    const end = at + this.#unknown.length;
    invariant(end <= cells.length, "RESTORED", `${cells.length} cells, at least ${end} were asked for`);
    for (const [index, entry] of this.#unknown.entries()) {
      if (pieceEnds(index)) yield;
      const family = this.tally.families[this.tally.family(entry)];
      invariant(family !== undefined, "COUNTER_FAMILY", "a counter of no family");
      const slot = new LiveSlot(family);
      const cell = cells[at + index];
      if (cell !== undefined) slot.restore(cell);
      this.#slots[entry] = slot;
    }
    this.#unknown.length = 0;
    return end;
  }

  /**
   * For `countAgain`: by entry, the offset of a slot that holds some of its records and not all, else Infinity. Undefined
   * when there is none, which is the rule.
   */
  behind(): Float64Array | undefined {
    let after: Float64Array | undefined;
    for (let entry = 0; entry < this.tally.size; entry += 1) {
      const { offset } = this.#slot(entry);
      if (offset < this.tally.first(entry) || offset >= this.tally.last(entry)) continue;
      after ??= new Float64Array(this.tally.size).fill(Infinity);
      after[entry] = offset;
    }
    return after;
  }

  /** Adds what the slots do not hold yet, keeps them under batch `seq` (1 or more), and appends their writes. */
  *fold(seq: number, writes: SlotWrite[]): Steps<FoldCounts> {
    const { tally } = this;
    this.#takeVisits();
    let written = 0;
    for (let entry = 0; entry < tally.size; entry += 1) {
      if (pieceEnds(entry)) yield;
      const slot = this.#slot(entry);
      const holdsAll = slot.offset >= tally.last(entry);
      if (!holdsAll) {
        this.#add(entry, slot);
        slot.offset = tally.last(entry);
        const { order, bytes } = slot.encode();
        writes.push({ key: slotKey(tally.key(entry), this.#suffix), order, bytes });
        written += 1;
      }
      this.#cache.keep(this.row, tally, entry, slot, holdsAll ? 0 : seq);
    }
    return { written, skipped: tally.size - written };
  }

  /** Before the sums: a visit counts when its offset is above the slot's. */
  #takeVisits(): void {
    this.tally.eachVisit((entry, offset, high, low) => {
      const slot = this.#slot(entry);
      if (offset > slot.offset) slot.visitors?.add(high, low);
    });
  }

  #add(entry: number, { totals }: LiveSlot): void {
    const { tally } = this;
    const wide = tally.families[tally.family(entry)]?.wide === true;
    for (let value = 0; value < totals.length; value += 1) {
      if (wide) totals.addWide(value, tally.high(entry, value), tally.low(entry, value));
      else {
        const sum = tally.sum(entry, value);
        if (sum !== 0) totals.add(value, sum);
      }
    }
  }

  #slot(entry: number): LiveSlot {
    const slot = this.#slots[entry];
    invariant(slot !== undefined, "SLOT_UNKNOWN", "a slot is folded before it was restored");
    return slot;
  }
}

function pieceEnds(entry: number): boolean {
  return entry % ENTRIES_PER_STEP === ENTRIES_PER_STEP - 1;
}
