import type { Clock } from "../../../src/ports/clock.ts";
import { SourceFault } from "../../../src/ports/record-source.ts";

/**
 * The outcome of `work`, or a `timeout` fault after `limitMs`: kafkajs has promises that never settle. What `work` does
 * after that is ignored.
 * @throws SourceFault `timeout`, or whatever `work` rejects with.
 */
export async function withDeadline<T>(clock: Clock, limitMs: number, what: string, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(limitMs, () =>
      reject(new SourceFault("timeout", `${what}: no answer in ${limitMs} ms`)),
    );
    work.then(resolve, reject).finally(cancel);
  });
}

/** Waits for `work` however it ends, at most `limitMs`. Returns whether it ended. */
export async function settleWithin(clock: Clock, limitMs: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.after(limitMs, () => resolve(false));
    work.then(
      () => (cancel(), resolve(true)),
      () => (cancel(), resolve(true)),
    );
  });
}
