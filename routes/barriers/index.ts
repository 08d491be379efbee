import type { App, RouteContext } from "../app.ts";
import { createBarrier } from "./create-barrier.ts";
import { getBarrier } from "./get-barrier.ts";

/** Registers `/v1/sources/{source}/barriers`. */
export function registerBarriers(app: App, context: RouteContext): void {
  createBarrier(app, context);
  getBarrier(app, context);
}
