import type { App, RouteContext } from "../app.ts";
import { explain } from "./explain.ts";

/** Registers `/v1/sources/{source}/explain`. */
export function registerExplain(app: App, context: RouteContext): void {
  explain(app, context);
}
