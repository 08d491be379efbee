import type { Static } from "@sinclair/typebox";
import type { App, RouteContext } from "../app.ts";
import { assertEntity, entityOfKey } from "../schema/counters.ts";
import { type CalibrationQueryFields, getCalibrationByKeySchema, getCalibrationSchema } from "./schema.ts";
import { calibrationBody } from "./view.ts";

/** `GET /v1/campaigns/{campaign}/calibration` and `GET /v1/campaigns/calibration?keyBase64=…` */
export function getCalibration(app: App, { controlPlane }: RouteContext): void {
  const answer = async (campaign: string, { article, namespace }: Static<typeof CalibrationQueryFields>) => {
    if (article !== undefined) assertEntity(article, "query", "/article");
    return calibrationBody(campaign, article, await controlPlane.counters.calibration(campaign, article, namespace));
  };
  app.get(
    "/v1/campaigns/:campaign/calibration",
    { schema: getCalibrationSchema, config: { access: "viewer" } },
    async ({ params: { campaign }, query }) => {
      assertEntity(campaign, "path", "/campaign");
      return answer(campaign, query);
    },
  );
  app.get(
    "/v1/campaigns/calibration",
    { schema: getCalibrationByKeySchema, config: { access: "viewer" } },
    async ({ query }) => answer(entityOfKey(query.keyBase64), query),
  );
}
