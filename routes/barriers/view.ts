import type { Static } from "@sinclair/typebox";
import type { BarrierPartition, BarrierView } from "../../src/ports/barriers.ts";
import { defined } from "../schema/closed.ts";
import { offsetText, timeText } from "../schema/values.ts";
import type { Barrier } from "./schema.ts";

/** Writes a barrier as the API spells it. */
export function barrierBody(view: BarrierView): Static<typeof Barrier> {
  const { id, source, state, at, timestampMs, actor, createdAt, doneAt, expiresAt, asOf, partitions, losses } = view;
  return defined({
    id,
    source,
    state,
    at,
    timestamp: timestampMs === undefined ? undefined : timeText(timestampMs),
    actor,
    createdAt: timeText(createdAt),
    doneAt: doneAt === undefined ? undefined : timeText(doneAt),
    expiresAt: timeText(expiresAt),
    asOf: timeText(asOf),
    partitions: partitions.map(partitionBody),
    losses: { ...losses },
  });
}

function partitionBody({ partition, from, to, applied, done, blocked }: BarrierPartition) {
  return defined({
    partition,
    from: offsetText(from) ?? "0",
    to: offsetText(to) ?? "0",
    applied: offsetText(applied) ?? "0",
    done,
    blocked: blocked === undefined ? undefined : { by: blocked.by, why: blocked.why },
  });
}
