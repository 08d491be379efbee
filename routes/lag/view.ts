import type { Static } from "@sinclair/typebox";
import type { LagView } from "../../src/ports/control-plane.ts";
import { measured, timeText } from "../schema/values.ts";
import type { Lag } from "./schema.ts";

/** Writes lag as the API spells it. */
export function lagBody(lag: LagView): Static<typeof Lag> {
  return {
    measuredAt: timeText(lag.measuredAt),
    partitions: lag.partitions.map(({ source, partition, records, seconds, timeToLossSeconds, basis, measuredAt }) => ({
      source,
      partition,
      records: measured(records),
      seconds: measured(seconds),
      timeToLossSeconds: measured(timeToLossSeconds),
      basis,
      ...measuredTime(measuredAt),
    })),
    unknown: lag.unknown.map(({ source, cause, measuredAt }) => ({ source, cause, ...measuredTime(measuredAt) })),
  };
}

/** What was never measured has no time: 0 would be written as 1970. */
function measuredTime(measuredAt: number): { readonly measuredAt?: string } {
  return measuredAt > 0 ? { measuredAt: timeText(measuredAt) } : {};
}
