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
  FromTime,
  NamespaceQuery,
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
  items: Type.Array(Closed({ campaign: Text("The campaign."), actions: Actions, next: Next })),
});

export const ActionsBody = Closed({
  campaigns: EntityIds("campaign"),
  namespace: NamespaceQuery,
  by: By,
  from: FromTime,
  to: ToTime,
});

const Share = Type.Number({ minimum: 0, maximum: 1 });
const Predicted = Type.Number({ minimum: 0, maximum: Number.MAX_VALUE, description: "Sum of the served scores." });
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
  predictedClicks: Predicted,
  clickScores: Predicted,
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
          predictedClicks: Predicted,
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
const ERRORS = ["NAMESPACE_UNKNOWN", "NAMESPACE_NEEDED", "COUNTERS_CHANGING", "KV_UNAVAILABLE", "NOT_READY"] as const;

export const getActionsSchema = operation({
  operationId: "getCampaignActions",
  summary: "Impressions and clicks of a campaign",
  description:
    "Sums over the ledger rows that count, exact, whatever was replayed or recounted. `from` and `to` hold for hours. At most 1,000 members in one answer.",
  tag: "counters",
  params: CampaignParams,
  querystring: Closed({
    namespace: NamespaceQuery,
    by: By,
    from: FromTime,
    to: ToTime,
    breakdown: BreakdownQuery,
    cursor: CounterCursor,
  }),
  response: { 200: json("The actions.", ActionsPage) },
  errors: [...ERRORS, "CURSOR_UNKNOWN"],
});

export const readActionsSchema = {
  body: ActionsBody,
  ...operation({
    operationId: "readCampaignActions",
    summary: "Impressions and clicks of many campaigns",
    description:
      "As getCampaignActions, for up to 1,000 campaigns, each with at most 100 members; `next` of an item is the cursor for getCampaignActions with the same question. Changes nothing.",
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
  querystring: Closed({
    namespace: NamespaceQuery,
    article: Type.Optional(EntityId("article")),
  }),
  response: { 200: json("The calibration.", CalibrationPage) },
  errors: [...ERRORS, "ANSWER_TOO_LARGE"],
});
