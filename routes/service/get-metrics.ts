import type { App, MetricsText } from "../app.ts";
import { metricsSchema } from "./schema.ts";

/** `GET /metrics` */
export function getMetrics(app: App, metrics: () => Promise<MetricsText>): void {
  app.get("/metrics", { schema: metricsSchema, config: { access: "viewer" } }, async (_request, reply) => {
    const { contentType, text } = await metrics();
    return reply.type(contentType).send(Buffer.from(text));
  });
}
