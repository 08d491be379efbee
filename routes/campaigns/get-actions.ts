import type { Static } from "@sinclair/typebox";
import type { App, RouteContext } from "../app.ts";
import { assertEntity, entityOfKey, pageBody } from "../schema/counters.ts";
import { readHours } from "./hours.ts";
import { type ActionsQueryFields, getActionsByKeySchema, getActionsSchema } from "./schema.ts";
import { actionBodies } from "./view.ts";

/** `GET /v1/campaigns/{campaign}/actions` and `GET /v1/campaigns/actions?keyBase64=…` */
export function getActions(app: App, { controlPlane }: RouteContext): void {
  const answer = async (campaign: string, query: Static<typeof ActionsQueryFields>) => {
    const page = await controlPlane.counters.actions({
      campaign,
      namespace: query.namespace,
      breakdown: query.breakdown === "slots",
      cursor: query.cursor,
      ...readHours(query, "query"),
    });
    return { ...pageBody(page), campaign, actions: actionBodies(page.items) };
  };
  app.get(
    "/v1/campaigns/:campaign/actions",
    { schema: getActionsSchema, config: { access: "viewer" } },
    async ({ params: { campaign }, query }) => {
      assertEntity(campaign, "path", "/campaign");
      return answer(campaign, query);
    },
  );
  app.get("/v1/campaigns/actions", { schema: getActionsByKeySchema, config: { access: "viewer" } }, async ({ query }) =>
    answer(entityOfKey(query.keyBase64), query),
  );
}
