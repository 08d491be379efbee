import { invariant } from "../invariant.ts";
import type { Offset } from "../offset.ts";
import { ByteTable, HASH_SEED, hashByte } from "./byte-table.ts";
import type { CounterFamily, Increments, KeyPrefix } from "./inputs.ts";
import { putMoment } from "./keys.ts";

/** A sum of low halves that reaches this hands it on to the high half, so that it stays exact in a double. */
const LOW_MAX = 2 ** 52;
const LOW_MAX_HIGH = 2 ** 20;

/** Longer than any key: a writer that goes beyond is found out when the key is selected. */
const KEY_ROOM = 2_048;

/**
 * What the records of one batch within one ledger row add to each counter. Built record by record without an object for any
 * of them: keys in one table, sums in one column, visitors in another.
 *
 * Records are counted before anybody knows what the slots hold already; so an entry knows its first and its last offset. A
 * slot between the two is rare (a crash in the middle of a batch that is cut otherwise now): for it the records are counted
 * again, {@link recount}, each slot's from behind its offset.
 */
export class Tally implements Increments {
  readonly families: readonly CounterFamily[];
  readonly #keys = new ByteTable();
  readonly #families: number[] = [];
  readonly #first: Offset[] = [];
  readonly #last: Offset[] = [];
  /** Where the entry's sums begin. */
  readonly #bases: number[] = [];
  #sums = new Float64Array(64);
  #used = 0;
  /** By entry: its last visit + 1; 0 where it has none. */
  readonly #lastVisits: number[] = [];
  /** By visit: the entry's visit before it + 1; 0 where there is none. */
  #visitsBefore = new Int32Array(0);
  #visitOffsets = new Float64Array(0);
  #visitHashes = new Uint32Array(0);
  #visits = 0;
  /** Entries are counted from behind these offsets only; undefined the first time. */
  #after: Float64Array | undefined;

  readonly #key = new Uint8Array(KEY_ROOM);
  #length = 0;
  #hash = HASH_SEED;
  #markedLength = 0;
  #markedHash = HASH_SEED;
  #offset: Offset = -1;
  /** The entry that additions go to; −1: its slot holds this record already. */
  #entry = -1;
  #base = 0;

  constructor(families: readonly CounterFamily[]) {
    this.families = families;
  }

  /** How many counters were touched. Entries are numbered from 0. */
  get size(): number {
    return this.#keys.size;
  }

  /** Begins a record. Offsets ascend. */
  begin(offset: Offset): void {
    this.#offset = offset;
  }

  open({ bytes, hash }: KeyPrefix): void {
    this.#key.set(bytes);
    this.#length = bytes.length;
    this.#hash = hash;
  }

  part(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    this.byte(length >>> 8);
    this.byte(length & 0xff);
    let hash = this.#hash;
    let at = this.#length;
    const key = this.#key;
    for (let index = start; index < end; index += 1) {
      const value = bytes[index] ?? 0;
      key[at] = value;
      at += 1;
      hash = hashByte(hash, value);
    }
    this.#hash = hash;
    this.#length = at;
  }

  byte(value: number): void {
    this.#key[this.#length] = value;
    this.#length += 1;
    this.#hash = hashByte(this.#hash, value);
  }

  moment(ms: number): void {
    const from = this.#length;
    putMoment(this.#key, from, ms);
    for (let index = from; index < from + 8; index += 1) this.byte(this.#key[index] ?? 0);
  }

  mark(): void {
    this.#markedLength = this.#length;
    this.#markedHash = this.#hash;
  }

  rewind(): void {
    this.#length = this.#markedLength;
    this.#hash = this.#markedHash;
  }

  select(family: number): void {
    invariant(this.#length < KEY_ROOM, "KEY_LENGTH", `a key of ${this.#length} bytes`);
    const found = this.#keys.find(this.#key, this.#length, this.#hash);
    const entry = found === -1 ? this.#add(family) : found;
    this.#base = this.#bases[entry] ?? 0;
    if (this.#after === undefined) {
      this.#last[entry] = this.#offset;
      this.#entry = entry;
    } else {
      this.#entry = this.#offset > (this.#after[entry] ?? Infinity) ? entry : -1;
    }
  }

  add(value: number, amount: number): void {
    if (this.#entry === -1) return;
    const at = this.#base + value;
    this.#sums[at] = (this.#sums[at] ?? 0) + amount;
  }

  addWide(value: number, high: number, low: number): void {
    if (this.#entry === -1) return;
    const at = this.#base + 2 * value;
    const sum = (this.#sums[at + 1] ?? 0) + low;
    const carried = sum >= LOW_MAX;
    this.#sums[at + 1] = carried ? sum - LOW_MAX : sum;
    this.#sums[at] = (this.#sums[at] ?? 0) + (carried ? high + LOW_MAX_HIGH : high);
  }

  visitor(high: number, low: number): void {
    // Whether a slot holds the visit already is looked at when it is taken over.
    if (this.#after !== undefined) return;
    if (this.#visits === this.#visitsBefore.length) this.#growVisits();
    const at = this.#visits;
    this.#visitsBefore[at] = this.#lastVisits[this.#entry] ?? 0;
    this.#visitOffsets[at] = this.#offset;
    this.#visitHashes[2 * at] = high;
    this.#visitHashes[2 * at + 1] = low;
    this.#visits += 1;
    this.#lastVisits[this.#entry] = this.#visits;
  }

  /** The key of an entry: a view that holds while nothing is added. */
  key(entry: number): Uint8Array {
    return this.#keys.key(entry);
  }

  /** How long it is. */
  keyLength(entry: number): number {
    return this.#keys.length(entry);
  }

  /** Copies it to the beginning of `target`. */
  copyKey(entry: number, target: Uint8Array): void {
    this.#keys.copy(entry, target);
  }

  /** Its hash, as of {@link ByteTable}. */
  hash(entry: number): number {
    return this.#keys.hash(entry);
  }

  /** Family of an entry, as an index. */
  family(entry: number): number {
    return this.#families[entry] ?? 0;
  }

  /** Offset of the first record that adds to an entry. */
  first(entry: number): Offset {
    return this.#first[entry] ?? 0;
  }

  /** Offset of the last one. */
  last(entry: number): Offset {
    return this.#last[entry] ?? 0;
  }

  /**
   * Sum of a value of an entry, where the family is not wide: an exact integer.
   * @throws InvariantViolation when it is beyond that, which takes millions of records of the largest amounts in one batch
   */
  sum(entry: number, value: number): number {
    const sum = this.#sums[(this.#bases[entry] ?? 0) + value] ?? 0;
    invariant(sum <= Number.MAX_SAFE_INTEGER, "TALLY_SUM", "a batch adds more than a tally can hold exactly");
    return sum;
  }

  /** The same as halves, where it is: `high · 2^32 + low`, both exact integers. */
  high(entry: number, value: number): number {
    return this.sum(entry, 2 * value);
  }

  low(entry: number, value: number): number {
    return this.sum(entry, 2 * value + 1);
  }

  /** Calls back for every visit of an entry, the last one first: its offset and the halves of the visitor's hash. */
  eachVisit(entry: number, take: (offset: Offset, high: number, low: number) => void): void {
    for (let visit = this.#lastVisits[entry] ?? 0; visit > 0; visit = this.#visitsBefore[visit - 1] ?? 0) {
      const at = visit - 1;
      take(this.#visitOffsets[at] ?? 0, this.#visitHashes[2 * at] ?? 0, this.#visitHashes[2 * at + 1] ?? 0);
    }
  }

  /**
   * From now on records add only to entries that have an offset in `after`, and only above it: their sums are empty again,
   * all others stay. The same records have to be counted again. By entry; Infinity where it stays.
   */
  recount(after: Float64Array): void {
    invariant(after.length === this.size, "TALLY_ENTRIES", `${after.length} offsets for ${this.size} entries`);
    this.#after = after;
    for (let entry = 0; entry < after.length; entry += 1) {
      if (after[entry] === Infinity) continue;
      const base = this.#bases[entry] ?? 0;
      this.#sums.fill(0, base, base + columnsOf(this.families[this.family(entry)]));
    }
  }

  #add(family: number): number {
    invariant(this.#after === undefined, "TALLY_CHANGED", "counted again, the records touch another counter");
    const entry = this.#keys.add(this.#key, this.#length, this.#hash);
    const columns = columnsOf(this.families[family]);
    this.#families.push(family);
    this.#lastVisits.push(0);
    this.#first.push(this.#offset);
    this.#last.push(this.#offset);
    this.#bases.push(this.#used);
    this.#used += columns;
    if (this.#used > this.#sums.length) {
      const sums = new Float64Array(2 * this.#used);
      sums.set(this.#sums);
      this.#sums = sums;
    }
    return entry;
  }

  #growVisits(): void {
    const room = Math.max(64, 2 * this.#visits);
    const before = new Int32Array(room);
    before.set(this.#visitsBefore);
    this.#visitsBefore = before;
    const offsets = new Float64Array(room);
    offsets.set(this.#visitOffsets);
    this.#visitOffsets = offsets;
    const hashes = new Uint32Array(2 * room);
    hashes.set(this.#visitHashes);
    this.#visitHashes = hashes;
  }
}

function columnsOf(family: CounterFamily | undefined): number {
  invariant(family !== undefined, "COUNTER_FAMILY", "a counter of no family");
  return family.wide ? 2 * family.values : family.values;
}
