/** Byte strings of any length in one array: no object for any of them. What is released is used again. */
export class CellArena {
  #bytes = new Uint8Array(256);
  #used = 0;
  /** Places of released strings, by the room that they have. */
  readonly #free = new Map<number, number[]>();

  /** What places are in: holds until the next string is put. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Memory that was ever written to, in bytes. */
  get byteLength(): number {
    return this.#used;
  }

  /** Keeps the bytes. Returns their place. */
  put(bytes: Uint8Array): number {
    const room = roomOf(bytes.length);
    const start = this.#free.get(room)?.pop() ?? this.#grow(room);
    this.#write(start, bytes);
    return start;
  }

  /** Puts bytes in the stead of those of `length` at `start`. Returns their place. */
  replace(start: number, length: number, bytes: Uint8Array): number {
    if (roomOf(length) === roomOf(bytes.length)) {
      this.#write(start, bytes);
      return start;
    }
    this.release(start, length);
    return this.put(bytes);
  }

  /** The place of `length` bytes may be used again. */
  release(start: number, length: number): void {
    const room = roomOf(length);
    const free = this.#free.get(room);
    if (free === undefined) this.#free.set(room, [start]);
    else free.push(start);
  }

  #grow(room: number): number {
    const start = this.#used;
    this.#used += room;
    if (this.#used > this.#bytes.length) {
      const bytes = new Uint8Array(Math.max(this.#used, 2 * this.#bytes.length));
      bytes.set(this.#bytes);
      this.#bytes = bytes;
    }
    return start;
  }

  #write(start: number, bytes: Uint8Array): void {
    const target = this.#bytes;
    // A call costs more than a few bytes.
    if (bytes.length > 64) target.set(bytes, start);
    else for (let index = 0; index < bytes.length; index += 1) target[start + index] = bytes[index] ?? 0;
  }
}

/** Room for so many bytes: up to a quarter more, so that most strings grow where they stand. */
function roomOf(length: number): number {
  if (length <= 32) return (length + 7) & ~7;
  const step = 2 ** (29 - Math.clz32(length));
  return Math.ceil(length / step) * step;
}
