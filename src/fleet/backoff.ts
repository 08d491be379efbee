/** Bounds of the waits between attempts at something that fails. */
export interface BackoffLimits {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** How many attempts it takes until their waits add up to at least `forMs`; at least one. */
export function attemptsWithin(forMs: number, limits: BackoffLimits): number {
  let attempts = 1;
  for (let waited = backoffMs(1, limits); waited < forMs; attempts += 1) waited += backoffMs(attempts + 1, limits);
  return attempts;
}

/** Wait before attempt `attempt` (1 is the first repetition): doubles from `initialMs` up to `maxMs`. */
export function backoffMs(attempt: number, limits: BackoffLimits): number {
  const doublings = Math.min(Math.max(attempt, 1) - 1, 30);
  return Math.min(limits.initialMs * 2 ** doublings, limits.maxMs);
}
