import type { App, RouteContext } from "../app.ts";
import { defined } from "../schema/closed.ts";
import { answerKeys } from "../schema/counters.ts";
import { readHours } from "./hours.ts";
import { readActionsSchema } from "./schema.ts";
import { actionBodies } from "./view.ts";

/** `POST /v1/campaigns/actions` */
export function readActions(app: App, { controlPlane }: RouteContext): void {
  app.post("/v1/campaigns/actions", { schema: readActionsSchema, config: { access: "viewer" } }, async ({ body }) => {
    const query = { namespace: body.namespace, breakdown: false, ...readHours(body, "body") };
    return answerKeys(
      body.campaigns,
      (campaigns) => controlPlane.counters.actionsOf(campaigns, query),
      (campaign, counts, problem) =>
        defined({
          campaign,
          actions: counts === undefined ? undefined : actionBodies(counts.items),
          next: counts?.next,
          problem,
        }),
    );
  });
}
