/** Something that happens once, and that others wait for. */
export class Moment {
  readonly promise: Promise<void>;
  #resolve: () => void = () => undefined;
  #came = false;

  constructor() {
    this.promise = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Whether it has happened. */
  get came(): boolean {
    return this.#came;
  }

  /** It happens now. */
  come(): void {
    this.#came = true;
    this.#resolve();
  }
}
