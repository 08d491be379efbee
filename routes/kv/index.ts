import type { App, RouteContext } from "../app.ts";
import { listOwners } from "./list-owners.ts";
import { repairOwner } from "./repair-owner.ts";

/** Registers `/v1/kv/…`. */
export function registerKv(app: App, context: RouteContext): void {
  listOwners(app, context);
  repairOwner(app, context);
}
