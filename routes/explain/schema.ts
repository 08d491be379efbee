import { Type } from "@sinclair/typebox";
import { NOT_READ_REASONS, RECORD_VERDICTS } from "../../src/ports/explain.ts";
import { Closed, Words } from "../schema/closed.ts";
import { json, operation } from "../schema/operation.ts";
import { SourceParams } from "../schema/params.ts";
import { KnownTime, PARTITION_PATTERN } from "../schema/values.ts";
import { RecordKey } from "../schema/record-key.ts";
import {
  Count,
  KEY_BASE64_PATTERN,
  OFFSET_PATTERN,
  OffsetText,
  PartitionNumber,
  Text,
  Time,
} from "../schema/values.ts";

const Origin = {
  topicEpoch: Type.Integer({ minimum: 0, maximum: 1023 }),
  partition: PartitionNumber,
  offset: OffsetText,
  revision: Count("Revision that it was judged under."),
  descriptorVersion: Count("Version of the descriptor; 0 where the format has none."),
  state: Words(["live", "deleted"]),
};

const CellOrigin = Closed(Origin, { description: "A stored cell, by the record that it came from." });

const Input = Closed({
  name: Text("Input of the kind."),
  type: Text("What it is."),
  value: Type.Optional(
    Type.String({
      description:
        "As text: numbers in decimal, bytes in base64, times as RFC 3339 or milliseconds. Absent where the record has none.",
    }),
  ),
  cut: Type.Optional(Type.Boolean({ description: "Only the beginning of the value is here." })),
});

const Outcome = Type.Union([
  Closed({ outcome: Words(["put", "delete", "count"]) }),
  Closed({
    outcome: Type.Literal("fault"),
    code: Text("Stable code."),
    text: Text("What is wrong, without any of the record's content."),
    path: Type.Optional(Text("Path of field numbers.")),
  }),
]);

const Judged = Closed(
  {
    row: Count("Row of the ledger that covers the offset."),
    revision: Count("Its revision."),
    descriptorVersion: Count("Version of the descriptor; 0 where the format has none."),
    outcome: Outcome,
    inputs: Type.Optional(Type.Array(Input)),
    body: Type.Optional(
      Closed({
        format: Text("How it is stored."),
        bytes: Count("Its length."),
        text: Type.Optional(Type.String({ description: "The stored JSON." })),
        base64: Type.Optional(Type.String({ description: "The stored bytes." })),
        cut: Type.Optional(Type.Boolean({ description: "Only the beginning is here." })),
      }),
    ),
    unknownFields: Type.Array(
      Closed({ path: Text("Path of field numbers; a JSON member by its name."), count: Count("How often.") }),
    ),
  },
  { description: "What the record is by its ledger row: the same code judges it as when it is applied." },
);

const Record = Closed({
  timestamp: KnownTime,
  key: Type.Optional(RecordKey),
  valueBytes: Type.Union([Count("Length of the value."), Type.Null({ description: "The value is null." })]),
  judged: Type.Optional(Judged),
});

const Owner = Closed({
  owner: Text("Name of the owner."),
  answer: Words(["holds", "absent", "unavailable"]),
  cell: Type.Optional(CellOrigin),
});

export const Explained = Closed({
  source: Text("Name of the source."),
  partition: PartitionNumber,
  offset: OffsetText,
  topicEpoch: Origin.topicEpoch,
  verdict: Words(
    RECORD_VERDICTS,
    "`not-produced`: the log ends before it. `no-record`: a control record, a compacted hole, or a record of an aborted transaction. `gone`: below the log's start. `not-read`: see `reason`. `applied`: the store holds it. `already-applied`: so, and it is to be read once more, which changes nothing. `counted`: every slot that it counts into has come as far, see `slots`. `superseded`: the store holds something newer. `dead-lettered`: it can never be applied. `skipped`: an operator passed over it. `missing`: it was applied, and the store does not hold it. Where a stop or a hold leaves open whether the log is the one that was applied, and its last applied record is not found in it, its records are `not-read`.",
  ),
  reason: Type.Optional(Words(NOT_READ_REASONS, "Why it is not read.")),
  cause: Type.Optional(Text("Code of the stop, or of what the partition holds on.")),
  bounds: Type.Optional(Closed({ logStart: OffsetText, end: OffsetText })),
  applied: OffsetText,
  record: Type.Optional(Record),
  supersededBy: Type.Optional(CellOrigin),
  gaps: Type.Array(Type.String(), { description: "Entries of the gap ledger that cover the offset, newest first." }),
  owners: Type.Array(Owner, { description: "What each owner holds under the record's key." }),
  slots: Type.Optional(
    Type.Array(
      Closed({
        row: Count("Row of the ledger that the slot belongs to."),
        owners: Type.Array(
          Closed({
            owner: Text("Name of the owner."),
            answer: Words(["holds", "absent", "unavailable"]),
            upTo: Type.Optional(OffsetText),
          }),
        ),
      }),
      {
        description: "Of counting kinds: the slots that it counts into. What lies below `upTo` is in the owner's slot.",
      },
    ),
  ),
  asOf: Time,
});

const Looked = Closed({
  partition: PartitionNumber,
  from: OffsetText,
  to: OffsetText,
  whole: Type.Boolean({ description: "That is all that the log holds." }),
});

export const Explanation = Closed({
  records: Type.Array(Explained, { description: "One for an offset; for a key the newest first." }),
  search: Type.Optional(
    Closed(
      {
        ended: Words(["found", "whole-log", "bytes", "time"], "Why the search ended."),
        looked: Type.Array(Looked),
      },
      {
        description:
          "How far was looked for a key: `[from, to)` by partition; partitions without a leader are left out.",
      },
    ),
  ),
  content: Words(
    ["shown", "hidden"],
    "Whether keys, inputs and bodies are in the answer: they need the role operator.",
  ),
  asOf: Time,
});

export const explainSchema = operation({
  operationId: "explain",
  summary: "What became of a record, or of a key's last records",
  description:
    "Reads the record from the broker, judges it by the ledger row at its offset, and holds it against what the owners have: with `partition` and `offset` one record, with `key` or `keyBase64` the newest `last` records of that key, looked for from the end of every partition backwards, for at most 32 MiB and 8 seconds. A token with the role viewer sees codes, offsets and versions; keys, inputs and bodies need the role operator. Reading disturbs neither the group nor what is being ingested.",
  tag: "explain",
  params: SourceParams,
  querystring: Closed({
    partition: Type.Optional(
      Type.String({ pattern: PARTITION_PATTERN, description: "With `offset`.", examples: ["0"] }),
    ),
    offset: Type.Optional(
      Type.String({ pattern: OFFSET_PATTERN, description: "With `partition`.", examples: ["1048576"] }),
    ),
    key: Type.Optional(Type.String({ minLength: 1, maxLength: 512, description: "The key as UTF-8." })),
    keyBase64: Type.Optional(
      Type.String({ pattern: KEY_BASE64_PATTERN, description: "The key's bytes, instead of `key`." }),
    ),
    last: Type.Optional(
      Type.String({
        pattern: "^(?:[1-9]|[1-4][0-9]|50)$",
        description: "Most records of a key, at most 50; 1 without it.",
      }),
    ),
  }),
  response: { 200: json("What became of it.", Explanation) },
  errors: [
    "SOURCE_UNKNOWN",
    "PARTITION_UNKNOWN",
    "RECORD_UNREADABLE",
    "EXPLAIN_BUSY",
    "DESCRIPTOR_INVALID",
    "DESCRIPTOR_UNKNOWN",
    "MAPPING_INVALID",
    "BROKER_UNAVAILABLE",
    "KV_UNAVAILABLE",
  ],
});
