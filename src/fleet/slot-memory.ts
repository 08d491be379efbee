/** Memory for slots, shared by the runners of counting kinds in one process: each may use an equal part. */
export class SlotMemory {
  readonly #totalBytes: number;
  #runners = 0;

  constructor(totalBytes: number) {
    this.#totalBytes = totalBytes;
  }

  /** A runner begins; the returned function ends it, once. */
  join(): () => void {
    this.#runners += 1;
    let joined = true;
    return () => {
      if (joined) this.#runners -= 1;
      joined = false;
    };
  }

  /** What one runner may use now, in bytes. */
  get shareBytes(): number {
    return this.#totalBytes / Math.max(this.#runners, 1);
  }
}
