import type { App, RouteContext } from "../app.ts";
import { refuseWhileStarting } from "../edge/serving.ts";
import { lagSchema } from "./schema.ts";
import { lagBody } from "./view.ts";

/** `GET /v1/lag` */
export function listLag(app: App, { controlPlane }: RouteContext): void {
  app.get("/v1/lag", { schema: lagSchema, config: { access: "viewer" } }, () => {
    refuseWhileStarting(controlPlane.health);
    return lagBody(controlPlane.lag.all());
  });
}
