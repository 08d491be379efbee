/**
 * Shares one question among all who ask at the same time, without ever handing out an answer that began before it was
 * asked for: who comes while one is under way waits for the next.
 */
export class FreshCall<T> {
  readonly #ask: () => Promise<T>;
  /** Asked for, and not sent yet: who comes now shares it. */
  #waiting: Promise<T> | undefined;
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(ask: () => Promise<T>) {
    this.#ask = ask;
  }

  /** An answer to a question that is sent now or later. @throws what asking throws */
  fresh(): Promise<T> {
    this.#waiting ??= this.#underWay.then(() => {
      this.#waiting = undefined;
      const call = this.#ask();
      this.#underWay = call.then(
        () => undefined,
        () => undefined,
      );
      return call;
    });
    return this.#waiting;
  }
}
