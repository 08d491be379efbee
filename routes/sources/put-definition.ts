import type { SourceSeed } from "../../src/core/source.ts";
import { StreamsError } from "../../src/errors.ts";
import type { App, RouteContext } from "../app.ts";
import { callerName } from "../edge/caller.ts";
import { entityTag, readPrecondition } from "../edge/entity-tag.ts";
import { refuseUnlessServing } from "../edge/serving.ts";
import { completeDefinition, definitionInForceBody, readSeed } from "./definition-view.ts";
import { putDefinitionSchema } from "./operations.ts";

/** `PUT /v1/sources/{source}/definition` */
export function putDefinition(app: App, { controlPlane }: RouteContext): void {
  const put = (seed: SourceSeed, precondition: ReturnType<typeof readPrecondition>, actor: string) => {
    const { definitions, health } = controlPlane;
    const change = precondition === "absent" ? undefined : completeDefinition(seed);
    refuseUnlessServing(health);
    return change === undefined || precondition === "absent"
      ? definitions.create(seed, actor)
      : definitions.define(seed.name, change, precondition.tag, actor);
  };
  app.put(
    "/v1/sources/:source/definition",
    { schema: putDefinitionSchema, config: { access: "admin", ifMatch: true } },
    async (request, reply) => {
      const { params, body, headers } = request;
      const precondition = readPrecondition(headers);
      if (body.name !== params.source) {
        throw new StreamsError("DEFINITION_CHANGE_REFUSED", "the body's name differs from the path's", {
          fields: ["name"],
        });
      }
      const view = await put(readSeed(body), precondition, callerName(request));
      reply.header("etag", entityTag(view.etag));
      if (precondition === "absent") reply.code(201);
      return definitionInForceBody(view);
    },
  );
}
