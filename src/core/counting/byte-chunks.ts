const CHUNK_BYTES = 65_536;

/** Hands out pieces of large arrays, for what lives as long as each other: a small array of its own takes several times as much. */
export class ByteChunks {
  #chunk = new Uint8Array(0);
  #used = 0;

  /** A piece of `length` bytes, all 0. */
  take(length: number): Uint8Array {
    if (this.#used + length > this.#chunk.length) {
      this.#chunk = new Uint8Array(Math.max(CHUNK_BYTES, length));
      this.#used = 0;
    }
    this.#used += length;
    return this.#chunk.subarray(this.#used - length, this.#used);
  }
}
