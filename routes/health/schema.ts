import { Type } from "@sinclair/typebox";
import { Closed, Words } from "../schema/closed.ts";
import { NO_PARAMS, NO_QUERY, RETRY_AFTER, json, operation } from "../schema/operation.ts";

export const Alive = Closed({ status: Type.Literal("alive") });

export const Readiness = Closed({
  status: Words(["ready", "not-ready"]),
  phase: Words(["starting", "serving", "draining"]),
  kv: Words(
    ["up", "away"],
    "Whether the KV plane answers; when it is away, the last known state is served and changes are refused.",
  ),
});

export const livezSchema = operation({
  operationId: "getLivez",
  summary: "Whether the process is alive",
  description: "200 as long as the process answers at all. A broker, an owner or a stopped partition never fails it.",
  tag: "health",
  params: NO_PARAMS,
  querystring: NO_QUERY,
  response: { 200: json("The process is alive.", Alive) },
  errors: [],
  secured: false,
});

export const readyzSchema = operation({
  operationId: "getReadyz",
  summary: "Whether the API can be served",
  description:
    "200 while serving, 503 while starting or draining. A broker or KV outage or a stopped partition never fails it: the last known state is served.",
  tag: "health",
  params: NO_PARAMS,
  querystring: NO_QUERY,
  response: {
    200: json("The API is served.", Readiness),
    503: {
      description: "The process is starting or draining, or `ANSWER_TIMEOUT`: The answer took longer than the limit.",
      content: {
        "application/json": { schema: Readiness },
        "application/problem+json": { schema: Type.Unsafe({ $ref: "Problem#" }) },
      },
      headers: RETRY_AFTER,
    },
  },
  errors: [],
  secured: false,
});
