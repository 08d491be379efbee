import type { App, RouteContext } from "../app.ts";
import { getSourceSchema } from "./operations.ts";
import { setOperatorTag } from "./operator-tag.ts";
import { sourceBody } from "./view.ts";

/** `GET /v1/sources/{source}` */
export function getSource(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/v1/sources/:source",
    { schema: getSourceSchema, config: { access: "viewer" } },
    async ({ params }, reply) => {
      const view = controlPlane.sources.get(params.source);
      await setOperatorTag(reply, controlPlane, { source: params.source });
      return sourceBody(view);
    },
  );
}
