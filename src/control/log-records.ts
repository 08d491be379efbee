import { oneOf } from "./schema-parts.ts";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { GAP_CAUSES } from "../core/gaps/gap.ts";

/** Shapes of what operators do and of what was passed over: pauses, the audit log, the gap ledger. */

function nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()]);
}

const Offset = Type.Integer({ minimum: 0 });

const PauseSchema = Type.Object({
  reason: Type.String(),
  actor: Type.String(),
  since: Type.Integer(),
  until: nullable(Type.Integer()),
  audit: Type.String(),
});

/** `pauses/{source}`: every pause of one source, in one record, so that its instances read one record per round. */
export const PausesRecord = Type.Object({
  source: nullable(PauseSchema),
  partitions: Type.Array(Type.Object({ partition: Type.Integer({ minimum: 0 }), pause: PauseSchema })),
});
export type PausesRecord = Static<typeof PausesRecord>;

/** What operators can do. */
export const AUDIT_ACTIONS = [
  "pause-source",
  "unpause-source",
  "pause-partition",
  "unpause-partition",
  "resume",
  "open-epoch",
  "activate-descriptor",
  "register-descriptor",
  "remove-descriptor",
  "create-source",
  "change-definition",
  "repair-owner",
  "submit-replay",
  "submit-recount",
  "submit-redrive",
  "submit-trial",
  "cancel-job",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** How a call ended. `started`: the process died, or the store did not answer, before anybody could tell. */
export const AUDIT_OUTCOMES = ["started", "applied", "refused"] as const;

/** One entry of `audit`. */
export const AuditRecord = Type.Object({
  at: Type.Integer(),
  actor: Type.String(),
  action: oneOf(AUDIT_ACTIONS),
  /** Empty for what concerns no source. */
  source: Type.String(),
  partition: nullable(Type.Integer()),
  reason: Type.String(),
  /** What was asked for, as text: `from log-start, loss accepted from 100 to 600`. */
  detail: Type.String(),
  outcome: oneOf(AUDIT_OUTCOMES),
  /** Code of the refusal. */
  code: nullable(Type.String()),
  /** Entries of the gap ledger that the call made. */
  gaps: Type.Array(Type.String()),
});
export type AuditRecord = Static<typeof AuditRecord>;

/** One entry of `gaps/{source}/{partition}`. */
export const GapRecord = Type.Object({
  topicEpoch: Type.Integer(),
  from: Offset,
  to: nullable(Offset),
  cause: oneOf(GAP_CAUSES),
  actor: Type.String(),
  reason: Type.String(),
  at: Type.Integer(),
  lastAt: Type.Integer(),
  records: nullable(Type.Integer()),
  codes: Type.Array(Type.Object({ code: Type.String(), records: Type.Integer() })),
  audit: nullable(Type.String()),
});
export type GapRecord = Static<typeof GapRecord>;
