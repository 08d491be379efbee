import type { Static } from "@sinclair/typebox";
import type { App, RouteContext } from "../app.ts";
import { timeText } from "../schema/values.ts";
import { type Instances, instancesSchema } from "./schema.ts";

/** `GET /v1/instances` */
export function listInstances(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/v1/instances",
    { schema: instancesSchema, config: { access: "viewer" } },
    async (): Promise<Static<typeof Instances>> => {
      const { asOf, instances } = await controlPlane.instances.list();
      return {
        asOf: timeText(asOf),
        instances: instances.map(({ startedAt, seenAt, expiresAt, sources, ...rest }) => ({
          ...rest,
          startedAt: timeText(startedAt),
          seenAt: timeText(seenAt),
          expiresAt: timeText(expiresAt),
          sources: sources.map(({ source, partitions }) => ({ source, partitions: [...partitions] })),
        })),
      };
    },
  );
}
