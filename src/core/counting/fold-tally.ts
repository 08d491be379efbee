import type { OrderedBytes } from "../cell.ts";
import { invariant } from "../invariant.ts";
import type { Steps } from "../steps.ts";
import type { Offset } from "../offset.ts";
import { ByteChunks } from "./byte-chunks.ts";
import { type SlotCache, type SlotPlace, UNKNOWN_SLOT } from "./slot-cache.ts";
import type { Tally } from "./tally.ts";
import { WorkingSlot } from "./working-slot.ts";

/** Counters that are looked up or folded in a piece: some milliseconds. */
const ENTRIES_PER_STEP = 2_048;

/** One slot to write: its key and its cell. */
export interface SlotWrite extends OrderedBytes {
  readonly space: "slot";
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
 */
export class TallyFold {
  readonly tally: Tally;
  readonly row: number;
  readonly #cache: SlotCache;
  readonly #suffix: Uint8Array;
  /** By entry: its place in the cache, or where its cell is among {@link #cells}, counted down from {@link RESTORED}. */
  readonly #places: Int32Array;
  readonly #unknown: number[] = [];
  #cells: readonly (OrderedBytes | undefined)[] = [];
  /** Of what is written. */
  readonly #chunks = new ByteChunks();
  /** By family. */
  readonly #working: readonly WorkingSlot[];

  /** `suffix` is what follows a counter's key in the keys of this row's slots, see `slotSuffix`. */
  constructor(tally: Tally, row: number, suffix: Uint8Array, cache: SlotCache) {
    this.tally = tally;
    this.row = row;
    this.#suffix = suffix;
    this.#cache = cache;
    this.#places = new Int32Array(tally.size).fill(UNKNOWN_SLOT);
    this.#working = tally.families.map((family) => new WorkingSlot(family));
  }

  /** Looks up the slots; appends the keys of those that have to be restored to `unknown`. */
  *find(unknown: Uint8Array[]): Steps<void> {
    for (let entry = 0; entry < this.tally.size; entry += 1) {
      if (pieceEnds(entry)) yield;
      const place = this.#cache.find(this.row, this.tally, entry);
      this.#places[entry] = place;
      if (place !== UNKNOWN_SLOT) continue;
      this.#unknown.push(entry);
      unknown.push(this.#key(entry));
    }
  }

  /**
   * Takes what is stored under the keys of {@link find}, in their order and from `at` on; undefined for nothing. Returns where
   * that ends.
   */
  restored(cells: readonly (OrderedBytes | undefined)[], at: number): number {
    const end = at + this.#unknown.length;
    invariant(end <= cells.length, "RESTORED", `${cells.length} cells, at least ${end} were asked for`);
    this.#cells = cells;
    for (const [index, entry] of this.#unknown.entries()) this.#places[entry] = RESTORED - at - index;
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
      const offset = this.#offset(entry);
      if (offset < this.tally.first(entry) || offset >= this.tally.last(entry)) continue;
      after ??= new Float64Array(this.tally.size).fill(Infinity);
      after[entry] = offset;
    }
    return after;
  }

  /**
   * Adds what the slots do not hold yet, keeps them under batch `seq` (1 or more), and appends their writes. When it is not
   * carried to its end the cache has to be dropped: it holds what nobody will write. @throws InvariantViolation for a stored
   * slot of another shape than the row's
   */
  *fold(seq: number, writes: SlotWrite[]): Steps<FoldCounts> {
    const { tally } = this;
    let written = 0;
    for (let entry = 0; entry < tally.size; entry += 1) {
      if (pieceEnds(entry)) yield;
      if (this.#offset(entry) >= tally.last(entry)) this.#pass(entry);
      else {
        writes.push(this.#count(entry, seq));
        written += 1;
      }
    }
    return { written, skipped: tally.size - written };
  }

  /** The slot holds all of it. */
  #pass(entry: number): void {
    const place = this.#place(entry);
    if (place >= 0) this.#cache.use(place);
    else {
      const { order, bytes } = this.#cell(place) ?? NOTHING_STORED;
      this.#cache.keep(this.row, this.tally, entry, place, bytes, order - 1, 0);
    }
  }

  #count(entry: number, seq: number): SlotWrite {
    const { tally } = this;
    const place = this.#place(entry);
    const slot = this.#load(entry, place);
    const { visitors } = slot;
    if (visitors !== undefined) {
      const from = this.#offset(entry);
      tally.eachVisit(entry, (offset, high, low) => {
        if (offset > from) visitors.add(high, low);
      });
    }
    this.#add(entry, slot);
    const offset = tally.last(entry);
    const { order, bytes } = slot.encode(offset, this.#chunks);
    this.#cache.keep(this.row, tally, entry, place, bytes, offset, seq);
    return { space: "slot", key: this.#key(entry), order, bytes };
  }

  #load(entry: number, place: SlotPlace): WorkingSlot {
    const slot = this.#working[this.tally.family(entry)];
    invariant(slot !== undefined, "COUNTER_FAMILY", "a counter of no family");
    const cell = this.#cell(place);
    if (place >= 0) this.#cache.load(place, slot);
    else if (cell !== undefined) slot.load(cell.bytes, 0, cell.bytes.length);
    else slot.clear();
    return slot;
  }

  #add(entry: number, { totals }: WorkingSlot): void {
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

  /** Up to where the slot counts; −1 when it holds nothing. */
  #offset(entry: number): Offset {
    const place = this.#place(entry);
    return place >= 0 ? this.#cache.offset(place) : (this.#cell(place)?.order ?? 0) - 1;
  }

  /** The restored cell at a place that is not the cache's. */
  #cell(place: SlotPlace): OrderedBytes | undefined {
    return place > RESTORED ? undefined : this.#cells[RESTORED - place];
  }

  #key(entry: number): Uint8Array {
    const length = this.tally.keyLength(entry);
    const suffix = this.#suffix;
    const key = this.#chunks.take(length + suffix.length);
    this.tally.copyKey(entry, key);
    for (let index = 0; index < suffix.length; index += 1) key[length + index] = suffix[index] ?? 0;
    return key;
  }

  #place(entry: number): SlotPlace {
    const place = this.#places[entry] ?? UNKNOWN_SLOT;
    invariant(place !== UNKNOWN_SLOT, "SLOT_UNKNOWN", "a slot is folded before it was restored");
    return place;
  }
}

/** The place of the first restored cell. */
const RESTORED = UNKNOWN_SLOT - 1;
/** What `#pass` cannot meet: a slot that holds nothing holds no record. */
const NOTHING_STORED: OrderedBytes = { order: 0, bytes: new Uint8Array(0) };

function pieceEnds(entry: number): boolean {
  return entry % ENTRIES_PER_STEP === ENTRIES_PER_STEP - 1;
}
