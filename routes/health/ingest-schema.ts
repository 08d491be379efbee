import { Type } from "@sinclair/typebox";
import { INGEST_REASONS } from "../../src/ports/ingest.ts";
import { Closed, Words } from "../schema/closed.ts";
import { NO_PARAMS, RETRY_AFTER, json, operation } from "../schema/operation.ts";
import { Count, NAME_PATTERN, PartitionNumber, Text, Time } from "../schema/values.ts";

/** A whole number as text: nothing in a query is coerced. */
const NUMBER_PATTERN = "^(?:0|[1-9][0-9]{0,8})$";

const Status = Words(["within-limits", "outside-limits"]);

const Reason = Closed({
  reason: Words(
    INGEST_REASONS,
    "`no-quorum`: fewer owners are up than a write needs, see GET /v1/kv/owners. `lag-unknown`: what is not known is not within limits. `not-started`: the source is refused, GET /v1/sources says what to change.",
  ),
  cause: Text("Why, as a stable word: the code of a stop, the cause that GET /v1/lag gives."),
  partitions: Type.Array(PartitionNumber, { description: "Empty where the whole source is meant." }),
});

export const Ingest = Closed({
  status: Status,
  phase: Words(["starting", "serving", "draining"]),
  measuredAt: Time,
  sources: Type.Array(
    Closed({
      source: Text("Name of the source."),
      status: Status,
      stopped: Count("Partitions that are stopped."),
      holding: Type.Array(PartitionNumber, {
        description:
          "Partitions of this instance that wait for the store, the broker or their log. They count by their lag and are no reason of their own.",
      }),
      reasons: Type.Array(Reason, { description: "Why it is outside the limits; empty when it is within." }),
    }),
  ),
});

export const ingestSchema = operation({
  operationId: "getIngestHealth",
  summary: "Whether ingestion is within the caller's limits",
  description:
    "200 when every source is within the limits, 503 with the reasons otherwise; from the same snapshot as lag, for the whole fleet. Lag that is unknown is not within limits. Pauses and holds count by their lag. It has no effect on `/livez` and `/readyz`.",
  tag: "health",
  params: NO_PARAMS,
  querystring: Closed({
    maxLagSeconds: Type.Optional(
      Type.String({
        pattern: NUMBER_PATTERN,
        description:
          "Largest age of the oldest unprocessed record of any partition. Without it lag has no limit: it only has to be known.",
        examples: ["300"],
      }),
    ),
    maxStopped: Type.Optional(
      Type.String({ pattern: NUMBER_PATTERN, description: "Most stopped partitions of one source; 0 without it." }),
    ),
    source: Type.Optional(Type.String({ pattern: NAME_PATTERN, description: "Judge this source alone." })),
  }),
  response: {
    200: json("Within the limits.", Ingest),
    503: {
      description: "Outside the limits, or `ANSWER_TIMEOUT`: The answer took longer than the limit.",
      content: {
        "application/json": { schema: Ingest },
        "application/problem+json": { schema: Type.Unsafe({ $ref: "Problem#" }) },
      },
      headers: RETRY_AFTER,
    },
  },
  errors: ["SOURCE_UNKNOWN"],
});
