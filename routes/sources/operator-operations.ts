import { Type } from "@sinclair/typebox";
import type { ErrorCode } from "../../src/errors.ts";
import { Closed } from "../schema/closed.ts";
import { BODY_ERRORS, NO_QUERY, json, operation } from "../schema/operation.ts";
import { Reason } from "../schema/operator-values.ts";
import { PartitionParams, SourceParams } from "../schema/params.ts";
import { Epoch, EpochBody, PauseBody, PauseState, ResumeBody, Resumed, Resumptions } from "./operator-schema.ts";

const CHANGE_ERRORS = ["SOURCE_UNKNOWN", "KV_UNAVAILABLE", "NOT_READY"] as const satisfies readonly ErrorCode[];

const ReasonQuery = Closed({ reason: Type.Optional(Reason) });

const PAUSE_TEXT =
  "Nothing is fetched until the pause ends; what is in flight is applied and committed, and the partitions stay in the group. The pause survives restarts and rebalances, on whichever instance owns the partition. A pause replaces an earlier one of the same target. Needs the role operator.";

const UNPAUSE_TEXT =
  "Ends the pause of this target; ending none is no error. A partition stays paused while its source is. Needs the role operator.";

export const putSourcePauseSchema = {
  body: PauseBody,
  ...operation({
    operationId: "pauseSource",
    summary: "Pause a source",
    description: PAUSE_TEXT,
    tag: "sources",
    params: SourceParams,
    querystring: NO_QUERY,
    response: { 200: json("What holds now.", PauseState) },
    errors: [...BODY_ERRORS, ...CHANGE_ERRORS, "PAUSE_UNTIL_PAST"],
  }),
};

export const deleteSourcePauseSchema = operation({
  operationId: "unpauseSource",
  summary: "End the pause of a source",
  description: UNPAUSE_TEXT,
  tag: "sources",
  params: SourceParams,
  querystring: ReasonQuery,
  response: { 200: json("What holds now.", PauseState) },
  errors: [...CHANGE_ERRORS, "ORIGIN_REFUSED"],
});

export const putPartitionPauseSchema = {
  body: PauseBody,
  ...operation({
    operationId: "pausePartition",
    summary: "Pause a partition",
    description: PAUSE_TEXT,
    tag: "sources",
    params: PartitionParams,
    querystring: NO_QUERY,
    response: { 200: json("What holds now.", PauseState) },
    errors: [...BODY_ERRORS, ...CHANGE_ERRORS, "BROKER_UNAVAILABLE", "PARTITION_UNKNOWN", "PAUSE_UNTIL_PAST"],
  }),
};

export const deletePartitionPauseSchema = operation({
  operationId: "unpausePartition",
  summary: "End the pause of a partition",
  description: UNPAUSE_TEXT,
  tag: "sources",
  params: PartitionParams,
  querystring: ReasonQuery,
  response: { 200: json("What holds now.", PauseState) },
  errors: [...CHANGE_ERRORS, "BROKER_UNAVAILABLE", "PARTITION_UNKNOWN", "ORIGIN_REFUSED"],
});

const RESUME_ERRORS = [
  ...BODY_ERRORS,
  ...CHANGE_ERRORS,
  "BROKER_UNAVAILABLE",
  "PRECONDITION_FAILED",
  "PRECONDITION_REQUIRED",
  "PARTITION_NOT_STOPPED",
] as const satisfies readonly ErrorCode[];

export const resumePartitionSchema = {
  body: ResumeBody,
  ...operation({
    operationId: "resumePartition",
    summary: "Let a stopped partition go on",
    description:
      "Clears the stop and sets where the partition begins, in one step, whichever instance owns it. If-Match must carry the ETag of the partition: 428 without, 412 when a stop, a pause or another resumption has changed it since. Passing over data needs `acceptLoss` that covers the range as it is now, otherwise 409 with that range; an offset outside the log is 422 with its bounds. What is passed over is an entry of the gap ledger before anything behind it is read. Needs the role operator.",
    tag: "sources",
    params: PartitionParams,
    querystring: NO_QUERY,
    response: { 200: json("The partition goes on from here.", Resumed) },
    errors: [
      ...RESUME_ERRORS,
      "PARTITION_UNKNOWN",
      "LOSS_NOT_ACCEPTED",
      "RESUME_OUT_OF_RANGE",
      "RESUME_POINT_UNKNOWN",
      "EPOCH_REQUIRED",
    ],
  }),
};

export const resumeSourceSchema = {
  body: ResumeBody,
  ...operation({
    operationId: "resumeSource",
    summary: "Let all stopped partitions of a source go on",
    description:
      "As the resumption of one partition, for each that is stopped, each by its own decision and with its own answer. If-Match must carry the ETag of the source: it covers the pauses and stops of all its partitions. Needs the role operator.",
    tag: "sources",
    params: SourceParams,
    querystring: NO_QUERY,
    response: { 200: json("What became of each stopped partition.", Resumptions) },
    errors: RESUME_ERRORS,
  }),
};

export const openEpochSchema = {
  body: EpochBody,
  ...operation({
    operationId: "openEpoch",
    summary: "Open a topic epoch",
    description:
      "For a topic that was re-created or truncated, or a cluster that was replaced: all partitions begin anew at the start of the log, with a fresh ledger, copy and start, and whatever is read is newer than all before. For a topic that grew to a number that is no multiple: the old partitions go on where they were read to, which must be their end, with quiet producers; otherwise 409. Stops of the log before end with it. Needs the role operator.",
    tag: "sources",
    params: SourceParams,
    querystring: NO_QUERY,
    response: { 200: json("The epoch that is open now.", Epoch) },
    errors: [
      ...BODY_ERRORS,
      ...CHANGE_ERRORS,
      "BROKER_UNAVAILABLE",
      "PRECONDITION_FAILED",
      "EPOCH_NOT_NEEDED",
      "EPOCH_NOT_READ",
      "EPOCH_EXHAUSTED",
      "COUNTING_NOT_APPLICABLE",
    ],
  }),
};
