import type { App, RouteContext } from "../app.ts";
import { entityTag } from "../edge/entity-tag.ts";
import { definitionInForceBody } from "./definition-view.ts";
import { getDefinitionSchema } from "./operations.ts";

/** `GET /v1/sources/{source}/definition` */
export function getDefinition(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/v1/sources/:source/definition",
    { schema: getDefinitionSchema, config: { access: "viewer" } },
    ({ params }, reply) => {
      const view = controlPlane.sources.definition(params.source);
      reply.header("etag", entityTag(view.etag));
      return definitionInForceBody(view);
    },
  );
}
