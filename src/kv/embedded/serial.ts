/** Runs tasks of one name one after another, tasks of different names side by side. */
export class SerialByName {
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs `task` when the earlier ones of `name` are done, however they ended. Returns what it returns. */
  async run<Result>(name: string, task: () => Promise<Result>): Promise<Result> {
    const before = this.#tails.get(name) ?? Promise.resolve();
    const result = before.then(task);
    const tail = result.then(
      () => undefined,
      () => undefined,
    );
    this.#tails.set(name, tail);
    try {
      return await result;
    } finally {
      if (this.#tails.get(name) === tail) this.#tails.delete(name);
    }
  }
}
