import type { OrderedBytes } from "../cell.ts";
import { invariant } from "../invariant.ts";
import type { Offset } from "../offset.ts";
import { ByteTable, hashByte } from "./byte-table.ts";
import type { CounterFamily } from "./inputs.ts";
import { VisitorSketch } from "./sketch.ts";
import { decodeSlot, encodeTotals } from "./slot.ts";
import type { Tally } from "./tally.ts";
import { Totals } from "./totals.ts";

/** A slot as the runner that counts it holds it. */
export class LiveSlot {
  /** −1: it holds nothing yet. */
  offset: Offset = -1;
  totals: Totals;
  visitors: VisitorSketch | undefined;
  /** The batch that wrote it last, while that write is not at W; 0 otherwise. Pinned meanwhile: a restore would not find it. */
  writing = 0;
  /** The half of a cache that it was last put into: found there, it need not be looked up again. */
  home: object | undefined;
  /** Bytes that it was last counted with there. */
  size = 0;

  constructor(family: CounterFamily) {
    this.totals = new Totals(family.values);
    this.visitors = family.visitors ? new VisitorSketch() : undefined;
  }

  /** Takes over what is stored. @throws InvariantViolation for a slot of another shape, which a row never holds */
  restore(cell: OrderedBytes): void {
    const { offset, counters, visitors } = decodeSlot(cell);
    const same = counters.length === this.totals.length && (visitors === undefined) === (this.visitors === undefined);
    invariant(same, "SLOT_SHAPE", "a stored slot has another shape than its row's revision");
    this.offset = offset;
    this.totals = Totals.of(counters);
    this.visitors = visitors;
  }

  /** Its cell, whole (I9). */
  encode(): OrderedBytes {
    return encodeTotals(this.offset, this.totals, this.visitors);
  }

  /** Memory that it takes beside its key, in bytes, about. */
  get byteLength(): number {
    return SLOT_BYTES + 8 * this.totals.length + (this.visitors?.byteLength ?? 0);
  }
}

const SLOT_BYTES = 160;
const ROW_BYTES = 4;

/** Half of a cache: entries are added and never taken out; it is dropped as a whole. */
interface Half {
  readonly keys: ByteTable;
  readonly slots: LiveSlot[];
  /** Row of each slot. */
  readonly rows: number[];
  bytes: number;
}

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
  #young = newHalf();
  #old = newHalf();
  /** Rows that this runner has counted from their first record on, without ever evicting a slot: what is not here is empty. */
  readonly #whole = new Set<number>();
  readonly #met = new Set<number>();
  readonly #written = new Map<number, LiveSlot[]>();
  /** The key that was written last, its length and hash. */
  #scratch = new Uint8Array(256);
  #length = 0;
  #hash = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Slots that it holds. */
  get size(): number {
    return this.#young.slots.length + this.#old.slots.length;
  }

  /** Memory that it takes, in bytes, about. */
  get byteLength(): number {
    return halfBytes(this.#young) + halfBytes(this.#old);
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

  /** The slot of an entry; a new one where that is known to be empty; undefined: restore it. */
  find(row: number, tally: Tally, entry: number): LiveSlot | undefined {
    this.#writeKey(row, tally, entry);
    for (const half of [this.#young, this.#old]) {
      const found = half.slots.length === 0 ? -1 : half.keys.find(this.#scratch, this.#length, this.#hash);
      if (found !== -1) return half.slots[found];
    }
    const family = tally.families[tally.family(entry)];
    return family !== undefined && this.#whole.has(row) ? new LiveSlot(family) : undefined;
  }

  /** Keeps the slot of an entry, written by batch `seq` (0: not at all). */
  keep(row: number, tally: Tally, entry: number, slot: LiveSlot, seq: number): void {
    if (seq !== 0) this.#pin(slot, seq);
    const half = this.#young;
    if (slot.home === half) return resize(half, slot);
    this.#writeKey(row, tally, entry);
    half.keys.add(this.#scratch, this.#length, this.#hash);
    append(half, slot, row);
  }

  /** The writes of batch `seq` are at W. */
  acked(seq: number): void {
    for (const slot of this.#written.get(seq) ?? []) if (slot.writing === seq) slot.writing = 0;
    this.#written.delete(seq);
  }

  /** Evicts what is too much, or more where others need the memory. Called between batches. */
  trim(maxBytes = this.#maxBytes): void {
    if (halfBytes(this.#young) > maxBytes / 2) this.#turn();
    // Kept under a larger share than it has now.
    if (halfBytes(this.#old) > maxBytes) this.#turn();
  }

  /** The old half goes, but for what is pinned, and the young one is the old one. */
  #turn(): void {
    const gone = this.#old;
    this.#old = this.#young;
    this.#young = newHalf();
    for (const [entry, slot] of gone.slots.entries()) {
      // Moved to the young half meanwhile, which is the old one now: nothing is lost.
      if (slot.home !== gone) continue;
      const row = gone.rows[entry] ?? 0;
      if (slot.writing === 0) this.#whole.delete(row);
      else {
        const key = gone.keys.key(entry);
        this.#young.keys.add(key, key.length, gone.keys.hash(entry));
        append(this.#young, slot, row);
      }
    }
  }

  /** Forgets everything: a batch was abandoned, reading goes on elsewhere, or the assignment is another. */
  drop(): void {
    this.#young = newHalf();
    this.#old = newHalf();
    this.#whole.clear();
    this.#met.clear();
    this.#written.clear();
  }

  #pin(slot: LiveSlot, seq: number): void {
    slot.writing = seq;
    const written = this.#written.get(seq);
    if (written === undefined) this.#written.set(seq, [slot]);
    else written.push(slot);
  }

  /** Writes the key of an entry's slot, with its row, into the scratch. */
  #writeKey(row: number, tally: Tally, entry: number): void {
    const key = tally.key(entry);
    const length = key.length + ROW_BYTES;
    if (this.#scratch.length < length) this.#scratch = new Uint8Array(2 * length);
    const scratch = this.#scratch;
    scratch.set(key);
    let hash = tally.hash(entry);
    for (let index = 0; index < ROW_BYTES; index += 1) {
      const byte = (row >>> (8 * index)) & 0xff;
      scratch[key.length + index] = byte;
      hash = hashByte(hash, byte);
    }
    this.#length = length;
    this.#hash = hash;
  }
}

function newHalf(): Half {
  return { keys: new ByteTable(), slots: [], rows: [], bytes: 0 };
}

function append(half: Half, slot: LiveSlot, row: number): void {
  half.slots.push(slot);
  half.rows.push(row);
  slot.home = half;
  slot.size = slot.byteLength;
  half.bytes += slot.size;
}

/** Sketches grow. */
function resize(half: Half, slot: LiveSlot): void {
  const size = slot.byteLength;
  half.bytes += size - slot.size;
  slot.size = size;
}

function halfBytes(half: Half): number {
  return half.bytes + half.keys.byteLength;
}
