import type { Static } from "@sinclair/typebox";
import type { App, RouteContext } from "../app.ts";
import { refuseUnlessServing } from "../edge/serving.ts";
import { checkCompatibilitySchema } from "./operations.ts";
import type { Compatibility } from "./schema.ts";
import { compatibilityBody, readProposal } from "./view.ts";

/** `POST /v1/descriptors/{subject}/compatibility` */
export function checkCompatibility(app: App, { controlPlane }: RouteContext): void {
  app.post(
    "/v1/descriptors/:subject/compatibility",
    { schema: checkCompatibilitySchema, config: { access: "viewer", binaryBody: true } },
    async ({ params, query, body }): Promise<Static<typeof Compatibility>> => {
      const proposal = readProposal(body, query);
      refuseUnlessServing(controlPlane.health);
      return compatibilityBody(await controlPlane.descriptors.check(params.subject, proposal));
    },
  );
}
