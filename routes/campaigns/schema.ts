import { Type } from "@sinclair/typebox";
import { ROLLUPS } from "../../src/core/counting/keys.ts";
import { Closed, Words } from "../schema/closed.ts";
import {
  AsOf,
  BreakdownQuery,
  CounterCursor,
  CountText,
  EntityId,
  EntityIds,
  EntityKey,
  FromTime,
  KeyProblem,
  NamespaceQuery,
  ScoreText,
  Slots,
  ToTime,
} from "../schema/counters.ts";
import { BODY_ERRORS, json, NO_PARAMS, NO_QUERY, operation } from "../schema/operation.ts";
import { Next } from "../schema/operator-values.ts";
import { KnownTime, Text, Time } from "../schema/values.ts";

const By = Type.Optional(
  Words(
    ROLLUPS.filter((rollup) => rollup !== "campaign"),
    "Rollup; the campaign's own totals without it.",
  ),
);

const Actions = Type.Array(
  Closed({
    member: Type.Optional(
      Text("Id; empty where the records did not say. Absent for the campaign itself and for hours."),
    ),
    start: Type.Optional(KnownTime),
    impressions: CountText,
    clicks: CountText,
    slots: Slots,
  }),
  { description: "Each member once; hours by time." },
);

const about = { namespace: Text("Namespace."), source: Text("Source that counts in it."), asOf: AsOf, readAt: Time };

export const ActionsPage = Closed({ ...about, campaign: Text("The campaign."), actions: Actions, next: Next });

export const ActionsBulk = Closed({
  ...about,
  items: Type.Array(
    Closed({ campaign: Text("The campaign."), actions: Type.Optional(Actions), next: Next, problem: KeyProblem }),
  ),
});

export const ActionsBody = Closed({
  campaigns: EntityIds("campaign"),
  namespace: NamespaceQuery,
  by: By,
  from: FromTime,
  to: ToTime,
});

const Share = Type.Number({ minimum: 0, maximum: 1 });
const Ratio = Type.Optional(
  Type.Number({
    minimum: 0,
    maximum: Number.MAX_VALUE,
    description: "Clicks per click that was predicted: above 1 the prediction was too low. Absent when none was.",
  }),
);

export const CalibrationPage = Closed({
  ...about,
  campaign: Text("The campaign."),
  article: Type.Optional(Text("The article.")),
  impressions: CountText,
  clicks: CountText,
  scoredImpressions: CountText,
  scoredClicks: CountText,
  predictedClicks: ScoreText,
  clickScores: ScoreText,
  ratio: Ratio,
  tables: Type.Array(
    Closed({
      edges: Type.Array(Share),
      buckets: Type.Array(
        Closed({
          from: Share,
          to: Share,
          impressions: CountText,
          clicks: CountText,
          predictedClicks: ScoreText,
          ratio: Ratio,
        }),
      ),
    }),
    {
      description:
        "One for each set of bucket edges that it was counted under: those of different edges do not add up.",
    },
  ),
});

const CampaignParams = Closed({ campaign: EntityId("campaign") });
const ERRORS = ["NAMESPACE_UNKNOWN", "NAMESPACE_NEEDED", "COUNTERS_CHANGING", "KV_UNAVAILABLE"] as const;

/** What can be asked about one campaign. */
const ACTION_FIELDS = {
  namespace: NamespaceQuery,
  by: By,
  from: FromTime,
  to: ToTime,
  breakdown: BreakdownQuery,
  cursor: CounterCursor,
};
export const ActionsQueryFields = Closed(ACTION_FIELDS);

const CALIBRATION_FIELDS = { namespace: NamespaceQuery, article: Type.Optional(EntityId("article")) };
/** What a calibration can be asked with. */
export const CalibrationQueryFields = Closed(CALIBRATION_FIELDS);

export const getActionsSchema = operation({
  operationId: "getCampaignActions",
  summary: "Impressions and clicks of a campaign",
  description:
    "Sums over the ledger rows that count, exact, whatever was replayed or recounted. A campaign that nothing was counted for has none. `from` and `to` only with `by=hour`. At most 1,000 members in one answer; where much has to be looked through, it has fewer, or none, and a `next`.",
  tag: "counters",
  params: CampaignParams,
  querystring: ActionsQueryFields,
  response: { 200: json("The actions.", ActionsPage) },
  errors: [...ERRORS, "CURSOR_UNKNOWN"],
});

export const getActionsByKeySchema = operation({
  operationId: "getCampaignActionsByKey",
  summary: "Impressions and clicks of a campaign by the bytes of its key",
  description: "As getCampaignActions, for ids that a path cannot carry.",
  tag: "counters",
  params: NO_PARAMS,
  querystring: Closed({ keyBase64: EntityKey, ...ACTION_FIELDS }),
  response: { 200: json("The actions.", ActionsPage) },
  errors: [...ERRORS, "CURSOR_UNKNOWN"],
});

export const readActionsSchema = {
  body: ActionsBody,
  ...operation({
    operationId: "readCampaignActions",
    summary: "Impressions and clicks of many campaigns",
    description:
      "As getCampaignActions, for up to 1,000 campaigns, each with at most 100 members; `next` of an item is the cursor for getCampaignActions with the same question, also where the work of one answer did not suffice for the item. A campaign that no record can have is answered with a `problem`. Changes nothing.",
    tag: "counters",
    params: NO_PARAMS,
    querystring: NO_QUERY,
    response: { 200: json("The actions, in the order of the campaigns.", ActionsBulk) },
    errors: [...ERRORS, ...BODY_ERRORS],
  }),
};

export const getCalibrationSchema = operation({
  operationId: "getCampaignCalibration",
  summary: "How well served scores predicted clicks",
  description:
    "Over all articles of a campaign, or one of them: clicks against the sum of served scores, by score bucket.",
  tag: "counters",
  params: CampaignParams,
  querystring: CalibrationQueryFields,
  response: { 200: json("The calibration.", CalibrationPage) },
  errors: [...ERRORS, "ANSWER_TOO_LARGE"],
});

export const getCalibrationByKeySchema = operation({
  operationId: "getCampaignCalibrationByKey",
  summary: "How well served scores predicted clicks, by the bytes of the campaign's key",
  description: "As getCampaignCalibration, for ids that a path cannot carry.",
  tag: "counters",
  params: NO_PARAMS,
  querystring: Closed({ keyBase64: EntityKey, ...CALIBRATION_FIELDS }),
  response: { 200: json("The calibration.", CalibrationPage) },
  errors: [...ERRORS, "ANSWER_TOO_LARGE"],
});
