import { type Static, Type } from "@sinclair/typebox";

const Offset = Type.Integer({ minimum: 0 });

/** `barriers/{source}`: the lowest number that the next barrier can get, and who has each slot until when. */
export const BarrierIndexRecord = Type.Object({
  next: Type.Integer({ minimum: 0 }),
  expires: Type.Array(Type.Integer()),
  /** Number of the barrier that each slot was given to. */
  numbers: Type.Optional(Type.Array(Type.Integer({ minimum: 0 }))),
});
export type BarrierIndexRecord = Static<typeof BarrierIndexRecord>;

/** `barriers/{source}/{slot}`: one barrier; a later one takes the slot once it has expired, or is done. */
export const BarrierRecord = Type.Object({
  number: Type.Integer({ minimum: 0 }),
  at: Type.Union([
    Type.Object({ at: Type.Literal("now") }),
    Type.Object({ at: Type.Literal("offsets") }),
    Type.Object({ at: Type.Literal("timestamp"), timestampMs: Type.Integer() }),
  ]),
  createdAt: Type.Integer(),
  expiresAt: Type.Integer(),
  /** When it was found done: it stays so, whatever becomes of the log. */
  doneAt: Type.Optional(Type.Integer()),
  actor: Type.String(),
  /** The log that it was fixed in. */
  log: Type.Integer({ minimum: 0 }),
  /** `[from, to)`: what was not applied yet when it was fixed. */
  targets: Type.Array(Type.Object({ partition: Type.Integer({ minimum: 0 }), from: Offset, to: Offset })),
});
export type BarrierRecord = Static<typeof BarrierRecord>;

/** A barrier is forgotten after a day, milliseconds; one that is done also when its slot is needed. */
export const BARRIER_LIFE_MS = 86_400_000;

/** Slots of one source: as many barriers can be open at once. */
export const BARRIER_SLOTS = 64;

/** Names of these records. */
export const barrierNames = {
  index: (source: string) => `barriers/${source}`,
  slot: (source: string, number: number) => `barriers/${source}/${number % BARRIER_SLOTS}`,
} as const;
