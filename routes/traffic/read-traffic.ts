import type { App, RouteContext } from "../app.ts";
import { defined } from "../schema/closed.ts";
import { assertEntity, pageBody, readSpan } from "../schema/counters.ts";
import { readTrafficSchema } from "./schema.ts";
import { trafficBodies } from "./view.ts";

/** `POST /v1/traffic` */
export function readTraffic(app: App, { controlPlane }: RouteContext): void {
  app.post("/v1/traffic", { schema: readTrafficSchema, config: { access: "viewer" } }, async ({ body }) => {
    for (const [index, article] of body.articles.entries()) assertEntity(article, "body", `/articles/${index}`);
    const page = await controlPlane.counters.trafficOf(body.articles, {
      namespace: body.namespace,
      metric: body.metric,
      by: body.by ?? "slot",
      breakdown: false,
      ...readSpan(body, "body"),
    });
    const items = page.items.map(({ key, items: counts, next }) =>
      defined({ article: key, traffic: trafficBodies(counts), next }),
    );
    return { ...pageBody(page), items };
  });
}
