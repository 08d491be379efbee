import type { App, RouteContext } from "../app.ts";
import { getSourceLag } from "./get-source-lag.ts";
import { listLag } from "./list-lag.ts";

/** Registers `/v1/lag` and `/v1/sources/{source}/lag`. */
export function registerLag(app: App, context: RouteContext): void {
  listLag(app, context);
  getSourceLag(app, context);
}
