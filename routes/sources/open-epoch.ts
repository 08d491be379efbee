import type { Static } from "@sinclair/typebox";
import type { App, RouteContext } from "../app.ts";
import { callerName } from "../edge/caller.ts";
import { refuseUnlessServing } from "../edge/serving.ts";
import { openEpochSchema } from "./operator-operations.ts";
import type { Epoch } from "./operator-schema.ts";

/** `POST /v1/sources/{source}/epochs` */
export function openEpoch(app: App, { controlPlane }: RouteContext): void {
  app.post(
    "/v1/sources/:source/epochs",
    { schema: openEpochSchema, config: { access: "operator" } },
    async (request): Promise<Static<typeof Epoch>> => {
      const { params, body } = request;
      refuseUnlessServing(controlPlane.health);
      const order = { actor: callerName(request), reason: body.reason };
      const view = await controlPlane.epochs.open(params.source, order, body.counting);
      return { source: view.source, topicEpoch: view.topicEpoch, partitions: view.partitions, audit: view.audit };
    },
  );
}
