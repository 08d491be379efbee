import type { App, RouteContext } from "../app.ts";
import { callerName } from "../edge/caller.ts";
import { entityTag, readIfMatch } from "../edge/entity-tag.ts";
import { refuseUnlessServing } from "../edge/serving.ts";
import { putDescriptorSchema } from "./decoding-schema.ts";
import { definitionInForceBody } from "./definition-view.ts";

/** `PUT /v1/sources/{source}/descriptor` */
export function putDescriptor(app: App, { controlPlane }: RouteContext): void {
  app.put(
    "/v1/sources/:source/descriptor",
    { schema: putDescriptorSchema, config: { access: "admin", ifMatch: "only" } },
    async (request, reply) => {
      const { params, body, headers } = request;
      const tag = readIfMatch(headers["if-match"]);
      refuseUnlessServing(controlPlane.health);
      const { version, message, mapping, reason } = body;
      const order = { actor: callerName(request), reason: reason ?? "" };
      const view = await controlPlane.descriptors.activate(params.source, { version, message, mapping }, tag, order);
      reply.header("etag", entityTag(view.etag));
      return definitionInForceBody(view);
    },
  );
}
