import { StreamsError } from "../../src/errors.ts";
import type { App, RouteContext } from "../app.ts";
import { callerName } from "../edge/caller.ts";
import { ownerBody } from "./list-owners.ts";
import { repairOwnerSchema } from "./schema.ts";

/** `POST /v1/kv/owners/{owner}/repair`. Also while the service starts: it may wait for just this owner. */
export function repairOwner(app: App, { controlPlane }: RouteContext): void {
  app.post(
    "/v1/kv/owners/:owner/repair",
    { schema: repairOwnerSchema, config: { access: "admin" } },
    async (request, reply) => {
      const { params, body } = request;
      const { owners } = controlPlane;
      const { reason, acceptLoss = false } = body;
      await owners.repair(params.owner, { actor: callerName(request), reason, acceptLoss });
      const status = owners.owners().find(({ owner }) => owner === params.owner);
      if (status === undefined) throw new StreamsError("KV_OWNER_UNKNOWN", `there is no owner ${params.owner}`);
      return reply.code(202).header("location", "/v1/kv/owners").send(ownerBody(status));
    },
  );
}
