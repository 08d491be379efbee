/** Lag of one partition, as far as it is known. */
export interface LiveLag {
  readonly partition: number;
  readonly records: Known;
  readonly seconds: Known;
  readonly timeToLossSeconds: Known;
}

type Known = { readonly known: true; readonly value: number } | { readonly known: false };

/** Below this lag live reading keeps up, whatever it does from moment to moment. */
export const LAG_TOLERATED_SECONDS = 10;
/** Retention that is nearer than this is a danger. */
export const LOSS_NEAR_SECONDS = 3_600;
/** Measurements are compared with one at least this old. */
const COMPARED_AFTER_MS = 3_000;

interface Looked {
  readonly atMs: number;
  readonly lags: ReadonlyMap<number, LiveLag>;
}

/**
 * Whether live reading needs what a job uses: a partition falls behind, or retention comes nearer to what it has not read.
 * Compares what is measured now with what was a few seconds ago; what is not known tells nothing.
 */
export class LivePressure {
  #before: Looked | undefined;
  #now: Looked | undefined;
  #cause: string | undefined;

  /** Returns why a job should wait; undefined when it need not. `nowMs`: of a clock that only goes forward. */
  look(lags: readonly LiveLag[], nowMs: number): string | undefined {
    if (this.#now !== undefined && nowMs - this.#now.atMs < COMPARED_AFTER_MS) return this.#cause;
    this.#before = this.#now;
    this.#now = { atMs: nowMs, lags: new Map(lags.map((lag) => [lag.partition, lag])) };
    this.#cause = this.#judge();
    return this.#cause;
  }

  #judge(): string | undefined {
    for (const lag of this.#now?.lags.values() ?? []) {
      const before = this.#before?.lags.get(lag.partition);
      if (before === undefined) continue;
      if (grew(before.records, lag.records) && above(lag.seconds, LAG_TOLERATED_SECONDS)) {
        return `partition ${lag.partition} falls behind`;
      }
      const { timeToLossSeconds } = lag;
      if (grew(timeToLossSeconds, before.timeToLossSeconds) && !above(timeToLossSeconds, LOSS_NEAR_SECONDS)) {
        return `retention comes nearer to what partition ${lag.partition} has not read`;
      }
    }
    return undefined;
  }
}

function grew(before: Known, after: Known): boolean {
  return before.known && after.known && after.value > before.value;
}

function above(value: Known, limit: number): boolean {
  return value.known && value.value > limit;
}
