import type { ActionCount } from "../../src/ports/counters.ts";
import { defined } from "../schema/closed.ts";
import { slotBodies } from "../schema/counters.ts";
import { knownTime } from "../schema/values.ts";

/** Writes ad actions as the API spells them. */
export function actionBodies(counts: readonly ActionCount[]) {
  return counts.map(({ member, impressions, clicks, slots }) =>
    defined({
      member: typeof member === "string" ? member : undefined,
      start: typeof member === "number" ? knownTime(member) : undefined,
      impressions: `${impressions}`,
      clicks: `${clicks}`,
      slots: slotBodies(slots),
    }),
  );
}
