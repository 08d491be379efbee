import type { App, RouteContext } from "../app.ts";
import { assertEntity, pageBody, readSpan } from "../schema/counters.ts";
import { getActionsSchema } from "./schema.ts";
import { actionBodies } from "./view.ts";

/** `GET /v1/campaigns/{campaign}/actions` */
export function getActions(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/v1/campaigns/:campaign/actions",
    { schema: getActionsSchema, config: { access: "viewer" } },
    async ({ params: { campaign }, query }) => {
      assertEntity(campaign, "path", "/campaign");
      const page = await controlPlane.counters.actions({
        campaign,
        namespace: query.namespace,
        by: query.by ?? "campaign",
        breakdown: query.breakdown === "slots",
        cursor: query.cursor,
        ...readSpan(query, "query"),
      });
      return { ...pageBody(page), campaign, actions: actionBodies(page.items) };
    },
  );
}
