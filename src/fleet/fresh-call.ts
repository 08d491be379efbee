/**
 * Shares one question among all who ask at the same time, without ever handing out an answer that began before it was
 * asked for: who comes while one is under way waits for the next.
 */
export class FreshCall<T> {
  readonly #ask: () => Promise<T>;
  #current: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(ask: () => Promise<T>) {
    this.#ask = ask;
  }

  /** An answer to a question that is asked now or later. @throws what asking throws */
  async fresh(): Promise<T> {
    if (this.#current === undefined) {
      // Who asks in the same turn shares it: it has not left yet.
      this.#current = Promise.resolve().then(this.#ask);
      return this.#settled(this.#current);
    }
    this.#next ??= this.#current.then(
      () => this.fresh(),
      () => this.fresh(),
    );
    return this.#next;
  }

  async #settled(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } finally {
      this.#current = undefined;
      this.#next = undefined;
    }
  }
}
