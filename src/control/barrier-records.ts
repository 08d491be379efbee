import { type Static, Type } from "@sinclair/typebox";

const Offset = Type.Integer({ minimum: 0 });

/** `barriers/{source}`: which number the next barrier gets, and when the last one in each slot expires. */
export const BarrierIndexRecord = Type.Object({
  next: Type.Integer({ minimum: 0 }),
  expires: Type.Array(Type.Integer()),
});

/** `barriers/{source}/{slot}`: one barrier; a later one takes the slot once it has expired. */
export const BarrierRecord = Type.Object({
  number: Type.Integer({ minimum: 0 }),
  at: Type.Union([
    Type.Object({ at: Type.Literal("now") }),
    Type.Object({ at: Type.Literal("offsets") }),
    Type.Object({ at: Type.Literal("timestamp"), timestampMs: Type.Integer() }),
  ]),
  createdAt: Type.Integer(),
  expiresAt: Type.Integer(),
  actor: Type.String(),
  /** The log that it was fixed in. */
  log: Type.Integer({ minimum: 0 }),
  /** `[from, to)`: what was not applied yet when it was fixed. */
  targets: Type.Array(Type.Object({ partition: Type.Integer({ minimum: 0 }), from: Offset, to: Offset })),
});
export type BarrierRecord = Static<typeof BarrierRecord>;

/** Slots of one source: as many barriers can be open at once. */
export const BARRIER_SLOTS = 64;

/** Names of these records. */
export const barrierNames = {
  index: (source: string) => `barriers/${source}`,
  slot: (source: string, number: number) => `barriers/${source}/${number % BARRIER_SLOTS}`,
} as const;
