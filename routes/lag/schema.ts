import { Type } from "@sinclair/typebox";
import { LAG_BASES } from "../../src/core/lag.ts";
import { Closed, Words } from "../schema/closed.ts";
import { NO_PARAMS, NO_QUERY, json, operation } from "../schema/operation.ts";
import { SourceParams } from "../schema/params.ts";
import { MeasuredNumber, PartitionNumber, Text, Time } from "../schema/values.ts";

const MeasuredAt = Type.Optional(
  Type.String({ ...Time, description: "When the log was last measured; absent before the first time." }),
);

export const PartitionLag = Closed({
  source: Text("Name of the source."),
  partition: PartitionNumber,
  records: MeasuredNumber,
  seconds: MeasuredNumber,
  timeToLossSeconds: MeasuredNumber,
  basis: Words(
    LAG_BASES,
    "What `records` was counted from: what this instance has applied, what the group has committed, or, before the first commit, where reading begins. `none`: there is nothing to count from, or what there is contradicts the log.",
  ),
  measuredAt: MeasuredAt,
});

const UnknownLag = Closed(
  { source: Text("Name of the source."), cause: Text("Why, as a stable word."), measuredAt: MeasuredAt },
  { description: "A source of which not even the partitions are known." },
);

export const Lag = Closed(
  { measuredAt: Time, partitions: Type.Array(PartitionLag), unknown: Type.Array(UnknownLag) },
  {
    description:
      "Per partition: records behind (offsets, so an upper bound where the log has holes), age of the oldest unprocessed record by its broker timestamp, and seconds until the topic's retention reaches it (0: it is, or may be, deleted already). What is unknown says why.",
  },
);

export const lagSchema = operation({
  operationId: "listLag",
  summary: "How far behind everything is",
  description: "Every partition of every source. A partition that cannot be measured spoils its own row alone.",
  tag: "lag",
  params: NO_PARAMS,
  querystring: NO_QUERY,
  response: { 200: json("The lag of every partition.", Lag) },
  errors: ["NOT_READY"],
});

export const sourceLagSchema = operation({
  operationId: "getSourceLag",
  summary: "How far behind a source is",
  description: "Every partition of one source. A partition that cannot be measured spoils its own row alone.",
  tag: "lag",
  params: SourceParams,
  querystring: NO_QUERY,
  response: { 200: json("The lag of the source's partitions.", Lag) },
  errors: ["SOURCE_UNKNOWN"],
});
