import type { Static } from "@sinclair/typebox";
import type { App, RouteContext } from "../app.ts";
import { refuseWhileStarting } from "../edge/serving.ts";
import { listSourcesSchema } from "./operations.ts";
import type { Sources } from "./schema.ts";
import { sourceBody } from "./view.ts";

/** `GET /v1/sources` */
export function listSources(app: App, { controlPlane }: RouteContext): void {
  app.get("/v1/sources", { schema: listSourcesSchema, config: { access: "viewer" } }, (): Static<typeof Sources> => {
    refuseWhileStarting(controlPlane.health);
    return { sources: controlPlane.sources.list().map(sourceBody) };
  });
}
