import type { App, RouteContext } from "../app.ts";
import { listGaps } from "./list-gaps.ts";

/** Registers `/v1/gaps`. */
export function registerGaps(app: App, context: RouteContext): void {
  listGaps(app, context);
}
