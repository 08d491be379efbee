import type { App, RouteContext } from "../app.ts";
import { getBarrierSchema } from "./schema.ts";
import { barrierBody } from "./view.ts";

/** `GET /v1/sources/{source}/barriers/{barrier}` */
export function getBarrier(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/v1/sources/:source/barriers/:barrier",
    { schema: getBarrierSchema, config: { access: "viewer" } },
    async ({ params, query }, reply) => {
      const gone = new AbortController();
      // Of the response: a request without a body may be closed as soon as it was read.
      reply.raw.once("close", () => gone.abort());
      const wait = { waitMs: Number(query.wait ?? "0") * 1_000, signal: gone.signal };
      return barrierBody(await controlPlane.barriers.get(params.source, params.barrier, wait));
    },
  );
}
