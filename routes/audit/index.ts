import type { App, RouteContext } from "../app.ts";
import { listAudit } from "./list-audit.ts";

/** Registers `/v1/audit`. */
export function registerAudit(app: App, context: RouteContext): void {
  listAudit(app, context);
}
