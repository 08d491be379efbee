import type { App, RouteContext } from "../app.ts";
import { getSourceSchema } from "./operations.ts";
import { sourceBody } from "./view.ts";

/** `GET /v1/sources/{source}` */
export function getSource(app: App, { controlPlane }: RouteContext): void {
  app.get("/v1/sources/:source", { schema: getSourceSchema, config: { access: "viewer" } }, ({ params }) =>
    sourceBody(controlPlane.sources.get(params.source)),
  );
}
