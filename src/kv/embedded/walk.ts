import type { Clock } from "../../ports/clock.ts";
import type { OwnerName } from "./identity.ts";
import type { OwnerLink } from "./owner-link.ts";
import type { KeyText } from "./protocol.ts";
import { reconcileSpan } from "./reconcile.ts";

/** How a walk keeps out of the way of writes. */
export interface Pace {
  readonly clock: Clock;
  /** Bytes of one owner that are compared in a second, at most. */
  readonly bytesPerSecond: number;
  /** Whether writes wait for the owners: the walk then stands still, for a fifth of a second at most. */
  readonly busy: () => boolean;
}

/** What a walk has done so far. */
export interface WalkTotals {
  readonly cells: number;
  readonly bytes: number;
  readonly missed: ReadonlyMap<OwnerName, number>;
}

/** How often a walk that stands still looks again, and how many times: a plane that is never idle heals, too. */
const BUSY_MS = 50;
const BUSY_LOOKS_MAX = 4;

/**
 * Reconciles everything that `links` hold, from the first key to the last. `step` is called after each span with the
 * totals; when it says false, the walk ends there.
 * @throws OwnerDown when one of them goes down
 */
export async function walk(
  links: readonly OwnerLink[],
  pace: Pace,
  step: (totals: WalkTotals) => boolean,
): Promise<WalkTotals> {
  const missed = new Map<OwnerName, number>();
  let totals: WalkTotals = { cells: 0, bytes: 0, missed };
  let after: KeyText | undefined;
  for (;;) {
    const span = await reconcileSpan(links, after);
    for (const [owner, count] of span.missed) missed.set(owner, (missed.get(owner) ?? 0) + count);
    totals = { cells: totals.cells + span.cells, bytes: totals.bytes + span.bytes, missed };
    if (!step(totals) || span.next === undefined) return totals;
    after = span.next;
    await rest(pace, span.bytes);
  }
}

async function rest(pace: Pace, bytes: number): Promise<void> {
  await pause(pace.clock, (bytes / pace.bytesPerSecond) * 1_000);
  for (let looks = 0; looks < BUSY_LOOKS_MAX && pace.busy(); looks += 1) await pause(pace.clock, BUSY_MS);
}

function pause(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(delayMs, resolve);
  });
}
