import type { App, RouteContext } from "../app.ts";
import { getLivez } from "./livez.ts";
import { getReadyz } from "./readyz.ts";

/** Registers `/livez` and `/readyz`. */
export function registerHealth(app: App, context: RouteContext): void {
  getLivez(app);
  getReadyz(app, context);
}
