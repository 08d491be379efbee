import type { App, RouteContext } from "../app.ts";
import { defined } from "../schema/closed.ts";
import { assertEntity, pageBody } from "../schema/counters.ts";
import { getCalibrationSchema } from "./schema.ts";

/** `GET /v1/campaigns/{campaign}/calibration` */
export function getCalibration(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/v1/campaigns/:campaign/calibration",
    { schema: getCalibrationSchema, config: { access: "viewer" } },
    async ({ params: { campaign }, query: { article, namespace } }) => {
      assertEntity(campaign, "path", "/campaign");
      if (article !== undefined) assertEntity(article, "query", "/article");
      const page = await controlPlane.counters.calibration(campaign, article, namespace);
      const { impressions, clicks, scoredImpressions, scoredClicks, impressionScores, clickScores, ratio, tables } =
        page.calibration;
      return {
        ...pageBody({ ...page, next: undefined }),
        campaign,
        ...defined({
          article,
          impressions: `${impressions}`,
          clicks: `${clicks}`,
          scoredImpressions: `${scoredImpressions}`,
          scoredClicks: `${scoredClicks}`,
          predictedClicks: impressionScores,
          clickScores,
          ratio,
          tables: tables.map(({ edges, buckets }) => ({
            edges: [...edges],
            buckets: buckets.map((bucket) =>
              defined({ ...bucket, impressions: `${bucket.impressions}`, clicks: `${bucket.clicks}` }),
            ),
          })),
        }),
      };
    },
  );
}
