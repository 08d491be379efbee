import type { App, RouteContext } from "../app.ts";
import { getBarrierSchema } from "./schema.ts";
import { barrierBody } from "./view.ts";

/** `GET /v1/sources/{source}/barriers/{barrier}` */
export function getBarrier(app: App, { controlPlane, waits }: RouteContext): void {
  app.get(
    "/v1/sources/:source/barriers/:barrier",
    { schema: getBarrierSchema, config: { access: "viewer" } },
    async ({ params, query }, reply) =>
      waits.holding(query.wait, reply, async (wait) =>
        barrierBody(await controlPlane.barriers.get(params.source, params.barrier, wait)),
      ),
  );
}
