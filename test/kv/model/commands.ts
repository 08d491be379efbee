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
  | { readonly kind: "scan"; readonly limit: number }
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

const anyOwner = fc.constantFrom<Index>(0, 1, 2);
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
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("scan" as const), limit: some(3) }) },
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
  owner: fc.option(anyOwner, { nil: undefined, freq: 2 }),
});

const faults = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom("crash" as const, "leave" as const, "return" as const),
      owner: anyOwner,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom("wipe" as const, "rot" as const, "misflush" as const),
      owner: anyOwner,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("repair" as const), owner: anyOwner }) },
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

const noise = fc.array(command, { maxLength: 2 });
const write: fc.Arbitrary<Command> = fc.record({
  kind: fc.constant("write" as const),
  receipts: fc.boolean(),
  cells: fc.array(cell, { minLength: 1, maxLength: 3 }),
});
const set: fc.Arbitrary<Command> = fc.record({
  kind: fc.constant("set" as const),
  record: fc.nat(RECORDS - 1),
  back: fc.constant(0),
});
const change = fc.oneof(write, set);
const drain: Command = { kind: "turns", count: 400, seed: 5, owner: undefined };
const on = (kind: "crash" | "leave" | "return" | "wipe" | "rot" | "misflush" | "repair", owner: Index): Command => ({
  kind,
  owner,
});
/** Messages are answered and timers fire, `times` times. */
const pass = (times: number): readonly Command[] =>
  Array.from({ length: times }, () => [drain, { kind: "time", timers: 1 } as const]).flat();
const reads: readonly Command[] = [
  { kind: "restore" },
  ...Array.from({ length: RECORDS }, (_, record) => ({ kind: "read", record }) as const),
  { kind: "list", limit: 2 },
  { kind: "scan", limit: 1 },
];
/** Everything is read while `owner` is away. */
const readWithout = (owner: Index): readonly Command[] => [on("leave", owner), ...reads, drain, on("return", owner)];

const roles = fc.constantFrom<readonly [Index, Index, Index]>(
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
);
const loss = fc.constantFrom("wipe" as const, "rot" as const, "misflush" as const);
const few = fc.integer({ min: 0, max: 6 });

/** What `lagging` missed is held by `lost`, which loses it, and by `other`, which is away while `lost` comes back. */
const missed = fc
  .tuple(roles, loss, fc.array(change, { minLength: 1, maxLength: 3 }), few, few)
  .map(([[lagging, lost, other], how, changes, before, during]): readonly (readonly Command[])[] => [
    [on("leave", lagging), ...changes, drain, on("return", lagging), ...pass(before)],
    [
      on(how, lost),
      ...(how === "misflush" ? [] : [{ kind: "restore" } as const]),
      drain,
      ...pass(1),
      on("repair", lost),
    ],
    [drain, on("leave", other), ...pass(during + 6)],
    [...reads, drain, on("return", other), ...pass(12)],
    readWithout(other),
  ]);

/** An owner that merges dies in the middle of it, alone or with the plane, and misses what is written then. */
const interrupted = fc
  .tuple(roles, loss, fc.array(change, { minLength: 2, maxLength: 6 }), fc.nat(60), few)
  .map(([[other, lost, peer], how, changes, turnsBefore, after]): readonly (readonly Command[])[] => [
    [...changes, drain, on(how, lost), { kind: "restore" }, ...pass(1), on("repair", lost)],
    [...pass(2 + (turnsBefore % 12)), { kind: "turns", count: turnsBefore, seed: turnsBefore, owner: undefined }],
    [
      turnsBefore % 4 === 1 ? { kind: "restart", kill: true } : on("crash", turnsBefore % 4 === 0 ? peer : lost),
      ...changes.slice(0, 2),
      ...pass(after),
    ],
    pass(20),
    readWithout(other),
  ]);

/** What one owner alone took is decided while it is away, and stays so when it is back. */
const stranded = fc
  .tuple(roles, fc.array(change, { minLength: 1, maxLength: 3 }), fc.array(change), fc.boolean())
  .map(([[only, second, third], changes, before, restart]): readonly (readonly Command[])[] => [
    [...before, drain, ...reads, drain, ...changes],
    [
      { kind: "turns", count: 20, seed: 3, owner: only },
      ...changes,
      { kind: "turns", count: 20, seed: 3, owner: only },
    ],
    [
      on("crash", second),
      on("crash", third),
      on("leave", only),
      ...(restart ? [{ kind: "restart", kill: true } as const] : []),
    ],
    [...pass(4), ...reads, drain, on("return", only), ...pass(4)],
    [...readWithout(second), ...pass(4), ...readWithout(only), ...pass(4), ...reads],
  ]);

/** Scenes in which a rule that is broken shows, with anything between their parts. */
const scenes = fc
  .tuple(fc.oneof(missed, interrupted, stranded), fc.array(noise, { minLength: 6, maxLength: 6 }), change)
  .map(([parts, between, first]) => [
    first,
    drain,
    ...parts.flatMap((part, index) => [...(between[index] ?? []), ...part]),
  ]);

/** Any schedule. */
export const schedules: fc.Arbitrary<Schedule> = fc.record({
  reckless: fc.constantFrom(false, false, false, false, false, false, true),
  commands: fc.oneof(fc.array(command, { minLength: 20, maxLength: 60, size: "max" }), scenes),
});
