import type { App, RouteContext } from "../app.ts";
import { getIngest } from "./ingest.ts";
import { getLivez } from "./livez.ts";
import { getReadyz } from "./readyz.ts";

/** Registers `/livez`, `/readyz` and `/health/ingest`. */
export function registerHealth(app: App, context: RouteContext): void {
  getLivez(app);
  getReadyz(app, context);
  getIngest(app, context);
}
