import type { App, RouteContext } from "../app.ts";
import { getTraffic } from "./get-traffic.ts";
import { readTraffic } from "./read-traffic.ts";

/** Registers `/v1/traffic`. */
export function registerTraffic(app: App, context: RouteContext): void {
  getTraffic(app, context);
  readTraffic(app, context);
}
