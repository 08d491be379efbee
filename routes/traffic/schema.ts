import { Type } from "@sinclair/typebox";
import { TRAFFIC_SPANS } from "../../src/core/counting/reading.ts";
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
  Slots,
  ToTime,
  VISITORS_ERROR_PERCENT,
} from "../schema/counters.ts";
import { BODY_ERRORS, json, NO_PARAMS, NO_QUERY, operation } from "../schema/operation.ts";
import { Next } from "../schema/operator-values.ts";
import { Count, KnownTime, Text, Time } from "../schema/values.ts";

const Metric = Type.Optional(
  Type.String({ minLength: 1, maxLength: 512, description: "One metric; all of them without it." }),
);
const By = Type.Optional(Words(TRAFFIC_SPANS, "Spans to sum by, in UTC; `slot`, as it was counted, without it."));

const Traffic = Type.Array(
  Closed({
    metric: Text("Metric of the beacons."),
    start: KnownTime,
    count: CountText,
    visitors: Type.Optional(
      Count(
        `Distinct visitors, estimated: the standard error is ${VISITORS_ERROR_PERCENT} %. Absent where none of it was counted with visitors.`,
      ),
    ),
    visitorsPartial: Type.Boolean({ description: "Some of it was counted without visitors: the estimate is too low." }),
    slots: Slots,
  }),
  { description: "Metric by metric, each by time." },
);

const about = { namespace: Text("Namespace."), source: Text("Source that counts in it."), asOf: AsOf, readAt: Time };

export const TrafficPage = Closed({ ...about, article: Text("The article."), traffic: Traffic, next: Next });

export const TrafficBulk = Closed({
  ...about,
  items: Type.Array(
    Closed({ article: Text("The article."), traffic: Type.Optional(Traffic), next: Next, problem: KeyProblem }),
  ),
});

export const TrafficBody = Closed({
  articles: EntityIds("article"),
  namespace: NamespaceQuery,
  metric: Metric,
  from: FromTime,
  to: ToTime,
  by: By,
});

/** What can be asked about one article. */
const FIELDS = {
  namespace: NamespaceQuery,
  metric: Metric,
  from: FromTime,
  to: ToTime,
  by: By,
  breakdown: BreakdownQuery,
  cursor: CounterCursor,
};
export const TrafficQueryFields = Closed(FIELDS);

const ERRORS = ["NAMESPACE_UNKNOWN", "NAMESPACE_NEEDED", "COUNTERS_CHANGING", "KV_UNAVAILABLE"] as const;

export const getTrafficSchema = operation({
  operationId: "getTraffic",
  summary: "Traffic of an article",
  description:
    "Sums over the ledger rows that count, exact, whatever was replayed or recounted. An article that nothing was counted for has no spans. At most 1,000 in one answer; where much has to be looked through, it has fewer, or none, and a `next`.",
  tag: "counters",
  params: Closed({ article: EntityId("article") }),
  querystring: TrafficQueryFields,
  response: { 200: json("The traffic.", TrafficPage) },
  errors: [...ERRORS, "CURSOR_UNKNOWN"],
});

export const getTrafficByKeySchema = operation({
  operationId: "getTrafficByKey",
  summary: "Traffic of an article by the bytes of its key",
  description: "As getTraffic, for ids that a path cannot carry.",
  tag: "counters",
  params: NO_PARAMS,
  querystring: Closed({ keyBase64: EntityKey, ...FIELDS }),
  response: { 200: json("The traffic.", TrafficPage) },
  errors: [...ERRORS, "CURSOR_UNKNOWN"],
});

export const readTrafficSchema = {
  body: TrafficBody,
  ...operation({
    operationId: "readTraffic",
    summary: "Traffic of many articles",
    description:
      "As getTraffic, for up to 1,000 articles, each with at most 100 spans; `next` of an item is the cursor for getTraffic with the same question, also where the work of one answer did not suffice for the item. An article that no record can have is answered with a `problem`. Changes nothing.",
    tag: "counters",
    params: NO_PARAMS,
    querystring: NO_QUERY,
    response: { 200: json("The traffic, in the order of the articles.", TrafficBulk) },
    errors: [...ERRORS, ...BODY_ERRORS],
  }),
};
