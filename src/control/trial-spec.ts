import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { invariant } from "../core/invariant.ts";

const Path = Type.Array(Type.Integer());

const TrialSpec = Type.Object({
  subject: Type.String(),
  /** 0: not registered. */
  version: Type.Integer(),
  message: Type.String(),
  /** Of what is not registered. */
  files: Type.Optional(Type.Record(Type.String(), Type.String())),
  mapping: Type.Record(Type.String(), Path),
  letters: Type.Optional(
    Type.Object({
      topic: Type.String(),
      ends: Type.Array(Type.Object({ partition: Type.Integer(), end: Type.Integer() })),
    }),
  ),
  differences: Type.Array(Type.Record(Type.String(), Type.Unknown())),
});

/** What a trial keeps of its request: the candidate, where the dead letters end, and how the two descriptors differ. */
export type TrialSpec = Static<typeof TrialSpec>;

/** Reads it back. @throws InvariantViolation for what no trial stored */
export function readTrialSpec(spec: unknown): TrialSpec {
  invariant(Value.Check(TrialSpec, spec), "TRIAL_SPEC", "the job's specification is none of a trial");
  return spec;
}
