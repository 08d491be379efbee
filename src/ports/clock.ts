/** Time as the services see it, so that tests can turn it by hand. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. For what people read; never for a verdict. */
  now(): number;
  /** Milliseconds that only grow. For deadlines and rates. */
  monotonic(): number;
  /** Calls `task` once after `delayMs`; the returned function cancels it. Does not keep the process alive. */
  after(delayMs: number, task: () => void): () => void;
}
