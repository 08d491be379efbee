import type { ActionCount, CalibrationView } from "../../src/ports/counters.ts";
import { defined } from "../schema/closed.ts";
import { pageBody, scoreText, slotBodies } from "../schema/counters.ts";
import { knownTime } from "../schema/values.ts";

/** Writes ad actions as the API spells them. */
export function actionBodies(counts: readonly ActionCount[]) {
  return counts.map(({ member, impressions, clicks, slots }) =>
    defined({
      member: typeof member === "string" ? member : undefined,
      start: typeof member === "number" ? knownTime(member) : undefined,
      impressions: `${impressions}`,
      clicks: `${clicks}`,
      slots: slotBodies(slots),
    }),
  );
}

/** Writes a calibration as the API spells it. */
export function calibrationBody(
  campaign: string,
  article: string | undefined,
  { calibration, ...about }: CalibrationView,
) {
  const { impressions, clicks, scoredImpressions, scoredClicks, impressionScores, clickScores, ratio, tables } =
    calibration;
  return defined({
    ...pageBody({ ...about, next: undefined }),
    campaign,
    article,
    impressions: `${impressions}`,
    clicks: `${clicks}`,
    scoredImpressions: `${scoredImpressions}`,
    scoredClicks: `${scoredClicks}`,
    predictedClicks: scoreText(impressionScores),
    clickScores: scoreText(clickScores),
    ratio,
    tables: tables.map(({ edges, buckets }) => ({
      edges: [...edges],
      buckets: buckets.map((bucket) =>
        defined({
          ...bucket,
          impressions: `${bucket.impressions}`,
          clicks: `${bucket.clicks}`,
          predictedClicks: scoreText(bucket.predictedClicks),
        }),
      ),
    })),
  });
}
