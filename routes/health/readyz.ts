import type { Static } from "@sinclair/typebox";
import type { App, RouteContext } from "../app.ts";
import { RETRY_AFTER_SECONDS } from "../limits.ts";
import { type Readiness, readyzSchema } from "./schema.ts";

/** `GET /readyz` */
export function getReadyz(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/readyz",
    { schema: readyzSchema, config: { access: "public" } },
    (_request, reply): Static<typeof Readiness> => {
      const { ready, phase, kv } = controlPlane.health.ready();
      if (!ready) reply.code(503).header("retry-after", RETRY_AFTER_SECONDS);
      return { status: ready ? "ready" : "not-ready", phase, kv };
    },
  );
}
