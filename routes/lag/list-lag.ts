import type { App, RouteContext } from "../app.ts";
import { lagSchema } from "./schema.ts";
import { lagBody } from "./view.ts";

/** `GET /v1/lag` */
export function listLag(app: App, { controlPlane }: RouteContext): void {
  app.get("/v1/lag", { schema: lagSchema, config: { access: "viewer" } }, () => lagBody(controlPlane.lag.all()));
}
