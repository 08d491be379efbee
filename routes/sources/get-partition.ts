import { StreamsError } from "../../src/errors.ts";
import type { App, RouteContext } from "../app.ts";
import { getPartitionSchema } from "./operations.ts";
import { partitionBody } from "./view.ts";

/** Partition numbers are 32-bit signed integers in Kafka's protocol. */
const PARTITION_MAX = 2 ** 31 - 1;

/** `GET /v1/sources/{source}/partitions/{partition}` */
export function getPartition(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/v1/sources/:source/partitions/:partition",
    { schema: getPartitionSchema, config: { access: "viewer" } },
    ({ params }) => {
      const partition = Number(params.partition);
      // The source first: a wrong source is not to be reported as a wrong partition.
      controlPlane.sources.get(params.source);
      if (partition > PARTITION_MAX)
        throw new StreamsError("PARTITION_UNKNOWN", `no topic has a partition ${params.partition}`);
      return partitionBody(controlPlane.sources.partition(params.source, partition));
    },
  );
}
