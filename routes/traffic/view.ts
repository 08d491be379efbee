import type { TrafficCount } from "../../src/ports/counters.ts";
import { defined } from "../schema/closed.ts";
import { estimate, slotBodies } from "../schema/counters.ts";
import { knownTime } from "../schema/values.ts";

/** Writes traffic as the API spells it. */
export function trafficBodies(counts: readonly TrafficCount[]) {
  return counts.map(({ metric, startMs, count, visitors, visitorsPartial, slots }) =>
    defined({
      metric,
      start: knownTime(startMs),
      count: `${count}`,
      visitors: estimate(visitors),
      visitorsPartial,
      slots: slotBodies(slots),
    }),
  );
}
