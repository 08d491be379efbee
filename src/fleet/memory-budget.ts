/**
 * Bytes of fetched batches that the process holds, over all sources. A source is crowded when the whole budget is used
 * and it uses more than its floor: so one source that holds never starves another (I16). Accounting, not refusal: a batch
 * that has arrived is held already, what a crowded source does is to fetch no further.
 */
export class MemoryBudget {
  readonly #totalBytes: number;
  readonly #floorBytes: number;
  readonly #used = new Map<string, number>();
  #sum = 0;

  /** @param totalBytes budget of the process; @param floorBytes what each source may use in any case */
  constructor(totalBytes: number, floorBytes: number) {
    this.#totalBytes = totalBytes;
    this.#floorBytes = floorBytes;
  }

  hold(source: string, bytes: number): void {
    this.#sum += bytes;
    this.#used.set(source, (this.#used.get(source) ?? 0) + bytes);
  }

  release(source: string, bytes: number): void {
    this.hold(source, -bytes);
  }

  crowded(source: string): boolean {
    return this.#sum >= this.#totalBytes && (this.#used.get(source) ?? 0) >= this.#floorBytes;
  }

  /** Bytes held now, over all sources. */
  get usedBytes(): number {
    return this.#sum;
  }
}
