import * as fc from "fast-check";

/** Owners by index. */
export type Index = 0 | 1 | 2;
export const NAMES = ["a", "b", "c"] as const;

export const KEYS = 4;
export const RECORDS = 4;

/** What a schedule is made of. Calls begin and are not waited for. */
export type Command =
  | {
      readonly kind: "write";
      readonly receipts: boolean;
      readonly cells: readonly (readonly [number, number, number])[];
    }
  | { readonly kind: "restore" }
  | { readonly kind: "set"; readonly record: number; readonly back: number }
  | { readonly kind: "read"; readonly record: number }
  | { readonly kind: "list"; readonly limit: number }
  /** So many messages are handled or answered, in an order that follows from `seed`; all owners', or one's. */
  | { readonly kind: "turns"; readonly count: number; readonly seed: number; readonly owner: Index | undefined }
  /** So many timers fire. */
  | { readonly kind: "time"; readonly timers: number }
  | { readonly kind: "crash" | "leave" | "return" | "wipe" | "rot" | "misflush" | "repair"; readonly owner: Index }
  | { readonly kind: "restart"; readonly kill: boolean }
  | { readonly kind: "compare" };

const owner = fc.constantFrom<Index>(0, 1, 2);
const cell = fc.tuple(fc.nat(KEYS - 1), fc.nat(6), fc.nat(2));
const some = (max: number): fc.Arbitrary<number> => fc.integer({ min: 1, max });

const calls = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("write" as const),
      receipts: fc.boolean(),
      cells: fc.array(cell, { maxLength: 4 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("restore" as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("set" as const), record: fc.nat(RECORDS - 1), back: fc.nat(1) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("read" as const), record: fc.nat(RECORDS - 1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("list" as const), limit: some(5) }) },
);

const turns = fc.record({
  kind: fc.constant("turns" as const),
  count: fc.oneof(some(6), some(6), some(40), fc.constant(400)),
  seed: fc.nat(2 ** 31 - 1),
  owner: fc.option(owner, { nil: undefined, freq: 2 }),
});

const faults = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constantFrom("crash" as const, "leave" as const, "return" as const), owner }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom("wipe" as const, "rot" as const, "misflush" as const), owner }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("repair" as const), owner }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const), kill: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("compare" as const) }) },
);

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: calls },
  { weight: 6, arbitrary: turns },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("time" as const), timers: some(5) }) },
  { weight: 3, arbitrary: faults },
);

/** A schedule, and whether data of a second owner may be destroyed before the first one's is made good. */
export interface Schedule {
  readonly reckless: boolean;
  readonly commands: readonly Command[];
}

/** Any schedule. */
export const schedules: fc.Arbitrary<Schedule> = fc.record({
  reckless: fc.constantFrom(false, false, false, false, false, false, true),
  commands: fc.array(command, { minLength: 20, maxLength: 60, size: "max" }),
});
