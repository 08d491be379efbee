import type { Static } from "@sinclair/typebox";
import type { App, RouteContext } from "../app.ts";
import { getVersionSchema } from "./operations.ts";
import type { VersionWithFiles } from "./schema.ts";
import { versionBody } from "./view.ts";

/** `GET /v1/descriptors/{subject}/versions/{version}` */
export function getVersion(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/v1/descriptors/:subject/versions/:version",
    { schema: getVersionSchema, config: { access: "viewer" } },
    async ({ params }): Promise<Static<typeof VersionWithFiles>> => {
      const view = await controlPlane.descriptors.get(params.subject, Number(params.version));
      return { ...versionBody(view), files: view.files };
    },
  );
}
