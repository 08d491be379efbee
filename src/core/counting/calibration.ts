import { invariant } from "../invariant.ts";
import { SCORE_SCALE } from "./settings.ts";
import { bucketValue, CLICK_SCORES, CLICKS, IMPRESSION_SCORES, IMPRESSIONS } from "./shapes.ts";

/** The slots of a pair, or of many pairs, that were counted with the same score buckets. */
export interface PairSlot {
  readonly counters: readonly bigint[];
  /** Edges of the revision of the slot's row. */
  readonly edges: readonly number[];
}

/** Whether clicks come as often as they were predicted, within a range of scores. */
export interface CalibrationBucket {
  /** Scores `[from, to)`; the last bucket holds 1, too. */
  readonly from: number;
  readonly to: number;
  readonly impressions: bigint;
  readonly clicks: bigint;
  /** Clicks that were predicted, in billionths: the sum of the served scores of its impressions. */
  readonly predictedClicks: bigint;
  /** Clicks per click that was predicted: above 1 the prediction was too low. Undefined when none was. */
  readonly ratio: number | undefined;
}

/** Buckets of one set of edges. Rows under other edges do not add up with them, and stand beside. */
export interface CalibrationTable {
  readonly edges: readonly number[];
  readonly buckets: readonly CalibrationBucket[];
}

/** How good served scores are as predictions of clicks. */
export interface Calibration {
  readonly impressions: bigint;
  readonly clicks: bigint;
  /** Those that were served with a score: what is predicted is predicted for them. */
  readonly scoredImpressions: bigint;
  readonly scoredClicks: bigint;
  /** Sums of the served scores, in billionths. */
  readonly impressionScores: bigint;
  readonly clickScores: bigint;
  /** Clicks with a score per click that was predicted; undefined when none was. */
  readonly ratio: number | undefined;
  readonly tables: readonly CalibrationTable[];
}

/** Sums the listed slots of pairs into what a calibration needs. @throws InvariantViolation for a slot of other edges */
export function calibrate(slots: readonly PairSlot[]): Calibration {
  const total = (value: number) => slots.reduce((sum, { counters }) => sum + (counters[value] ?? 0n), 0n);
  const tables = new Map<string, PairSlot[]>();
  for (const slot of slots) {
    const length = bucketValue(slot.edges.length + 1, "impressions");
    invariant(slot.counters.length === length, "SLOT_SHAPE", `a pair of ${slot.counters.length} values, not ${length}`);
    const name = slot.edges.join("/");
    const alike = tables.get(name);
    if (alike === undefined) tables.set(name, [slot]);
    else alike.push(slot);
  }
  const summed = [...tables.values()].map(tableOf);
  const buckets = summed.flatMap((table) => table.buckets);
  const scored = (value: "impressions" | "clicks") => buckets.reduce((sum, bucket) => sum + bucket[value], 0n);
  const impressionScores = total(IMPRESSION_SCORES);
  return {
    impressions: total(IMPRESSIONS),
    clicks: total(CLICKS),
    scoredImpressions: scored("impressions"),
    scoredClicks: scored("clicks"),
    impressionScores,
    clickScores: total(CLICK_SCORES),
    ratio: ratioOf(scored("clicks"), impressionScores),
    tables: summed,
  };
}

function tableOf(slots: readonly PairSlot[]): CalibrationTable {
  const edges = slots[0]?.edges ?? [];
  const sum = (bucket: number, value: "impressions" | "clicks" | "scores") =>
    slots.reduce((all, { counters }) => all + (counters[bucketValue(bucket, value)] ?? 0n), 0n);
  const buckets = [...edges, 1].map((to, bucket) => {
    const clicks = sum(bucket, "clicks");
    const scores = sum(bucket, "scores");
    return {
      from: edges[bucket - 1] ?? 0,
      to,
      impressions: sum(bucket, "impressions"),
      clicks,
      predictedClicks: scores,
      ratio: ratioOf(clicks, scores),
    };
  });
  return { edges, buckets };
}

/** A scaled sum as a number: exact up to 2^53 billionths, then to 16 digits. */
function unscaled(sum: bigint): number {
  const scale = BigInt(SCORE_SCALE);
  return Number(sum / scale) + Number(sum % scale) / SCORE_SCALE;
}

function ratioOf(clicks: bigint, scores: bigint): number | undefined {
  return scores === 0n ? undefined : Number(clicks) / unscaled(scores);
}
