import type { App, RouteContext } from "../app.ts";
import { getDefinition } from "./get-definition.ts";
import { getLedger } from "./get-ledger.ts";
import { getPartition } from "./get-partition.ts";
import { getSource } from "./get-source.ts";
import { getUnknownFields } from "./get-unknown-fields.ts";
import { listPartitions } from "./list-partitions.ts";
import { listSources } from "./list-sources.ts";
import { openEpoch } from "./open-epoch.ts";
import { pauses } from "./pauses.ts";
import { putDefinition } from "./put-definition.ts";
import { putDescriptor } from "./put-descriptor.ts";
import { resume } from "./resume.ts";

/** Registers `/v1/sources/…`. */
export function registerSources(app: App, context: RouteContext): void {
  listSources(app, context);
  getSource(app, context);
  getDefinition(app, context);
  putDefinition(app, context);
  listPartitions(app, context);
  getPartition(app, context);
  pauses(app, context);
  resume(app, context);
  openEpoch(app, context);
  putDescriptor(app, context);
  getLedger(app, context);
  getUnknownFields(app, context);
}
