import { Type } from "@sinclair/typebox";
import { SCORE_EDGES_MAX, SLOT_WIDTH_MAX_MS, SLOT_WIDTH_MIN_MS } from "../../src/core/counting/settings.ts";
import { FORMATS, FRAMINGS, KINDS, SEGMENT_MAX_MS, SEGMENT_MIN_MS } from "../../src/core/source.ts";
import { Closed, KeyedBy, Words } from "../schema/closed.ts";
import { NAME_PATTERN, TIME_INPUT_PATTERN, TOPIC_PATTERN } from "../schema/values.ts";

/** Ten years: longer than any topic keeps its records. */
const WORST_LAG_MS_MAX = 10 * 365 * 24 * 3_600_000;

const FieldPath = Type.Array(Type.Integer({ minimum: 1, maximum: 2 ** 29 - 1 }), { minItems: 1, maxItems: 16 });

const DescriptorRef = Closed({
  subject: Type.String({
    pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$",
    description: "Subject in the descriptor catalog.",
  }),
  version: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  message: Type.String({
    pattern: "^[A-Za-z_][A-Za-z0-9_]*(?:\\.[A-Za-z_][A-Za-z0-9_]*)*$",
    maxLength: 500,
    description: "Fully qualified message type, without a leading dot.",
  }),
});

/** Which field feeds which input. */
export const Mapping = KeyedBy<readonly number[]>(
  "^[A-Za-z][A-Za-z0-9_]{0,63}$",
  FieldPath,
  "Which field feeds which input of the kind: a path of field numbers per input.",
);

const Moment = Type.String({
  pattern: TIME_INPUT_PATTERN,
  description: "RFC 3339 with Z or an offset; what is finer than a millisecond is rounded down.",
  examples: ["2026-11-30T08:15:00Z"],
});

const Counting = Closed(
  {
    slotWidthMs: Type.Integer({
      minimum: SLOT_WIDTH_MIN_MS,
      maximum: SLOT_WIDTH_MAX_MS,
      description: "Width of a slot of traffic, milliseconds: a whole part of a day.",
    }),
    visitors: Type.Boolean({ description: "Whether traffic counts distinct visitors." }),
    scoreEdges: Type.Array(Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 }), {
      maxItems: SCORE_EDGES_MAX,
      description: "Inner edges of the buckets of served scores, ascending.",
    }),
    segmentEveryMs: Type.Integer({
      minimum: SEGMENT_MIN_MS,
      maximum: SEGMENT_MAX_MS,
      description: "How long a ledger row lasts, milliseconds. Decides no count.",
    }),
  },
  {
    description:
      "How a source of a counting kind counts; left out: an hour, visitors, ten buckets, a day. A change of the first three is a new revision, from the next reservation on; what was counted stays as it is until it is recounted.",
  },
);

/** A definition as it is read and written: a GET's `definition` can be sent back in a PUT. */
export const Definition = Closed(
  {
    name: Type.String({ pattern: NAME_PATTERN }),
    kind: Words(KINDS),
    topic: Type.String({ pattern: TOPIC_PATTERN }),
    group: Type.String({ pattern: "^[A-Za-z0-9._:@/-]{1,249}$", description: "Consumer group." }),
    namespace: Type.String({ pattern: NAME_PATTERN, description: "The target. A namespace has one source." }),
    format: Words(FORMATS),
    framing: Words(FRAMINGS),
    descriptor: Type.Optional(DescriptorRef),
    mapping: Mapping,
    body: Words(["json", "original"], "How document bodies are stored."),
    startFrom: Type.Union([Words(["earliest", "latest"]), Closed({ timestamp: Moment })], {
      description: "Where partitions begin that have never committed.",
    }),
    worstLagMs: Type.Integer({
      minimum: 1_000,
      maximum: WORST_LAG_MS_MAX,
      description: "Worst processing lag, milliseconds: the topic must retain more.",
    }),
    allowShortRetention: Type.Optional(
      Type.Boolean({ description: "Start although the topic keeps records no longer than that: they may be lost." }),
    ),
    counting: Type.Optional(Counting),
    onPoison: Words(["dead-letter", "stop"]),
    deadLetterTopic: Type.String({ pattern: TOPIC_PATTERN }),
    createDeadLetterTopic: Type.Boolean({
      description: "Whether the dead-letter topic is created when it is missing.",
    }),
  },
  { description: "One feed, complete." },
);

const { descriptor: _descriptor, mapping: _mapping, ...always } = Definition.properties;

/** A definition as it is put. Only a new source may leave descriptor version, message and mapping open. */
export const DefinitionToPut = Closed(
  {
    ...always,
    descriptor: Type.Optional(
      Closed({
        subject: DescriptorRef.properties.subject,
        version: Type.Optional(DescriptorRef.properties.version),
        message: Type.Optional(DescriptorRef.properties.message),
      }),
    ),
    mapping: Type.Optional(Mapping),
  },
  {
    description:
      "One feed. With If-None-Match the descriptor's version and message and the mapping may be left out: the latest version, the subject's message, the kind's mapping.",
  },
);

export const DefinitionInForce = Closed({
  definition: Definition,
  revision: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: "Allotted anew at each change of what decides a verdict.",
  }),
  fileDiffers: Type.Optional(
    Type.Array(Type.String(), {
      description: "Members in which the configuration file of this instance says something else now.",
    }),
  ),
});
