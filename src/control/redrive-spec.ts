import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { invariant } from "../core/invariant.ts";

const Count = Type.Integer({ minimum: 0 });
const Maybe = Type.Optional(Count);

const RedriveSpec = Type.Object({
  topic: Type.String(),
  ends: Type.Array(Type.Object({ partition: Count, end: Count })),
  ranges: Type.Optional(Type.Array(Type.Object({ partition: Maybe, from: Maybe, to: Maybe }))),
  match: Type.Object({ code: Type.Optional(Type.String()), revision: Maybe, descriptorVersion: Maybe }),
});

/**
 * What a redrive keeps of its request, in its job: the letters below `ends` (by partition of the dead-letter topic, when it was
 * submitted) are those that it is about, whatever comes later; of these the origins and the letters that were asked for.
 */
export type RedriveSpec = Static<typeof RedriveSpec>;

/** Reads it back. @throws InvariantViolation for what no redrive stored */
export function readRedriveSpec(spec: unknown): RedriveSpec {
  invariant(Value.Check(RedriveSpec, spec), "REDRIVE_SPEC", "the job's specification is none of a redrive");
  return spec;
}
