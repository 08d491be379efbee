import { performance } from "node:perf_hooks";
import type { Clock } from "./ports/clock.ts";

/**
 * The real time. `after` hands its task to an unref'ed timer, so that a waiting retry never keeps the process alive;
 * a delay above what Node's timers take (2^31 − 1 ms) is cut to that, a negative one or NaN fires at the next turn.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, task) {
    const timer = setTimeout(task, boundedDelay(delayMs));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

const TIMER_DELAY_MAX_MS = 2 ** 31 - 1;

function boundedDelay(delayMs: number): number {
  return delayMs > 0 ? Math.min(delayMs, TIMER_DELAY_MAX_MS) : 0;
}

/** Resolves after `delayMs`, and keeps the process alive until then: for a command that has nothing else to do. */
export function sleep(delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, boundedDelay(delayMs));
  });
}
