import type { CounterFamily } from "./inputs.ts";
import type { CountingSettings } from "./settings.ts";

/** What the values of each counter mean, for those who write them and those who read them. */

/** The one family of `traffic`: one value, the events; and visitors, unless they are turned off. */
export function trafficFamilies({ visitors }: CountingSettings): readonly CounterFamily[] {
  return [{ name: "traffic", values: 1, wide: true, visitors }];
}

/** Family of all counters of `ad_actions` but the pairs, by index. */
export const FAMILY_ACTIONS = 0;
/** Family of the pairs: campaign × article. */
export const FAMILY_PAIR = 1;

/** First value of every counter of `ad_actions`. */
export const IMPRESSIONS = 0;
/** Second value of every counter of `ad_actions`. */
export const CLICKS = 1;
/** Further value of a pair: the sum of served scores, scaled, over impressions. */
export const IMPRESSION_SCORES = 2;
/** The same over clicks. */
export const CLICK_SCORES = 3;
/** Behind them, {@link BUCKET_VALUES} for each score bucket. */
const BUCKETS = 4;
const BUCKET_VALUES = ["impressions", "clicks", "scores"] as const;

/** The families of `ad_actions`: all rollups but one hold impressions and clicks; the pair also what calibration needs. */
export function actionFamilies({ scoreEdges }: CountingSettings): readonly CounterFamily[] {
  const pair = BUCKETS + BUCKET_VALUES.length * (scoreEdges.length + 1);
  return [
    { name: "actions", values: BUCKETS - 2, wide: false, visitors: false },
    { name: "pair", values: pair, wide: false, visitors: false },
  ];
}

/** Index of a score's bucket: the first holds what is below the first edge, each other what is from its edge on. */
export function bucketOf(score: number, edges: readonly number[]): number {
  let bucket = 0;
  while (bucket < edges.length && score >= (edges[bucket] ?? 1)) bucket += 1;
  return bucket;
}

/** Index of a bucket's value in a pair. `scores` is the scaled sum over its impressions. */
export function bucketValue(bucket: number, value: (typeof BUCKET_VALUES)[number]): number {
  return BUCKETS + BUCKET_VALUES.length * bucket + BUCKET_VALUES.indexOf(value);
}
