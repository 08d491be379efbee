import { Type } from "@sinclair/typebox";
import { AnyJson, Closed, Words } from "../schema/closed.ts";
import { NO_PARAMS, NO_QUERY, json, operation } from "../schema/operation.ts";
import { PartitionNumber, Text, Time } from "../schema/values.ts";

export const Index = Closed({
  service: Type.Literal("ysearch-streams"),
  release: Text("Version of this build."),
  links: Type.Array(Closed({ href: Text("Path, or a template of one."), title: Text("What is there.") })),
});

export const indexSchema = operation({
  operationId: "getIndex",
  summary: "Where everything is",
  description: "Links to the resources. Paths in braces are templates.",
  tag: "service",
  params: NO_PARAMS,
  querystring: NO_QUERY,
  response: { 200: json("The index.", Index) },
  errors: [],
});

export const Instances = Closed({
  asOf: Time,
  instances: Type.Array(
    Closed({
      id: Text("Made anew by each process."),
      release: Text("Version of its build."),
      phase: Words(["starting", "serving", "draining"]),
      startedAt: Time,
      seenAt: Time,
      expiresAt: Time,
      sources: Type.Array(
        Closed({
          source: Text("Name of the source."),
          partitions: Type.Array(PartitionNumber, {
            description: "Partitions that it runs, stopped and paused ones included.",
          }),
        }),
      ),
    }),
  ),
});

export const instancesSchema = operation({
  operationId: "listInstances",
  summary: "Who runs",
  description:
    "Processes of this deployment, their versions and their partitions, as each said last (`seenAt`), every 10 seconds. One that was killed is listed until `expiresAt`.",
  tag: "service",
  params: NO_PARAMS,
  querystring: NO_QUERY,
  response: { 200: json("The processes, by the time of their start.", Instances) },
  errors: ["KV_UNAVAILABLE"],
});

export const openApiSchema = operation({
  operationId: "getOpenApi",
  summary: "This contract",
  description: "The OpenAPI 3.1 document of this build.",
  tag: "service",
  params: NO_PARAMS,
  querystring: NO_QUERY,
  response: { 200: json("The document.", AnyJson("An OpenAPI 3.1 document.")) },
  errors: [],
});

export const metricsSchema = operation({
  operationId: "getMetrics",
  summary: "Metrics",
  description: "Metrics of this process in Prometheus' text format.",
  tag: "service",
  params: NO_PARAMS,
  querystring: NO_QUERY,
  response: {
    200: {
      description: "The metrics. The content type says which version of the format it is.",
      content: { "text/plain": { schema: Type.String() } },
    },
  },
  errors: [],
});
