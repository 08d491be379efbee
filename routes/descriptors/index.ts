import type { App, RouteContext } from "../app.ts";
import { checkCompatibility } from "./check-compatibility.ts";
import { getVersion } from "./get-version.ts";
import { listVersions } from "./list-versions.ts";
import { registerVersion } from "./register-version.ts";
import { removeVersion } from "./remove-version.ts";

/** Registers `/v1/descriptors/…`. */
export function registerDescriptors(app: App, context: RouteContext): void {
  registerVersion(app, context);
  listVersions(app, context);
  getVersion(app, context);
  removeVersion(app, context);
  checkCompatibility(app, context);
}
