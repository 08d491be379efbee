/**
 * Back-pressure: callers wait, in order, while an owner that is up has too much waiting. Whoever is admitted reserves his
 * bytes until they are handed to the owners, so that many callers cannot pass together.
 */
export class Admission {
  readonly #backlog: () => number;
  readonly #limit: number;
  readonly #waiting: { readonly bytes: number; readonly admit: () => void; readonly refuse: (error: Error) => void }[] =
    [];
  #reserved = 0;

  /** `backlog` tells the bytes that wait at the slowest owner; a caller passes while it is at most `limit` bytes. */
  constructor(backlog: () => number, limit: number) {
    this.#backlog = backlog;
    this.#limit = limit;
  }

  /** Resolves when the caller may go on, with `bytes` reserved: {@link release} them. Rejects when all are refused. */
  enter(bytes: number): Promise<void> {
    if (this.#waiting.length === 0 && this.#open()) {
      this.#reserved += bytes;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => this.#waiting.push({ bytes, admit: resolve, refuse: reject }));
  }

  /** Whether somebody waits. */
  get waiting(): boolean {
    return this.#waiting.length > 0;
  }

  release(bytes: number): void {
    this.#reserved -= bytes;
    this.recheck();
  }

  /** Admits who may pass now; to be called when a backlog shrank or an owner went down. */
  recheck(): void {
    while (this.#open()) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#reserved += next.bytes;
      next.admit();
    }
  }

  /** Sends everybody away who waits. */
  refuseAll(error: Error): void {
    for (const { refuse } of this.#waiting.splice(0)) refuse(error);
  }

  #open(): boolean {
    return this.#backlog() + this.#reserved <= this.#limit;
  }
}
