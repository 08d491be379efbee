import type { App, RouteContext } from "../app.ts";
import { defined } from "../schema/closed.ts";
import { assertEntity, pageBody, readSpan } from "../schema/counters.ts";
import { readActionsSchema } from "./schema.ts";
import { actionBodies } from "./view.ts";

/** `POST /v1/campaigns/actions` */
export function readActions(app: App, { controlPlane }: RouteContext): void {
  app.post("/v1/campaigns/actions", { schema: readActionsSchema, config: { access: "viewer" } }, async ({ body }) => {
    for (const [index, campaign] of body.campaigns.entries()) assertEntity(campaign, "body", `/campaigns/${index}`);
    const page = await controlPlane.counters.actionsOf(body.campaigns, {
      namespace: body.namespace,
      by: body.by ?? "campaign",
      breakdown: false,
      ...readSpan(body, "body"),
    });
    const items = page.items.map(({ key, items: counts, next }) =>
      defined({ campaign: key, actions: actionBodies(counts), next }),
    );
    return { ...pageBody(page), items };
  });
}
