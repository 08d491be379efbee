import { type Static, Type } from "@sinclair/typebox";

/** `instances`: one row per process, each its own; who is silent for too long is left out by the next that writes. */
export const InstancesRecord = Type.Object({
  instances: Type.Array(
    Type.Object({
      id: Type.String(),
      release: Type.String(),
      phase: Type.Union([Type.Literal("starting"), Type.Literal("serving"), Type.Literal("draining")]),
      startedAt: Type.Integer(),
      seenAt: Type.Integer(),
      expiresAt: Type.Integer(),
      sources: Type.Array(Type.Object({ source: Type.String(), partitions: Type.Array(Type.Integer({ minimum: 0 })) })),
    }),
  ),
});
export type InstancesRecord = Static<typeof InstancesRecord>;

/** Name of the record. */
export const INSTANCES_NAME = "instances";
