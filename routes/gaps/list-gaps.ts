import type { Static } from "@sinclair/typebox";
import type { GapView } from "../../src/ports/operators.ts";
import type { App, RouteContext } from "../app.ts";
import { defined } from "../schema/closed.ts";
import { readTime } from "../schema/operator-values.ts";
import { offsetText, timeText } from "../schema/values.ts";
import { type Gaps, listGapsSchema } from "./schema.ts";

/** `GET /v1/gaps` */
export function listGaps(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/v1/gaps",
    { schema: listGapsSchema, config: { access: "viewer" } },
    async ({ query }): Promise<Static<typeof Gaps>> => {
      const { since, until, source, cause, actor, cursor } = query;
      const sinceMs = readTime(since, "query", "/since");
      const untilMs = readTime(until, "query", "/until");
      const { gaps, next } = await controlPlane.gaps.list(defined({ sinceMs, untilMs, source, cause, actor, cursor }));
      return defined({ gaps: gaps.map(gapBody), next });
    },
  );
}

function gapBody(gap: GapView): Static<typeof Gaps>["gaps"][number] {
  const { id, source, partition, topicEpoch, from, to, cause, actor, reason, at, lastAt, records, codes, audit } = gap;
  return defined({
    id,
    source,
    partition,
    topicEpoch,
    from: offsetText(from) ?? "0",
    to: offsetText(to),
    cause,
    actor,
    reason,
    at: timeText(at),
    lastAt: timeText(lastAt),
    records,
    codes: codes.map((entry) => ({ code: entry.code, records: entry.records })),
    audit,
  });
}
