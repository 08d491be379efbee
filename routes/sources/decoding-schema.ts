import { Type } from "@sinclair/typebox";
import { MessageName } from "../descriptors/schema.ts";
import { JOB_KINDS } from "../../src/core/job/job.ts";
import { Closed, Words } from "../schema/closed.ts";
import { NO_QUERY, json, operation } from "../schema/operation.ts";
import { CursorQuery, Next, Reason } from "../schema/operator-values.ts";
import { SourceParams } from "../schema/params.ts";
import { Count, OffsetText, PartitionNumber, Text, PARTITION_PATTERN, Time } from "../schema/values.ts";
import { DefinitionInForce, Mapping } from "./definition-schema.ts";
import { DEFINE_ERRORS, ETAG } from "./operations.ts";

const Revision = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const ActivationBody = Closed({
  version: Type.Integer({ minimum: 1, maximum: 1_000_000, description: "Version of the source's subject." }),
  message: Type.Optional(MessageName),
  mapping: Type.Optional(Mapping),
  reason: Type.Optional(Reason),
});

const meaning = {
  revision: Revision,
  descriptor: Type.Optional(
    Closed({
      subject: Text("Subject in the descriptor catalog."),
      version: Type.Integer({ minimum: 1 }),
      message: Text("Message that the source decodes."),
    }),
  ),
  digest: Type.Optional(Text("Hex of SHA-256 of everything that decides verdicts under the revision.")),
};

const Row = Closed({
  partition: PartitionNumber,
  number: Type.Integer({ minimum: 1, description: "Number of the row; never given twice in a partition." }),
  from: OffsetText,
  until: Type.Optional(OffsetText),
  ...meaning,
});

const Write = Closed({
  id: Text("Id of the job."),
  kind: Words(JOB_KINDS),
  createdAt: Time,
  partition: PartitionNumber,
  from: OffsetText,
  until: OffsetText,
  ...meaning,
});

export const Ledger = Closed({
  rows: Type.Array(Row),
  jobs: Type.Array(Write, {
    description:
      "What replays and redrives that have started wrote beside live reading, or may have: their whole ranges, of the jobs that are kept.",
  }),
  next: Next,
});

export const UnknownFields = Closed({
  source: Text("Name of the source."),
  revisions: Type.Array(
    Closed({
      revision: Revision,
      descriptorVersion: Type.Integer({ minimum: 0, description: "0 where the format has none." }),
      fields: Type.Array(
        Closed({
          path: Text(
            "Field numbers from the record's message down, as in `3.7`. A member of JSON ends it as a JSON string. `*`: all that are not told apart.",
          ),
          count: Count("How often it was seen."),
        }),
        { description: "The most frequent first; at most 257." },
      ),
    }),
  ),
});

export const putDescriptorSchema = {
  body: ActivationBody,
  ...operation({
    operationId: "activateDescriptor",
    summary: "Decode a source by another descriptor version",
    description:
      "Changes the source's definition in its descriptor, on every instance, without a restart: what is not applied yet is decoded by it, what is applied keeps the revision of its ledger row. Going back is the same call, and a new revision. If-Match must carry the ETag of the definition: 428 without, 412 when it has changed. What is left out stays: a message that was the old version's own becomes that of the new one. Needs the role admin.",
    tag: "sources",
    params: SourceParams,
    querystring: NO_QUERY,
    response: { 200: json("The definition that is now in force.", DefinitionInForce, ETAG) },
    errors: DEFINE_ERRORS,
  }),
};

export const getLedgerSchema = operation({
  operationId: "getLedger",
  summary: "Which offsets which descriptor version decodes",
  description:
    "The ledger of the log that the source reads now: ranges `[from, until)` of each partition with the revision that judges them. A row without `until` is open. `jobs` says what jobs decoded again. By partition and offset, at most 200 of both in one answer.",
  tag: "sources",
  params: SourceParams,
  querystring: Closed({
    partition: Type.Optional(Type.String({ pattern: PARTITION_PATTERN, description: "Of this partition only." })),
    cursor: CursorQuery,
  }),
  response: { 200: json("The rows.", Ledger) },
  errors: ["SOURCE_UNKNOWN", "CURSOR_UNKNOWN", "KV_UNAVAILABLE"],
});

export const getUnknownFieldsSchema = operation({
  operationId: "getUnknownFields",
  summary: "Fields that producers send and the descriptor does not have",
  description:
    "Counts by path of field numbers and revision, as this instance has met them since it runs the source: which newer fields producers already send.",
  tag: "sources",
  params: SourceParams,
  querystring: NO_QUERY,
  response: { 200: json("The counts.", UnknownFields) },
  errors: ["SOURCE_UNKNOWN"],
});
