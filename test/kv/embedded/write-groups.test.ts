import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareOrdered } from "../../../src/core/cell.ts";
import { atOnce } from "../../../src/core/steps.ts";
import { inKeyOrder } from "../../../src/kv/embedded/key-order.ts";
import type { StoreWrite } from "../../../src/kv/embedded/wire.ts";
import { WriteGroups } from "../../../src/kv/embedded/write-groups.ts";
import type { Acks } from "../../../src/ports/kv-plane.ts";

const MIB = 1024 * 1024;
const ACKS: Acks = { count: 2, owners: ["a", "b"] };

function cell(name: string): StoreWrite {
  return { space: "slot", key: Buffer.from(name), order: 1, bytes: new Uint8Array(0) };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const nameOf = ({ key }: Pick<StoreWrite, "key">): string => Buffer.from(key).toString("latin1");

/** Groups over a sender that answers when it is told to. */
function scene() {
  const sent: { readonly names: readonly string[]; readonly bytes: number; readonly handed: () => void }[] = [];
  const answers: PromiseWithResolvers[] = [];
  const groups = new WriteGroups((cells, bytes, handed) => {
    sent.push({ names: cells.map(nameOf), bytes, handed });
    return new Promise<Acks>((resolve, reject) => answers.push({ resolve, reject }));
  });
  const write = (name: string, bytes = 10, handed = (): void => undefined): Promise<Acks> =>
    groups.write([cell(name)], bytes, handed);
  return { sent, answers, write };
}

interface PromiseWithResolvers {
  readonly resolve: (acks: Acks) => void;
  readonly reject: (error: Error) => void;
}

describe("batches that wait", () => {
  it("go at once while none is on its way, and together after that", async () => {
    const { sent, answers, write } = scene();
    const acks = ["a", "d", "c"].map((name) => write(name));
    await turn();
    expect(sent.map(({ names }) => names)).toEqual([["a"]]);
    answers[0]?.resolve(ACKS);
    expect(await acks[0]).toBe(ACKS);
    await turn();
    expect(sent.map(({ names }) => names)).toEqual([["a"], ["c", "d"]]);
    for (const { resolve } of answers) resolve(ACKS);
    expect(await Promise.all(acks)).toEqual([ACKS, ACKS, ACKS]);
  });

  it("go beside one group that is on its way, and no second one, once they are large", async () => {
    const { sent, answers, write } = scene();
    for (const name of ["a", "b"]) void write(name);
    await turn();
    expect(sent.map(({ names }) => names)).toEqual([["a"]]);
    void write("c", 8 * MIB);
    void write("d", 8 * MIB);
    await turn();
    expect(sent.map(({ names }) => names)).toEqual([["a"], ["b", "c"]]);
    answers[1]?.resolve(ACKS);
    await turn();
    expect(sent.map(({ names }) => names)).toEqual([["a"], ["b", "c"], ["d"]]);
  });

  it("fail together, and those behind them are sent all the same", async () => {
    const { sent, answers, write } = scene();
    const acks = ["a", "b", "c"].map((name) => write(name));
    const failed = new Error("no quorum");
    await turn();
    answers[0]?.resolve(ACKS);
    await turn();
    answers[1]?.reject(failed);
    await expect(acks[1]).rejects.toBe(failed);
    await expect(acks[2]).rejects.toBe(failed);
    const later = write("e");
    await turn();
    expect(sent.at(-1)?.names).toEqual(["e"]);
    answers.at(-1)?.resolve(ACKS);
    expect(await later).toBe(ACKS);
  });

  it("make no group larger than its limit, but one that is larger by itself goes alone", async () => {
    const { sent, answers, write } = scene();
    for (const [name, bytes] of [
      ["a", 1],
      ["b", 1],
      ["c", 9 * MIB],
      ["d", 9 * MIB],
      ["e", 40 * MIB],
    ] as const) {
      void write(name, bytes);
    }
    for (let answered = 0; answered < 3; answered += 1) {
      await turn();
      answers[answered]?.resolve(ACKS);
    }
    await turn();
    expect(sent.map(({ names }) => names)).toEqual([["a"], ["b", "c"], ["d"], ["e"]]);
  });

  it("are all told when their group is on its way", async () => {
    const { sent, answers, write } = scene();
    const told: string[] = [];
    for (const name of ["a", "c", "d"]) void write(name, 10, () => told.push(name));
    await turn();
    answers[0]?.resolve(ACKS);
    await turn();
    sent[1]?.handed();
    expect(told).toEqual(["c", "d"]);
  });
});

describe("cells of one key", () => {
  it("are sent as the one that wins, whatever the order of their batches", async () => {
    const sent: StoreWrite[][] = [];
    const answers: PromiseWithResolvers[] = [];
    const groups = new WriteGroups((cells) => {
      sent.push([...cells]);
      return new Promise<Acks>((resolve, reject) => answers.push({ resolve, reject }));
    });
    const write = (name: string, order: number, byte: number, space: StoreWrite["space"] = "slot") =>
      groups.write([{ space, key: Buffer.from(name), order, bytes: Uint8Array.of(byte) }], 10, () => undefined);
    void write("busy", 1, 0);
    const acks = [write("x", 3, 1), write("x", 5, 1), write("x", 4, 9), write("x", 5, 2), write("x", 1, 1, "copy")];
    await turn();
    answers[0]?.resolve(ACKS);
    await turn();
    expect(sent[1]?.map(({ space, order, bytes }) => [space, order, bytes[0]])).toEqual([
      ["slot", 5, 2],
      ["copy", 1, 1],
    ]);
    answers[1]?.resolve(ACKS);
    expect(await Promise.all(acks)).toEqual(acks.map(() => ACKS));
  });
});

describe("the cells of many batches", () => {
  const letters = fc.constantFrom("a", "b", "\u0000", "\u00ff");
  const write = fc.record({
    space: fc.constantFrom("slot" as const, "copy" as const),
    key: fc.string({ unit: letters, maxLength: 3 }).map((name) => Buffer.from(name, "latin1")),
    order: fc.integer({ min: 1, max: 9 }),
    bytes: fc.integer({ min: 0, max: 3 }).map((byte) => Uint8Array.of(byte)),
  });

  it("are in the order of their keys, and every address's winner is among them", () => {
    const cells = fc.array(write, { maxLength: 400 });
    fc.assert(
      fc.property(cells, (all) => {
        const ordered = atOnce(inKeyOrder(all));
        const keys = ordered.map(({ key }) => key);
        expect(keys.every((key, index) => index === 0 || Buffer.compare(keys[index - 1] ?? key, key) <= 0)).toBe(true);
        expect(winnersOf(ordered)).toEqual(winnersOf(all));
      }),
      { numRuns: 200 },
    );
  });

  it("are ordered a piece at a time, and those of one slot meet", () => {
    const batch = (order: number) =>
      Array.from({ length: 30_000 }, (_, index) => ({ ...cell(`slot-${String((index * 7_919) % 30_000)}`), order }));
    const steps = inKeyOrder([...batch(1), ...batch(3), ...batch(2)]);
    let pieces = 1;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) pieces += 1;
    expect(step.value).toHaveLength(30_000);
    expect(step.value.every(({ order }) => order === 3)).toBe(true);
    expect(pieces).toBeGreaterThan((4 * 90_000) / 4_096);
  });
});

/** By address, what wins. */
function winnersOf(cells: readonly StoreWrite[]): ReadonlyMap<string, string> {
  const winners = new Map<string, StoreWrite>();
  for (const next of cells) {
    const address = `${next.space} ${nameOf(next)}`;
    const present = winners.get(address);
    if (present === undefined || compareOrdered(next, present) > 0) winners.set(address, next);
  }
  const entries = [...winners].map(([address, { order, bytes }]) => [address, `${order}/${bytes.join()}`] as const);
  return new Map(entries);
}

describe("the order of keys", () => {
  it("is that of their bytes, for any keys", () => {
    const letters = fc.constantFrom("a", "b", "\u0000", "\u00ff");
    const keys = fc.array(fc.string({ unit: letters, maxLength: 12 }), { maxLength: 300 });
    fc.assert(
      fc.property(keys, (names) => {
        const cells = [...new Set(names)].map((name) => ({
          ...cell(""),
          key: Buffer.from(`prefix-${name}`, "latin1"),
        }));
        const sorted = cells.toSorted((a, b) => Buffer.compare(a.key, b.key));
        expect(atOnce(inKeyOrder(cells)).map(nameOf)).toEqual(sorted.map(nameOf));
      }),
      { numRuns: 300 },
    );
  });

  it("is that of their bytes where many have long beginnings in common", () => {
    const names = Array.from({ length: 20_000 }, (_, index) => {
      const number = (index * 7_919) % 20_000;
      return `namespace/${number % 2 === 0 ? "long-prefix-" : ""}a${String(number).padStart(8, "0")}`;
    });
    const ordered = atOnce(inKeyOrder(names.map(cell))).map(nameOf);
    expect(ordered.join()).toBe(names.toSorted().join());
  });

  it("ends for keys that are equal, or of which one begins another, be it with zeros", () => {
    const same = Array.from({ length: 100 }, () => cell("one key"));
    expect(atOnce(inKeyOrder(same))).toHaveLength(1);
    const zeros = Array.from({ length: 200 }, (_, index) => cell(`k${"\u0000".repeat((index * 7) % 200)}`));
    expect(atOnce(inKeyOrder(zeros)).map(({ key }) => key.length)).toEqual(
      zeros.map(({ key }) => key.length).toSorted((a, b) => a - b),
    );
  });
});
