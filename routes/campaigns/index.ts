import type { App, RouteContext } from "../app.ts";
import { getActions } from "./get-actions.ts";
import { getCalibration } from "./get-calibration.ts";
import { readActions } from "./read-actions.ts";

/** Registers `/v1/campaigns`. */
export function registerCampaigns(app: App, context: RouteContext): void {
  getActions(app, context);
  getCalibration(app, context);
  readActions(app, context);
}
