import type { ErrorCode } from "../../src/errors.ts";
import { BODY_ERRORS, NO_PARAMS, NO_QUERY, json, operation } from "../schema/operation.ts";
import { PartitionParams, SourceParams } from "../schema/params.ts";
import { DefinitionInForce, DefinitionToPut } from "./definition-schema.ts";
import { Partition, Partitions, Source, Sources } from "./schema.ts";

/** Header of a definition. */
export const ETAG = {
  ETag: { type: "string", description: "Changes with every change of the definition. Send it in If-Match." },
} as const;

const OPERATOR_ETAG = {
  ETag: {
    type: "string",
    description:
      "Covers what operators change: pauses and stops, never what flows. Send it in If-Match of a resumption. Absent while the KV plane is away.",
  },
} as const;

export const listSourcesSchema = operation({
  operationId: "listSources",
  summary: "All sources",
  description: "Every source with what it should do, what it does, since when and why.",
  tag: "sources",
  params: NO_PARAMS,
  querystring: NO_QUERY,
  response: { 200: json("The sources.", Sources) },
  errors: ["NOT_READY"],
});

export const getSourceSchema = operation({
  operationId: "getSource",
  summary: "One source",
  description: "What the source should do, what it does, since when and why, with its recent errors.",
  tag: "sources",
  params: SourceParams,
  querystring: NO_QUERY,
  response: { 200: json("The source.", Source, OPERATOR_ETAG) },
  errors: ["SOURCE_UNKNOWN"],
});

export const getDefinitionSchema = operation({
  operationId: "getDefinition",
  summary: "What is in force for a source",
  description: "The definition in force on every instance. Its ETag allows to change it.",
  tag: "sources",
  params: SourceParams,
  querystring: NO_QUERY,
  response: { 200: json("The definition in force.", DefinitionInForce, ETAG) },
  errors: ["SOURCE_UNKNOWN"],
});

/** What every change of a definition can meet. */
export const DEFINE_ERRORS = [
  ...BODY_ERRORS,
  "SOURCE_UNKNOWN",
  "PRECONDITION_FAILED",
  "PRECONDITION_REQUIRED",
  "DEFINITION_CHANGE_REFUSED",
  "DEFINITION_CONFLICT",
  "DESCRIPTOR_INVALID",
  "DESCRIPTOR_UNKNOWN",
  "MAPPING_INVALID",
  "KV_UNAVAILABLE",
  "NOT_READY",
] as const satisfies readonly ErrorCode[];

export const putDefinitionSchema = {
  body: DefinitionToPut,
  ...operation({
    operationId: "putDefinition",
    summary: "Put a definition in force",
    description:
      "With If-Match, replaces the whole definition, on every instance, without a restart; it must carry the ETag of the definition that was read: 412 when it has changed since. With `If-None-Match: *`, defines a new source and starts it: 412 when there is one of this name. 428 without either. Needs the role admin.",
    tag: "sources",
    params: SourceParams,
    querystring: NO_QUERY,
    response: {
      200: json("The definition that is now in force.", DefinitionInForce, ETAG),
      201: json("The definition of a new source, which was started.", DefinitionInForce, ETAG),
    },
    errors: DEFINE_ERRORS,
  }),
};

export const listPartitionsSchema = operation({
  operationId: "listPartitions",
  summary: "A source's partitions",
  description: "Every partition of the source's topic with its offsets, and its stop or hold where it has one.",
  tag: "sources",
  params: SourceParams,
  querystring: NO_QUERY,
  response: { 200: json("The partitions.", Partitions) },
  errors: ["SOURCE_UNKNOWN"],
});

export const getPartitionSchema = operation({
  operationId: "getPartition",
  summary: "One partition",
  description: "Its offsets, what is in flight, and its stop or hold where it has one.",
  tag: "sources",
  params: PartitionParams,
  querystring: NO_QUERY,
  response: { 200: json("The partition.", Partition, OPERATOR_ETAG) },
  errors: ["SOURCE_UNKNOWN", "PARTITION_UNKNOWN"],
});
