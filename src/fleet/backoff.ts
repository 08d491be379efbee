/** Bounds of the waits between attempts at something that fails. */
export interface BackoffLimits {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** Wait before attempt `attempt` (1 is the first repetition): doubles from `initialMs` up to `maxMs`. */
export function backoffMs(attempt: number, limits: BackoffLimits): number {
  const doublings = Math.min(Math.max(attempt, 1) - 1, 30);
  return Math.min(limits.initialMs * 2 ** doublings, limits.maxMs);
}
