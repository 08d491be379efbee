/** UTF-16 units of text that are kept. */
const SIZE_MAX = 16 * 1024 * 1024;

/** Versions of descriptors by name, bounded by the size of their text; the one that was not asked for longest goes first. */
export class VersionCache<T> {
  readonly #entries = new Map<string, { readonly value: T; readonly size: number }>();
  #size = 0;

  /** UTF-16 units that are kept now. */
  get size(): number {
    return this.#size;
  }

  get(name: string): T | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    return entry.value;
  }

  /** `size`: in UTF-16 units. One that is larger than all together may be is not kept. */
  set(name: string, value: T, size: number): void {
    this.#drop(name);
    if (size > SIZE_MAX) return;
    this.#entries.set(name, { value, size });
    this.#size += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= SIZE_MAX) return;
      this.#drop(oldest);
    }
  }

  #drop(name: string): void {
    this.#size -= this.#entries.get(name)?.size ?? 0;
    this.#entries.delete(name);
  }
}
