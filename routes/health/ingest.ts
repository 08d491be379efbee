import type { Static } from "@sinclair/typebox";
import type { App, RouteContext } from "../app.ts";
import { RETRY_AFTER_SECONDS } from "../limits.ts";
import { defined } from "../schema/closed.ts";
import { timeText } from "../schema/values.ts";
import { type Ingest, ingestSchema } from "./ingest-schema.ts";

/** `GET /health/ingest` */
export function getIngest(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/health/ingest",
    { schema: ingestSchema, config: { access: "viewer" } },
    ({ query }, reply): Static<typeof Ingest> => {
      const { source, maxLagSeconds, maxStopped } = query;
      const { healthy, phase, measuredAt, sources } = controlPlane.health.ingest(
        defined({
          source,
          maxLagSeconds: maxLagSeconds === undefined ? undefined : Number(maxLagSeconds),
          maxStopped: Number(maxStopped ?? "0"),
        }),
      );
      if (!healthy) reply.code(503).header("retry-after", RETRY_AFTER_SECONDS);
      return {
        status: statusOf(healthy),
        phase,
        measuredAt: timeText(measuredAt),
        sources: sources.map((entry) => ({
          source: entry.source,
          status: statusOf(entry.healthy),
          stopped: entry.stopped,
          holding: [...entry.holding],
          reasons: entry.reasons.map(({ reason, cause, partitions }) => ({
            reason,
            cause,
            partitions: [...partitions],
          })),
        })),
      };
    },
  );
}

function statusOf(healthy: boolean): "within-limits" | "outside-limits" {
  return healthy ? "within-limits" : "outside-limits";
}
