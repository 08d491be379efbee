import type { App, RouteContext } from "../app.ts";
import { defined } from "../schema/closed.ts";
import { answerKeys, readSpan } from "../schema/counters.ts";
import { readTrafficSchema } from "./schema.ts";
import { trafficBodies } from "./view.ts";

/** `POST /v1/traffic` */
export function readTraffic(app: App, { controlPlane }: RouteContext): void {
  app.post("/v1/traffic", { schema: readTrafficSchema, config: { access: "viewer" } }, async ({ body }) => {
    const query = {
      namespace: body.namespace,
      metric: body.metric,
      by: body.by ?? "slot",
      breakdown: false,
      ...readSpan(body, "body"),
    };
    return answerKeys(
      body.articles,
      (articles) => controlPlane.counters.trafficOf(articles, query),
      (article, counts, problem) =>
        defined({
          article,
          traffic: counts === undefined ? undefined : trafficBodies(counts.items),
          next: counts?.next,
          problem,
        }),
    );
  });
}
