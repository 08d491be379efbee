import type { App, RouteContext } from "../app.ts";
import { getDefinition } from "./get-definition.ts";
import { getPartition } from "./get-partition.ts";
import { getSource } from "./get-source.ts";
import { listPartitions } from "./list-partitions.ts";
import { listSources } from "./list-sources.ts";
import { putDefinition } from "./put-definition.ts";

/** Registers `/v1/sources/…`. */
export function registerSources(app: App, context: RouteContext): void {
  listSources(app, context);
  getSource(app, context);
  getDefinition(app, context);
  putDefinition(app, context);
  listPartitions(app, context);
  getPartition(app, context);
}
