import { Type, type Static } from "@sinclair/typebox";
import { SCORE_EDGES_MAX, SLOT_WIDTH_MAX_MS, SLOT_WIDTH_MIN_MS } from "../core/counting/settings.ts";
import {
  DEFAULT_COUNTING_OF_SOURCE,
  FORMATS,
  FRAMINGS,
  KINDS,
  SEGMENT_MAX_MS,
  SEGMENT_MIN_MS,
} from "../core/source.ts";
import { closed, duration, oneOf } from "./schema-parts.ts";

const NAME = {
  pattern: "^[a-z0-9][a-z0-9._-]{0,99}$",
  right: "lower-case letters, digits, '.', '_' and '-', at most 100",
};
const TOPIC = {
  pattern: "^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,249}$",
  right: "letters, digits, '.', '_' and '-', at most 249, not '.' or '..'",
};

const DescriptorSeed = closed(
  {
    subject: Type.String({
      pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$",
      right: "letters, digits, '.', '_' and '-', at most 200",
      description: "Subject in the catalog of descriptors.",
    }),
    version: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: "Version number; the latest when the source is seeded.",
      }),
    ),
    message: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*$",
        maxLength: 500,
        right: "a full name without a leading dot, such as ysearch.streams.v1.Article",
        description: "Message type; that of the built-in subject.",
      }),
    ),
  },
  "Which descriptor decodes the records; only with format protobuf. Without it: the one that is built in for the kind.",
);

const CountingValues = closed(
  {
    slotWidth: duration({
      default: DEFAULT_COUNTING_OF_SOURCE.slotWidthMs,
      minimum: SLOT_WIDTH_MIN_MS,
      maximum: SLOT_WIDTH_MAX_MS,
      description: "Width of a slot of traffic; a whole part of a day. A change is a new revision.",
    }),
    visitors: Type.Boolean({
      default: DEFAULT_COUNTING_OF_SOURCE.visitors,
      description: "Whether traffic counts distinct visitors. A change is a new revision.",
    }),
    scoreEdges: Type.Array(
      Type.Number({ minimum: 0, maximum: 1, description: "Where one bucket of scores ends and the next begins." }),
      {
        default: [...DEFAULT_COUNTING_OF_SOURCE.scoreEdges],
        maxItems: SCORE_EDGES_MAX,
        description:
          "Inner edges of the buckets of served scores, ascending between 0 and 1. A change is a new revision.",
      },
    ),
    segmentEvery: duration({
      default: DEFAULT_COUNTING_OF_SOURCE.segmentEveryMs,
      minimum: SEGMENT_MIN_MS,
      maximum: SEGMENT_MAX_MS,
      description:
        "How long a row of the ledger lasts: a recount takes whole rows, and only those that the topic still holds.",
    }),
  },
  "How a source counts; only of the kinds `traffic` and `ad_actions`. What was counted before a change stays as it was.",
);

/** One entry of `sources`. */
export const SourceSchema = closed(
  {
    name: Type.String({ ...NAME, description: "Name of the source, unique." }),
    kind: oneOf(KINDS, { description: "What the records are." }),
    topic: Type.String({ ...TOPIC, description: "Topic to read." }),
    group: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9._:@/-]{1,249}$",
        right: "letters, digits and any of . _ : @ / -, at most 249",
        computed: "`ysearch-streams.` and the name",
        description: "Consumer group, unique.",
      }),
    ),
    namespace: Type.Optional(
      Type.String({ ...NAME, computed: "the name", description: "Target that the source writes to, unique." }),
    ),
    format: oneOf(FORMATS, { default: "protobuf", description: "Encoding of the values." }),
    framing: oneOf(FRAMINGS, { default: "none", description: "What stands before the encoded value." }),
    descriptor: Type.Optional(DescriptorSeed),
    mapping: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Array(Type.Integer({ minimum: 1, maximum: 536_870_911 }), { minItems: 1, maxItems: 16 }),
        {
          unit: "mapping",
          right: 'input names with a field number or a path of them, such as { id: 1, site: "3.1" }',
          computed: "the mapping of the kind's built-in descriptor",
          description: "Which field number, or path of them, feeds which input of the kind.",
        },
      ),
    ),
    body: oneOf(["json", "original"], {
      default: "json",
      description: "How document bodies are stored: canonical JSON or the original bytes.",
    }),
    startFrom: Type.Union(
      [
        Type.Literal("earliest"),
        Type.Literal("latest"),
        Type.Object({ timestampMs: Type.Integer() }, { additionalProperties: false }),
      ],
      {
        unit: "start",
        default: "earliest",
        right: "earliest, latest, or a moment such as 2026-01-31T00:00:00Z",
        description:
          "Where a source begins that has never committed: earliest, latest or an RFC 3339 moment with its zone.",
      },
    ),
    worstLag: duration({
      default: 86_400_000,
      minimum: 1000,
      maximum: 3650 * 86_400_000,
      description:
        "Worst processing lag. A source whose topic keeps records no longer than this (retention.ms) does not start.",
    }),
    allowShortRetention: Type.Boolean({
      default: false,
      description: "Start the source although its topic keeps records no longer than worstLag: they may be lost.",
    }),
    counting: Type.Optional(CountingValues),
    onPoison: oneOf(["dead-letter", "stop"], {
      default: "dead-letter",
      description: "What a record does that can never be applied.",
    }),
    deadLetterTopic: Type.Optional(
      Type.String({
        ...TOPIC,
        computed: "the topic and `.dlq`",
        description: "Topic of dead letters; not the source's own.",
      }),
    ),
    createDeadLetterTopic: Type.Boolean({
      default: true,
      description: "Whether to create the dead-letter topic when it is missing.",
    }),
  },
  "One feed.",
);

/** One entry of `sources` after reading. */
export type SourceValues = Static<typeof SourceSchema>;
