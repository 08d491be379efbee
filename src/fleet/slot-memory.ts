/**
 * Memory for slots, shared by the runners of counting kinds in one process: each may use an equal part. Who comes makes the others
 * smaller at once: one that is idle would keep what it had.
 */
export class SlotMemory {
  readonly #totalBytes: number;
  readonly #runners = new Set<() => void>();

  constructor(totalBytes: number) {
    this.#totalBytes = totalBytes;
  }

  /** A runner begins; `trim` makes it keep to its share. The returned function ends it. */
  join(trim: () => void): () => void {
    for (const other of this.#runners.add(trim)) other();
    return () => {
      this.#runners.delete(trim);
    };
  }

  /** What one runner may use now, in bytes. */
  get shareBytes(): number {
    return this.#totalBytes / Math.max(this.#runners.size, 1);
  }
}
