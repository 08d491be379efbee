import type { Static } from "@sinclair/typebox";
import type { App, RouteContext } from "../app.ts";
import { defined } from "../schema/closed.ts";
import { listVersionsSchema } from "./operations.ts";
import type { Versions } from "./schema.ts";
import { versionBody } from "./view.ts";

/** `GET /v1/descriptors/{subject}/versions` */
export function listVersions(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/v1/descriptors/:subject/versions",
    { schema: listVersionsSchema, config: { access: "viewer" } },
    async ({ params, query }): Promise<Static<typeof Versions>> => {
      const { versions, next } = await controlPlane.descriptors.list(params.subject, query.cursor);
      return defined({ versions: versions.map(versionBody), next });
    },
  );
}
