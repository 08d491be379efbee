import type { App, RouteContext } from "../app.ts";
import { setOperatorTag } from "./operator-tag.ts";
import { getPartitionSchema } from "./operations.ts";
import { partitionOf } from "./partition-number.ts";
import { partitionBody } from "./view.ts";

/** `GET /v1/sources/{source}/partitions/{partition}` */
export function getPartition(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/v1/sources/:source/partitions/:partition",
    { schema: getPartitionSchema, config: { access: "viewer" } },
    async ({ params }, reply) => {
      // The source first: a wrong source is not to be reported as a wrong partition.
      controlPlane.sources.get(params.source);
      const target = partitionOf(params);
      const view = controlPlane.sources.partition(target.source, target.partition);
      await setOperatorTag(reply, controlPlane, target);
      return partitionBody(view);
    },
  );
}
