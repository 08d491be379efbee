import type { App, RouteContext } from "../app.ts";
import { callerName } from "../edge/caller.ts";
import { malformed } from "../edge/refusals.ts";
import { refuseUnlessServing } from "../edge/serving.ts";
import { registerVersionSchema } from "./operations.ts";
import { readProposal, versionBody } from "./view.ts";

/** `POST /v1/descriptors/{subject}/versions` */
export function registerVersion(app: App, { controlPlane }: RouteContext): void {
  app.post(
    "/v1/descriptors/:subject/versions",
    { schema: registerVersionSchema, config: { access: "operator", binaryBody: true } },
    async (request, reply) => {
      const { params, query, body } = request;
      const proposal = readProposal(body, query);
      if (query.reason !== undefined && body.reason !== undefined)
        throw malformed("query", "/reason", "the body has one");
      refuseUnlessServing(controlPlane.health);
      const order = { actor: callerName(request), reason: body.reason ?? query.reason ?? "" };
      const { view, created } = await controlPlane.descriptors.register(params.subject, proposal, order);
      reply.header("location", `/v1/descriptors/${view.subject}/versions/${view.version}`);
      return reply.code(created ? 201 : 200).send(versionBody(view));
    },
  );
}
