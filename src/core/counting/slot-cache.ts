import { invariant } from "../invariant.ts";
import type { Offset } from "../offset.ts";
import { hashByte } from "./byte-table.ts";
import { SlotColumns } from "./slot-columns.ts";
import type { Tally } from "./tally.ts";
import type { WorkingSlot } from "./working-slot.ts";

/** Bytes of the row's number behind a counter's key. */
const ROW_BYTES = 4;

/** Where a slot is that a cache holds: holds until the cache is trimmed or dropped, or keeps that slot. */
export type SlotPlace = number;
/** No place: the slot is known to be empty. */
export const EMPTY_SLOT = -1;
/** No place: nobody knows what the slot holds. */
export const UNKNOWN_SLOT = -2;

/**
 * The slots that a runner knows, of all its rows, bounded in bytes. What it does not know is restored before it is counted on.
 *
 * 1. A slot stays while its last write is not at W: read back meanwhile, a quorum might answer with an older one, and counting
 *    on that would lose what is on its way.
 * 2. After an abandoned batch, a seek or a new assignment epoch everything is dropped: what was counted and never written
 *    would make the same records look as if they were stored.
 *
 * Two halves stand for "used lately": what is used moves to the young one; when that is full the old one goes, but for what
 * is pinned.
 */
export class SlotCache {
  readonly #maxBytes: number;
  #young = new SlotColumns();
  #old = new SlotColumns();
  /** Rows that this runner has counted from their first record on, without ever evicting a slot: what is not here is empty. */
  readonly #whole = new Set<number>();
  readonly #met = new Set<number>();
  /** Batches that have written slots and are not at W. */
  readonly #writing = new Set<number>();
  /** The key that was written last, its length and hash. */
  #scratch = new Uint8Array(256);
  #length = 0;
  #hash = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Slots that it holds. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** Memory that it takes, in bytes, about. */
  get byteLength(): number {
    return this.#young.byteLength + this.#old.byteLength;
  }

  /**
   * Before anything is counted into a row: `position` is where the batch begins that meets it. A row that this runner counts
   * from its first record on needs no restoring: whoever else counts in it writes the same totals.
   *
   * It is not enough that reading began below the row: a recount may have put the row in the place of one that is half read.
   */
  meet(row: { readonly number: number; readonly from: Offset }, position: Offset): void {
    if (this.#met.has(row.number)) return;
    this.#met.add(row.number);
    if (position <= row.from) this.#whole.add(row.number);
  }

  /** Where the slot of an entry is. */
  find(row: number, tally: Tally, entry: number): SlotPlace {
    this.#writeKey(row, tally, entry);
    const young = this.#lookUp(this.#young);
    if (young !== -1) return 2 * young;
    const old = this.#lookUp(this.#old);
    if (old !== -1) return 2 * old + 1;
    return this.#whole.has(row) ? EMPTY_SLOT : UNKNOWN_SLOT;
  }

  /** The offset up to which the slot at a place counts. */
  offset(place: SlotPlace): Offset {
    return this.#half(place).offset(place >> 1);
  }

  /** Loads the slot at a place. */
  load(place: SlotPlace, slot: WorkingSlot): void {
    const half = this.#half(place);
    slot.load(half.bytes, half.start(place >> 1), half.end(place >> 1));
  }

  /**
   * Keeps the slot of an entry, which was found at `place`, as it is to be stored: its cell up to `offset`, written by batch
   * `seq` (0: it is stored like that).
   */
  keep(
    row: number,
    tally: Tally,
    entry: number,
    place: SlotPlace,
    cell: Uint8Array,
    offset: Offset,
    seq: number,
  ): void {
    if (seq !== 0) this.#writing.add(seq);
    if (place >= 0 && place % 2 === 0) {
      this.#young.replace(place >> 1, cell, offset, seq);
      return;
    }
    if (place >= 0) this.#old.move(place >> 1);
    this.#writeKey(row, tally, entry);
    this.#young.add(this.#scratch, this.#length, this.#hash, cell, offset, seq);
  }

  /** The slot at a place was used, and stays as it is. */
  use(place: SlotPlace): void {
    if (place % 2 === 0) return;
    this.#rejuvenate(this.#old, place >> 1);
    this.#old.move(place >> 1);
  }

  /** The writes of batch `seq` are at W. */
  acked(seq: number): void {
    this.#writing.delete(seq);
  }

  /** Evicts what is too much, or more where others need the memory. Called between batches. */
  trim(maxBytes = this.#maxBytes): void {
    if (this.#young.byteLength > maxBytes / 2) this.#turn();
    // Kept under a larger share than it has now.
    if (this.#old.byteLength > maxBytes) this.#turn();
  }

  /** The old half goes, but for what is pinned, and the young one is the old one. */
  #turn(): void {
    const gone = this.#old;
    this.#old = this.#young;
    this.#young = new SlotColumns();
    for (let entry = 0; entry < gone.size; entry += 1) {
      if (gone.moved(entry)) continue;
      if (this.#writing.has(gone.writer(entry))) this.#rejuvenate(gone, entry);
      else if (this.#whole.size > 0) this.#whole.delete(rowOf(gone.keys.key(entry)));
    }
  }

  #rejuvenate(half: SlotColumns, entry: number): void {
    const { keys, bytes } = half;
    const key = keys.key(entry);
    const cell = bytes.subarray(half.start(entry), half.end(entry));
    this.#young.add(key, key.length, keys.hash(entry), cell, half.offset(entry), half.writer(entry));
  }

  /** Forgets everything: a batch was abandoned, reading goes on elsewhere, or the assignment is another. */
  drop(): void {
    this.#young = new SlotColumns();
    this.#old = new SlotColumns();
    this.#whole.clear();
    this.#met.clear();
    this.#writing.clear();
  }

  #lookUp(half: SlotColumns): number {
    return half.size === 0 ? -1 : half.keys.find(this.#scratch, this.#length, this.#hash);
  }

  #half(place: SlotPlace): SlotColumns {
    const half = place % 2 === 0 ? this.#young : this.#old;
    invariant(place >= 0 && place >> 1 < half.size && !half.moved(place >> 1), "SLOT_PLACE", `no slot at ${place}`);
    return half;
  }

  /** Writes the key of an entry's slot, with its row, into the scratch. */
  #writeKey(row: number, tally: Tally, entry: number): void {
    const bytes = tally.keyLength(entry);
    const length = bytes + ROW_BYTES;
    if (this.#scratch.length < length) this.#scratch = new Uint8Array(2 * length);
    const scratch = this.#scratch;
    tally.copyKey(entry, scratch);
    let hash = tally.hash(entry);
    for (let index = 0; index < ROW_BYTES; index += 1) {
      const byte = (row >>> (8 * index)) & 0xff;
      scratch[bytes + index] = byte;
      hash = hashByte(hash, byte);
    }
    this.#length = length;
    this.#hash = hash;
  }
}

function rowOf(key: Uint8Array): number {
  let row = 0;
  for (let index = 1; index <= ROW_BYTES; index += 1) row = row * 256 + (key[key.length - index] ?? 0);
  return row;
}
