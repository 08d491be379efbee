import { StreamsError } from "../../src/errors.ts";
import type { App, RouteContext } from "../app.ts";
import { entityTag, readIfMatch } from "../edge/entity-tag.ts";
import { refuseUnlessServing } from "../edge/serving.ts";
import { definitionInForceBody, readDefinition } from "./definition-view.ts";
import { putDefinitionSchema } from "./operations.ts";

/** `PUT /v1/sources/{source}/definition` */
export function putDefinition(app: App, { controlPlane }: RouteContext): void {
  app.put(
    "/v1/sources/:source/definition",
    { schema: putDefinitionSchema, config: { access: "admin", ifMatch: true } },
    async ({ params, body, headers }, reply) => {
      const ifMatch = readIfMatch(headers["if-match"]);
      if (body.name !== params.source) {
        throw new StreamsError("DEFINITION_CHANGE_REFUSED", "the body's name differs from the path's", {
          fields: ["name"],
        });
      }
      const definition = readDefinition(body);
      refuseUnlessServing(controlPlane.health);
      const view = await controlPlane.sources.define(params.source, definition, ifMatch);
      reply.header("etag", entityTag(view.etag));
      return definitionInForceBody(view);
    },
  );
}
