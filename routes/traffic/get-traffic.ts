import type { Static } from "@sinclair/typebox";
import type { App, RouteContext } from "../app.ts";
import { assertEntity, entityOfKey, pageBody, readSpan } from "../schema/counters.ts";
import { getTrafficByKeySchema, getTrafficSchema, type TrafficQueryFields } from "./schema.ts";
import { trafficBodies } from "./view.ts";

/** `GET /v1/traffic/{article}` and `GET /v1/traffic?keyBase64=…` */
export function getTraffic(app: App, { controlPlane }: RouteContext): void {
  const answer = async (article: string, query: Static<typeof TrafficQueryFields>) => {
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
  };
  app.get(
    "/v1/traffic/:article",
    { schema: getTrafficSchema, config: { access: "viewer" } },
    async ({ params: { article }, query }) => {
      assertEntity(article, "path", "/article");
      return answer(article, query);
    },
  );
  app.get("/v1/traffic", { schema: getTrafficByKeySchema, config: { access: "viewer" } }, async ({ query }) =>
    answer(entityOfKey(query.keyBase64), query),
  );
}
