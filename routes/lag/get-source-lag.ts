import type { App, RouteContext } from "../app.ts";
import { sourceLagSchema } from "./schema.ts";
import { lagBody } from "./view.ts";

/** `GET /v1/sources/{source}/lag` */
export function getSourceLag(app: App, { controlPlane }: RouteContext): void {
  app.get("/v1/sources/:source/lag", { schema: sourceLagSchema, config: { access: "viewer" } }, ({ params }) =>
    lagBody(controlPlane.lag.ofSource(params.source)),
  );
}
