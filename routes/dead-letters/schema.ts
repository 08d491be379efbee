import { Type } from "@sinclair/typebox";
import { LETTERS_SHOWN, LETTERS_SHOWN_MAX } from "../../src/letters/letter-service.ts";
import { LETTER_STATES } from "../../src/ports/letters.ts";
import { Closed, Words } from "../schema/closed.ts";
import { json, operation } from "../schema/operation.ts";
import { CursorQuery, Next } from "../schema/operator-values.ts";
import { SourceParams } from "../schema/params.ts";
import { RecordKey } from "../schema/record-key.ts";
import {
  Count,
  KnownTime,
  OFFSET_PATTERN,
  OffsetText,
  PARTITION_PATTERN,
  PartitionNumber,
  Text,
  Time,
} from "../schema/values.ts";

/** A number of the service in a query, as decimal text: nothing is coerced. */
const NumberQuery = (description: string) => Type.Optional(Type.String({ pattern: PARTITION_PATTERN, description }));

const Base64 = (description: string) =>
  Type.Union([Type.String({ description }), Type.Null({ description: "It is null." })], { description });

const Raw = Closed(
  {
    key: Base64("The record's key, in base64."),
    value: Base64("The record's value, in base64; null also where the letter does not carry it: see `omitted`."),
    headers: Type.Array(
      Closed({
        name: Type.String({ description: "In base64: names need not be UTF-8." }),
        value: Base64("In base64."),
      }),
      { description: "The record's own headers in their order; names may repeat." },
    ),
  },
  { description: "The record byte for byte. Only with `raw=true`." },
);

const OmittedPart = Closed({ bytes: Count("Its length."), sha256: Text("Its SHA-256, in hex.") });

const Letter = Closed({
  topic: Text("Topic that the record came from."),
  topicEpoch: Type.Integer({ minimum: 0, maximum: 1023 }),
  partition: PartitionNumber,
  offset: OffsetText,
  timestamp: KnownTime,
  code: Text("Why it cannot be applied: a stable code."),
  text: Text("The same for people, without any of the record's content."),
  attempt: Count("How often it was tried: 1 for live reading, one more for each redrive that failed."),
  firstSeen: Time,
  lastSeen: KnownTime,
  revision: Count("Revision that it was judged under."),
  descriptorVersion: Count("Version of the descriptor; 0 where the format has none."),
  state: Words(
    LETTER_STATES,
    "`open`: nothing happened since; the store does not hold the record, or what an older revision made of it. `applied`: a redrive or a replay applied it under a later revision. `superseded`: the store holds something newer under its key. `recounted`: counting kinds: the row that covers it was counted again under a later revision, and counts it if that can decode it. `unknown`: the letter does not carry its key.",
  ),
  key: Type.Optional(RecordKey),
  omitted: Type.Optional(
    Closed(
      {
        value: Type.Optional(OmittedPart),
        key: Type.Optional(OmittedPart),
        headers: Type.Optional(Count("How many headers.")),
      },
      {
        description:
          "What the dead-letter topic refused as too large. It is in the record's own topic as long as that keeps it: partition and offset say where.",
      },
    ),
  ),
  at: Closed({ partition: PartitionNumber, offset: OffsetText }, { description: "Place in the dead-letter topic." }),
  raw: Type.Optional(Raw),
});

export const Letters = Closed({
  topic: Text("The dead-letter topic."),
  letters: Type.Array(Letter, {
    description: "In the order of the dead-letter topic; an answer may have none and a `next`.",
  }),
  looked: Closed(
    { records: Count("Offsets looked through."), of: Count("Offsets that the topic holds.") },
    {
      description:
        "Which letter stands for a record is known when the whole topic was looked through. Below that an answer has no letters and a `next`: ask again.",
    },
  ),
  origins: Count("Records that have a letter, by `partition`, `from` and `to`, as far as was looked."),
  content: Words(["shown", "hidden"], "Whether keys are in the answer: they need the role operator."),
  next: Next,
  asOf: Time,
});

export const listDeadLettersSchema = operation({
  operationId: "listDeadLetters",
  summary: "The dead letters of a source, and what became of them",
  description:
    "One letter per record, by topic epoch, partition and offset: the one with the highest attempt, whatever duplicates the topic holds. A source without a dead-letter topic has none. Codes, offsets and versions need the role viewer; keys, and with `raw=true` key, value and headers byte for byte, need the role operator. Reading joins no group.",
  tag: "gaps",
  params: SourceParams,
  querystring: Closed({
    code: Type.Optional(
      Type.String({
        pattern: "^[A-Z][A-Z0-9_]{0,99}$",
        description: "Letters with this code.",
        examples: ["DECODE_WIRE"],
      }),
    ),
    revision: NumberQuery("Letters that were judged under this revision."),
    descriptorVersion: NumberQuery("Letters that were decoded with this version of the descriptor."),
    partition: NumberQuery("Letters of this partition of the source's topic."),
    from: Type.Optional(
      Type.String({ pattern: OFFSET_PATTERN, description: "With `partition`: of records at or above this offset." }),
    ),
    to: Type.Optional(
      Type.String({ pattern: OFFSET_PATTERN, description: "With `partition`: of records below this offset." }),
    ),
    raw: Type.Optional(
      Type.String({
        pattern: "^(?:true|false)$",
        description: "With the records byte for byte. Needs the role operator.",
      }),
    ),
    cursor: CursorQuery,
    limit: Type.Optional(
      Type.String({
        pattern: "^(?:[1-9]|[1-9][0-9]|1[0-9][0-9]|200)$",
        description: `Letters in one answer, at most ${LETTERS_SHOWN_MAX}; ${LETTERS_SHOWN} without it.`,
      }),
    ),
  }),
  response: { 200: json("The letters.", Letters) },
  errors: [
    "SOURCE_UNKNOWN",
    "CURSOR_UNKNOWN",
    "DEAD_LETTERS_BUSY",
    "DEAD_LETTERS_TOO_MANY",
    "RECORD_UNREADABLE",
    "BROKER_UNAVAILABLE",
    "KV_UNAVAILABLE",
  ],
});
