import type { App, RouteContext } from "../app.ts";
import { assertEntity, pageBody, readSpan } from "../schema/counters.ts";
import { getTrafficSchema } from "./schema.ts";
import { trafficBodies } from "./view.ts";

/** `GET /v1/traffic/{article}` */
export function getTraffic(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/v1/traffic/:article",
    { schema: getTrafficSchema, config: { access: "viewer" } },
    async ({ params: { article }, query }) => {
      assertEntity(article, "path", "/article");
      const page = await controlPlane.counters.traffic({
        article,
        namespace: query.namespace,
        metric: query.metric,
        by: query.by ?? "slot",
        breakdown: query.breakdown === "slots",
        cursor: query.cursor,
        ...readSpan(query, "query"),
      });
      return { ...pageBody(page), article, traffic: trafficBodies(page.items) };
    },
  );
}
