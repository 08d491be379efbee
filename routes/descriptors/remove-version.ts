import type { Static } from "@sinclair/typebox";
import type { App, RouteContext } from "../app.ts";
import { callerName } from "../edge/caller.ts";
import { refuseUnlessServing } from "../edge/serving.ts";
import { removeVersionSchema } from "./operations.ts";
import type { Version } from "./schema.ts";
import { versionBody } from "./view.ts";

/** `DELETE /v1/descriptors/{subject}/versions/{version}` */
export function removeVersion(app: App, { controlPlane }: RouteContext): void {
  app.delete(
    "/v1/descriptors/:subject/versions/:version",
    { schema: removeVersionSchema, config: { access: "admin" } },
    async (request): Promise<Static<typeof Version>> => {
      const { params, query } = request;
      refuseUnlessServing(controlPlane.health);
      const order = { actor: callerName(request), reason: query.reason ?? "" };
      return versionBody(await controlPlane.descriptors.remove(params.subject, Number(params.version), order));
    },
  );
}
