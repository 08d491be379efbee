/**
 * A set of byte strings, each with a number from 0 on in the order of adding. It grows and is never taken from; it holds no
 * object per entry, and looking one up makes none.
 */
export class ByteTable {
  #size = 0;
  /** Entry + 1 by place; 0 is free. Its length is a power of two. */
  #places = new Int32Array(16);
  #hashes = new Int32Array(8);
  /** Where each entry's bytes end; entry i begins where i − 1 ends. */
  #ends = new Float64Array(8);
  #arena = new Uint8Array(128);

  /** How many there are. */
  get size(): number {
    return this.#size;
  }

  /** Memory that it takes, in bytes: of what has grown, only what was ever written to. */
  get byteLength(): number {
    return this.#places.byteLength + this.#size * ENTRY_BYTES + this.#startOf(this.#size);
  }

  /** The number of the first `length` bytes, whose hash is `hash`; −1 when they are not in the set. */
  find(bytes: Uint8Array, length: number, hash: number): number {
    const mask = this.#places.length - 1;
    for (let place = spread(hash) & mask; ; place = (place + 1) & mask) {
      const entry = (this.#places[place] ?? 0) - 1;
      if (entry < 0) return -1;
      if (this.#hashes[entry] === hash && this.#equal(entry, bytes, length)) return entry;
    }
  }

  /** Adds what {@link find} has not found. Returns its number. */
  add(bytes: Uint8Array, length: number, hash: number): number {
    const entry = this.#size;
    const start = this.#startOf(entry);
    this.#room(entry, start + length);
    for (let index = 0; index < length; index += 1) this.#arena[start + index] = bytes[index] ?? 0;
    this.#ends[entry] = start + length;
    this.#hashes[entry] = hash;
    this.#size += 1;
    this.#place(entry, hash);
    return entry;
  }

  /** Bytes of an entry: a view that holds until the next entry is added. */
  key(entry: number): Uint8Array {
    return this.#arena.subarray(this.#startOf(entry), this.#ends[entry]);
  }

  /** How long an entry is. */
  length(entry: number): number {
    return (this.#ends[entry] ?? 0) - this.#startOf(entry);
  }

  /** Copies an entry to the beginning of `target`. */
  copy(entry: number, target: Uint8Array): void {
    const start = this.#startOf(entry);
    const length = (this.#ends[entry] ?? 0) - start;
    for (let index = 0; index < length; index += 1) target[index] = this.#arena[start + index] ?? 0;
  }

  /** Hash of an entry. */
  hash(entry: number): number {
    return this.#hashes[entry] ?? 0;
  }

  #startOf(entry: number): number {
    return entry === 0 ? 0 : (this.#ends[entry - 1] ?? 0);
  }

  #equal(entry: number, bytes: Uint8Array, length: number): boolean {
    const start = this.#startOf(entry);
    if ((this.#ends[entry] ?? 0) - start !== length) return false;
    const arena = this.#arena;
    for (let index = 0; index < length; index += 1) if (arena[start + index] !== bytes[index]) return false;
    return true;
  }

  #place(entry: number, hash: number): void {
    const mask = this.#places.length - 1;
    let place = spread(hash) & mask;
    while (this.#places[place] !== 0) place = (place + 1) & mask;
    this.#places[place] = entry + 1;
  }

  #room(entry: number, bytes: number): void {
    if (bytes > this.#arena.length) {
      const arena = new Uint8Array(Math.max(bytes, 2 * this.#arena.length));
      arena.set(this.#arena);
      this.#arena = arena;
    }
    if (entry < this.#hashes.length) return;
    const hashes = new Int32Array(2 * this.#hashes.length);
    hashes.set(this.#hashes);
    this.#hashes = hashes;
    const ends = new Float64Array(2 * this.#ends.length);
    ends.set(this.#ends);
    this.#ends = ends;
    this.#places = new Int32Array(2 * this.#places.length);
    for (let index = 0; index < entry; index += 1) this.#place(index, hashes[index] ?? 0);
  }
}

const ENTRY_BYTES = Int32Array.BYTES_PER_ELEMENT + Float64Array.BYTES_PER_ELEMENT;

/** Hash of nothing, to go on from. */
export const HASH_SEED = 0x811c_9dc5 | 0;

/** Hash of what came before and one more byte (FNV-1a, 32 bits, public domain). */
export function hashByte(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x0100_0193);
}

/** FNV leaves its low bits poor where keys differ in their last bytes only. */
function spread(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}
