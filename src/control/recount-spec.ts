import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { invariant } from "../core/invariant.ts";

const Offset = Type.Integer({ minimum: 0 });

const RangeSpec = Type.Object({
  partition: Type.Integer({ minimum: 0 }),
  /** The row whose place it takes; null where no row covers the range. */
  replaces: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
  row: Type.Object({
    number: Type.Integer({ minimum: 1 }),
    from: Offset,
    until: Offset,
    revision: Type.Integer(),
    openedAtMs: Type.Integer(),
  }),
  /** False: its slots are compared with those of the row that is there. */
  exchange: Type.Boolean(),
});

const Spec = Type.Object({ log: Type.Integer({ minimum: 0 }), ranges: Type.Array(RangeSpec) });

/** One row that is counted again, or a range that is counted for the first time. */
export type RecountRangeSpec = Static<typeof RangeSpec>;
/** What a recount is, beside its ranges. */
export type RecountSpec = Static<typeof Spec>;

/** Reads the spec of a stored job. @throws InvariantViolation for a foreign one */
export function readRecountSpec(spec: unknown): RecountSpec {
  invariant(Value.Check(Spec, spec), "JOB_SPEC", "the spec of a recount is foreign");
  return spec;
}
