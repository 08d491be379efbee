/**
 * Heavy work that is done in pieces: a generator that yields where other work of the thread may run, and returns the result. The
 * work is pure; who runs it decides what happens in between.
 */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Runs the work, and awaits `turn` between its pieces. @throws what the work or `turn` throws */
export async function inTurns<Result>(steps: Steps<Result>, turn: () => Promise<void>): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await turn();
  }
}

/** Runs the work in one go. @throws what the work throws */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
