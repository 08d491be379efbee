import type { Static } from "@sinclair/typebox";
import type { App, RouteContext } from "../app.ts";
import { listPartitionsSchema } from "./operations.ts";
import type { Partitions } from "./schema.ts";
import { partitionBody } from "./view.ts";

/** `GET /v1/sources/{source}/partitions` */
export function listPartitions(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/v1/sources/:source/partitions",
    { schema: listPartitionsSchema, config: { access: "viewer" } },
    ({ params: { source } }): Static<typeof Partitions> => ({
      source,
      partitions: controlPlane.sources.partitions(source).map(partitionBody),
    }),
  );
}
