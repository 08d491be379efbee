import type { RequestQueueInternals } from "./internals.ts";
import { loadClass, requireText } from "./pin.ts";

/**
 * G4. Published behaviour: every connection polls its empty queue about once a millisecond (5 % of a core with three
 * idle clients, and a warning on Node 24). Guarded: with nothing pending there is nothing to schedule.
 */
export function guardIdleQueue(): void {
  const { prototype: queue } = loadClass<RequestQueueInternals>("src/network/requestQueue/index.js", [
    "scheduleCheckPendingRequests",
  ]);
  const original = queue.scheduleCheckPendingRequests;
  requireText("scheduleCheckPendingRequests", original, "04347ea969c6f2e3");
  queue.scheduleCheckPendingRequests = function onlyWhenPending(this: RequestQueueInternals): void {
    if (this.pending.length > 0) original.call(this);
  };
}
