import type { App, RouteContext } from "../app.ts";
import { listDeadLetters } from "./list-dead-letters.ts";

/** Registers `/v1/sources/{source}/dead-letters`. */
export function registerDeadLetters(app: App, context: RouteContext): void {
  listDeadLetters(app, context);
}
