import type { App, RouteContext } from "../app.ts";
import { getIndex } from "./get-index.ts";
import { getMetrics } from "./get-metrics.ts";
import { getOpenApi } from "./get-open-api.ts";
import { listInstances } from "./list-instances.ts";

/** Registers the index, the contract and, where metrics are kept, the metrics. */
export function registerService(app: App, context: RouteContext): void {
  getIndex(app, context);
  getOpenApi(app);
  listInstances(app, context);
  if (context.metrics !== undefined) getMetrics(app, context.metrics);
}
