import type { Increments, InputView, KeyPrefix } from "../src/core/counting/inputs.ts";
import { ACTION_KEYS, ROLLUPS, keyPrefix } from "../src/core/counting/keys.ts";
import { HOUR_MS, SCORE_SCALE, type CountingSettings } from "../src/core/counting/settings.ts";
import {
  actionFamilies,
  CLICKS,
  CLICK_SCORES,
  FAMILY_ACTIONS,
  FAMILY_PAIR,
  IMPRESSIONS,
  IMPRESSION_SCORES,
  bucketOf,
  bucketValue,
} from "../src/core/counting/shapes.ts";
import type { RecordFault } from "../src/core/fault.ts";
import { DOCUMENT_ID_BYTES_MAX } from "../src/core/keys.ts";
import type { KindInput } from "../src/ports/decoder.ts";
import type { CountingKind, CountingRules } from "../src/ports/kind.ts";
import { contractFault, entityFault, timeFault } from "./contract.ts";

const INPUTS = [
  { name: "campaign", type: "text", required: true },
  { name: "article", type: "text", required: true },
  { name: "placement", type: "text", required: false },
  { name: "site", type: "text", required: false },
  { name: "publisher", type: "text", required: false },
  { name: "action", type: "enum", required: true },
  { name: "score", type: "number", required: false },
  { name: "occurred_at", type: "time", required: true },
] as const satisfies readonly KindInput[];

const CAMPAIGN = 0;
const ARTICLE = 1;
const PUBLISHER = 4;
const ACTION = 5;
const SCORE = 6;
const OCCURRED_AT = 7;

const ACTION_IMPRESSION = 1;
const ACTION_CLICK = 2;

const ROLLUP_CAMPAIGN = ROLLUPS.indexOf("campaign");
const ROLLUP_ARTICLE = ROLLUPS.indexOf("article");
const ROLLUP_HOUR = ROLLUPS.indexOf("hour");

/**
 * `ad_actions`: what happened to ads, counted by campaign and by campaign with article (the pair), placement, site, publisher
 * and hour. The record key is the campaign's id. Where a placement, site or publisher is not known it is counted under the
 * empty name, so that the members of each rollup add up to the campaign.
 */
export const adActions: CountingKind = {
  name: "ad_actions",
  counting: true,
  space: "slot",
  inputs: INPUTS,
  keepsBody: false,
  defaultMapping: {
    campaign: [1],
    article: [2],
    placement: [3],
    site: [4],
    publisher: [5],
    action: [6],
    score: [7],
    occurred_at: [8],
  },
  compile(namespace: string, settings: CountingSettings): CountingRules {
    const prefix = keyPrefix(namespace, ACTION_KEYS);
    const { scoreEdges } = settings;
    return {
      families: actionFamilies(settings),
      count: (key, timestampMs, inputs, increments) =>
        judge(key, timestampMs, inputs) ?? add(inputs, increments, prefix, scoreEdges),
    };
  },
};

function judge(key: Uint8Array | null, timestampMs: number, inputs: InputView): RecordFault | undefined {
  return (
    entityFault(key, inputs, CAMPAIGN) ??
    memberFault(inputs) ??
    actionFault(inputs) ??
    scoreFault(inputs) ??
    timeFault(timestampMs, inputs, OCCURRED_AT)
  );
}

function memberFault(inputs: InputView): RecordFault | undefined {
  if (inputs.end(ARTICLE) === inputs.start(ARTICLE)) {
    return contractFault("CONTRACT_ARTICLE", "the record names no article, which the pair needs");
  }
  for (let input = ARTICLE; input <= PUBLISHER; input += 1) {
    if (inputs.end(input) - inputs.start(input) <= DOCUMENT_ID_BYTES_MAX) continue;
    const text = `an article, placement, site or publisher has more than ${DOCUMENT_ID_BYTES_MAX} bytes`;
    return contractFault("CONTRACT_MEMBER_TOO_LONG", text);
  }
  return undefined;
}

function actionFault(inputs: InputView): RecordFault | undefined {
  const action = inputs.number(ACTION);
  if (action === ACTION_IMPRESSION || action === ACTION_CLICK) return undefined;
  return contractFault("CONTRACT_ACTION", "the action is none that is known");
}

function scoreFault(inputs: InputView): RecordFault | undefined {
  if (!inputs.has(SCORE)) return undefined;
  const score = inputs.number(SCORE);
  // Written so that NaN is refused, too.
  return score >= 0 && score <= 1 ? undefined : contractFault("CONTRACT_SCORE", "the score is not within 0 to 1");
}

function add(inputs: InputView, increments: Increments, prefix: KeyPrefix, edges: readonly number[]): undefined {
  const counted = inputs.number(ACTION) === ACTION_CLICK ? CLICKS : IMPRESSIONS;
  const { bytes } = inputs;
  increments.open(prefix);
  increments.part(bytes, inputs.start(CAMPAIGN), inputs.end(CAMPAIGN));
  increments.mark();
  increments.byte(ROLLUP_CAMPAIGN);
  increments.select(FAMILY_ACTIONS);
  increments.add(counted, 1);
  // The rollups from article to publisher have the codes of their inputs.
  for (let input = ARTICLE; input <= PUBLISHER; input += 1) {
    increments.rewind();
    increments.byte(input);
    increments.part(bytes, inputs.start(input), inputs.end(input));
    increments.select(input === ROLLUP_ARTICLE ? FAMILY_PAIR : FAMILY_ACTIONS);
    increments.add(counted, 1);
    if (input === ROLLUP_ARTICLE && inputs.has(SCORE)) addScore(increments, counted, inputs.number(SCORE), edges);
  }
  increments.rewind();
  increments.byte(ROLLUP_HOUR);
  increments.moment(Math.floor(inputs.number(OCCURRED_AT) / HOUR_MS) * HOUR_MS);
  increments.select(FAMILY_ACTIONS);
  increments.add(counted, 1);
  return undefined;
}

/** A click carries the score of its impression: a bucket's scores are summed over impressions only. */
function addScore(increments: Increments, counted: number, score: number, edges: readonly number[]): void {
  const scaled = Math.round(score * SCORE_SCALE);
  const bucket = bucketOf(score, edges);
  increments.add(counted === CLICKS ? CLICK_SCORES : IMPRESSION_SCORES, scaled);
  increments.add(bucketValue(bucket, counted === CLICKS ? "clicks" : "impressions"), 1);
  if (counted === IMPRESSIONS) increments.add(bucketValue(bucket, "scores"), scaled);
}
