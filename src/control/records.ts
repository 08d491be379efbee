import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { FORMATS, FRAMINGS, KINDS } from "../core/source.ts";
import { oneOf } from "./schema-parts.ts";
import { type StopCode, STOPS } from "../core/partition/stop.ts";

/** Names and shapes of the control records. One place, because every release must read its predecessor's. */

function nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()]);
}

const Offset = Type.Integer({ minimum: 0 });
const Bounds = Type.Object({ logStart: Offset, end: Offset });
const Moment = Type.Object({ timestampMs: Type.Integer() });

export const DefinitionSchema = Type.Object({
  name: Type.String(),
  kind: oneOf(KINDS),
  topic: Type.String(),
  group: Type.String(),
  namespace: Type.String(),
  format: oneOf(FORMATS),
  framing: oneOf(FRAMINGS),
  descriptor: Type.Optional(
    Type.Object({ subject: Type.String(), version: Type.Integer({ minimum: 1 }), message: Type.String() }),
  ),
  mapping: Type.Record(Type.String(), Type.Array(Type.Integer({ minimum: 1 }))),
  body: oneOf(["json", "original"]),
  startFrom: Type.Union([Type.Literal("earliest"), Type.Literal("latest"), Moment]),
  worstLagMs: Type.Integer({ minimum: 0 }),
  allowShortRetention: Type.Optional(Type.Boolean()),
  counting: Type.Optional(
    Type.Object({
      slotWidthMs: Type.Integer({ minimum: 1 }),
      visitors: Type.Boolean(),
      scoreEdges: Type.Array(Type.Number()),
      segmentEveryMs: Type.Integer({ minimum: 1 }),
    }),
  ),
  onPoison: oneOf(["dead-letter", "stop"]),
  deadLetterTopic: Type.String(),
  createDeadLetterTopic: Type.Boolean(),
});

/** `sources/{name}`: the definition in force, and the revision that its verdict part has. */
export const SourceRecord = Type.Object({
  definition: DefinitionSchema,
  revision: Type.Integer({ minimum: 1 }),
  verdict: Type.String(),
});
export type SourceRecord = Static<typeof SourceRecord>;

/** `revisions/{source}/{revision}`: what decides verdicts under that revision; immutable. */
export const RevisionRecord = Type.Object({ definition: DefinitionSchema, verdict: Type.String() });

const EpochList = Type.Array(Type.Object({ epoch: Type.Integer(), partitions: Type.Integer() }));

/** `bindings/{source}` */
export const BindingRecord = Type.Object({
  clusterId: Type.String(),
  topic: Type.String(),
  epochs: EpochList,
  firstStart: Type.Union([Type.Literal("earliest"), Moment]),
  refused: Type.Optional(Type.Integer({ minimum: 0 })),
  log: Type.Optional(Type.Integer({ minimum: 0 })),
  goOnAt: Type.Optional(Type.Array(Offset)),
  opened: Type.Optional(
    Type.Object({
      audit: Type.String(),
      actor: Type.String(),
      reason: Type.String(),
      at: Type.Integer(),
      counting: Type.Optional(oneOf(["continues", "replaces"])),
      givenUp: Type.Array(Type.Object({ partition: Type.Integer(), topicEpoch: Type.Integer(), from: Offset })),
      entered: Type.Boolean(),
    }),
  ),
  past: Type.Optional(
    Type.Array(Type.Object({ log: Type.Integer(), epochs: EpochList, summed: Type.Optional(Type.Boolean()) })),
  ),
});
export type BindingRecord = Static<typeof BindingRecord>;

/** `starts/{source}/{partition}` */
export const StartRecordSchema = Type.Object({
  from: Offset,
  before: nullable(Offset),
  copyBefore: nullable(Offset),
  settled: Type.Boolean(),
  reach: Type.Optional(Offset),
});

/**
 * The last resumption of a partition. In one record with the stop that it cleared, so that one compare-and-set decides
 * among several callers, and no crash can leave one without the other.
 */
const Resumption = Type.Object({
  /** The start record that it set; `starts/` is not looked at while there is one. */
  start: StartRecordSchema,
  /** Records below it that cannot be applied go to the dead letters, whatever policy and breaker say. */
  allowPoison: nullable(Offset),
  /** Code of that stop. */
  code: Type.String(),
  passedOver: Type.Array(Type.Object({ from: Offset, to: Offset, cause: oneOf(["lost", "skipped"]) })),
  topicEpoch: Type.Integer(),
  audit: Type.String(),
  actor: Type.String(),
  reason: Type.String(),
  at: Type.Integer(),
  /** Set once the gap ledger and the audit log have it. Nothing is read before. */
  entered: Type.Boolean(),
  /** When the stop that it cleared began: that stop is not recorded again by an attempt that was late. */
  stopSince: Type.Integer(),
  /** A refused partition count under which this old partition is read to its end. */
  despite: Type.Optional(Type.Integer()),
});
/** The last resumption of a partition. */
export type Resumption = Static<typeof Resumption>;

/** `stops/{source}/{partition}`: null once resumed. */
export const StopRecord = Type.Object({
  stop: nullable(
    Type.Object({
      code: Type.Unsafe<StopCode>(Type.Union(Object.keys(STOPS).map((code) => Type.Literal(code)))),
      detail: Type.String(),
      wanted: Type.Optional(Offset),
      bounds: Type.Optional(Bounds),
      lost: Type.Optional(Type.Object({ from: Offset, to: Offset })),
    }),
  ),
  since: Type.Integer(),
  reach: Offset,
  resumed: Type.Optional(Resumption),
});
export type StopRecord = Static<typeof StopRecord>;

/** `ledgers/{source}/{partition}` */
export const LedgerRecord = Type.Object({
  rows: Type.Array(
    Type.Object({ number: Type.Integer(), from: Offset, until: nullable(Offset), revision: Type.Integer() }),
  ),
  nextNumber: Type.Integer(),
});

const CountingRow = {
  number: Type.Integer({ minimum: 1 }),
  from: Offset,
  until: Offset,
  revision: Type.Integer({ minimum: 1 }),
  openedAtMs: Type.Integer(),
};

/** `ledgers/{source}/{partition}` of a counting kind: rows by offset, and which of them readers sum. */
export const CountingLedgerRecord = Type.Object({
  rows: Type.Array(Type.Object(CountingRow)),
  nextNumber: Type.Integer({ minimum: 1 }),
  listed: Type.Array(Type.Integer({ minimum: 1 })),
  former: Type.Array(Type.Object({ ...CountingRow, replacedBy: Type.Integer({ minimum: 1 }) })),
  holder: nullable(Type.Object({ name: Type.String(), floor: Offset })),
});
export type CountingLedgerRecord = Static<typeof CountingLedgerRecord>;

/** `members/{source}`: the group member that the last process of this deployment was. */
export const MemberRecord = Type.Object({ memberId: Type.String() });

/** `descriptors/{subject}/{version}` */
export const DescriptorRecord = Type.Object({
  files: Type.Record(Type.String(), Type.String()),
  message: Type.String(),
  /** With `layout` that of the content; without, an earlier release made it of the text: make it anew. */
  digest: Type.String(),
  layout: Type.Optional(Type.String()),
  actor: Type.Optional(Type.String()),
  at: Type.Optional(Type.Integer()),
  /** Set while somebody looks whether it can be removed: nothing new may use it. */
  removing: Type.Optional(Type.String()),
  /** Its files are gone, its number stays taken. */
  removed: Type.Optional(Type.Object({ actor: Type.String(), reason: Type.String(), at: Type.Integer() })),
});
export type DescriptorRecord = Static<typeof DescriptorRecord>;

/** `descriptors/{subject}`: how many versions there are; versions are 1 to latest. */
export const SubjectRecord = Type.Object({ latest: Type.Integer({ minimum: 0 }) });

/** What belongs to one log of a partition: a log that an operator opened inherits no stop, start or ledger. */
function inLog(partition: number, log: number): string {
  return log === 0 ? `${partition}` : `${partition}@${log}`;
}

export const recordNames = {
  sources: "sources/",
  source: (source: string) => `sources/${source}`,
  revisions: (source: string) => `revisions/${source}/`,
  revision: (source: string, revision: number) => `revisions/${source}/${revision}`,
  binding: (source: string) => `bindings/${source}`,
  start: (source: string, partition: number, log: number) => `starts/${source}/${inLog(partition, log)}`,
  stop: (source: string, partition: number, log: number) => `stops/${source}/${inLog(partition, log)}`,
  stops: (source: string) => `stops/${source}/`,
  ledger: (source: string, partition: number, log: number) => `ledgers/${source}/${inLog(partition, log)}`,
  ledgers: (source: string) => `ledgers/${source}/`,
  pauses: (source: string) => `pauses/${source}`,
  gaps: (source: string, partition: number) => `gaps/${source}/${partition}`,
  audit: "audit",
  member: (source: string) => `members/${source}`,
  subject: (subject: string) => `descriptors/${subject}`,
  descriptor: (subject: string, version: number) => `descriptors/${subject}/${version}`,
} as const;
