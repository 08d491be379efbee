import { describe, expect, it } from "vitest";
import { type CellWrite, KvFault, type KvPlane } from "../../../src/ports/kv-plane.ts";
import type { ContractOptions, OwnerFaults, PlaneHarness } from "../contract.ts";
import { cell, freshKey, held, text } from "./cells.ts";
import { describeScannedLosses } from "./ranges.ts";

/** More requests than any call makes of one owner. */
const REQUESTS_MAX = 12;
const NO_QUORUM = { code: "KV_NO_QUORUM" };

interface Use {
  readonly plane: () => KvPlane;
  readonly owners: () => OwnerFaults;
  readonly restart: () => Promise<KvPlane>;
  readonly options: ContractOptions;
}

/** What becomes of calls when owners go and come back. */
export function describeLosses(harness: () => PlaneHarness, options: ContractOptions): void {
  const use: Use = {
    plane: () => harness().plane,
    owners: () => {
      const { owners } = harness();
      if (owners === undefined) throw new Error("this engine's owners cannot be taken away");
      return owners;
    },
    restart: () => harness().restart(),
    options,
  };
  describe("when owners go", () => {
    describeAbsence(use);
    describeSteps(use);
    describeStranded(use);
    describeScannedLosses(use.plane, use.owners, options);
    describeAbsentNames(use);
    describeRepair(use);
  });
}

function describeAbsence({ plane, owners, restart, options }: Use): void {
  const holds = options.writeAcks === 3;

  it(`${holds ? "holds" : "goes on"} with one owner lost, and goes on by itself once it is back`, async () => {
    const [a, b, c] = owners().names;
    const key = freshKey();
    const name = `absence/${options.writeAcks}`;
    await plane().write([cell(key, 1, "one")]);
    for (const lost of [a, b, c]) {
      await owners().lose(lost);
      const order = 2 + owners().names.indexOf(lost);
      const write = plane().write([cell(key, order, "next")]);
      if (holds) await expect(write).rejects.toMatchObject(NO_QUORUM);
      else {
        expect((await write).owners).not.toContain(lost);
        expect((await plane().writeWithReceipts([cell(key, order, "next")]))[0]?.outcome).toBe("already-applied");
        expect(await held(plane(), key)).toEqual({ order, bytes: text("next") });
        const before = await plane().control.read(name);
        expect(await plane().control.compareAndSet(name, before?.tag, text(lost))).toMatchObject({
          outcome: "written",
        });
        expect(await plane().control.list("absence/")).toContain(name);
      }
      await owners().restore(lost);
      expect((await plane().write([cell(key, order, "next")])).count).toBeGreaterThanOrEqual(options.writeAcks);
      expect(await held(plane(), key)).toEqual({ order, bytes: text("next") });
      if (!holds) expect((await plane().control.read(name))?.value).toEqual(text(lost));
    }
  });

  it("commits nothing with two owners lost, says so, and goes on by itself afterwards", async () => {
    const [, b, c] = owners().names;
    const key = freshKey();
    await plane().write([cell(key, 5, "five")]);
    await owners().lose(b);
    await owners().lose(c);
    expect(
      plane()
        .owners()
        .filter(({ state }) => state === "up"),
    ).toHaveLength(1);
    await expect(plane().write([cell(key, 6, "six")])).rejects.toMatchObject(NO_QUORUM);
    await expect(plane().writeWithReceipts([cell(key, 6, "six")])).rejects.toMatchObject(NO_QUORUM);
    await expect(plane().control.compareAndSet("absence/two", undefined, text("x"))).rejects.toBeInstanceOf(KvFault);
    await expect(plane().restore([cell(key, 0, "")])).rejects.toMatchObject(NO_QUORUM);
    const range = { space: "document", from: key, to: Uint8Array.of(...key, 1), limit: 1 } as const;
    await expect(plane().scan(range)).rejects.toMatchObject(NO_QUORUM);
    const answers = await plane().inspect({ space: "document", key });
    expect(answers.map(({ answer }) => answer).toSorted()).toEqual(["holds", "unavailable", "unavailable"]);
    await owners().restore(b);
    await owners().restore(c);
    await plane().write([cell(key, 7, "seven")]);
    expect(await held(plane(), key)).toEqual({ order: 7, bytes: text("seven") });
    expect(await plane().control.read("absence/two")).toBeUndefined();
  });

  it("tells whoever listens, and remembers over a restart what was written meanwhile", async () => {
    const [, , c] = owners().names;
    const key = freshKey();
    let changes = 0;
    const end = plane().onChange(() => {
      changes += 1;
    });
    await owners().lose(c);
    expect(changes).toBeGreaterThan(0);
    end();
    const before = changes;
    if (!holds) await plane().write([cell(key, 1, "meanwhile")]);
    const again = await restart();
    await owners().restore(c);
    expect(changes).toBe(before);
    if (!holds) expect(await held(again, key)).toEqual({ order: 1, bytes: text("meanwhile") });
  });
}

/** A call, and what must be true once it has ended: whether it says so itself or fails and is tried again. */
interface Call {
  readonly name: string;
  readonly run: (plane: KvPlane, key: Uint8Array) => Promise<void>;
}

const batchOf = (key: Uint8Array): CellWrite[] => [cell(key, 2, "two"), cell(key, 3, "three"), cell(key, 1, "one")];
const nameOf = (key: Uint8Array): string => `steps/${Buffer.from(key).toString()}`;

const CALLS: readonly Call[] = [
  {
    name: "write",
    run: async (plane, key) => {
      expect((await plane.write(batchOf(key))).count).toBeGreaterThanOrEqual(2);
      expect(await held(plane, key)).toEqual({ order: 3, bytes: text("three") });
    },
  },
  {
    name: "writeWithReceipts",
    run: async (plane, key) => {
      const [, three] = await plane.writeWithReceipts(batchOf(key));
      expect(three?.storedOrder).toBe(3);
      expect(await held(plane, key)).toEqual({ order: 3, bytes: text("three") });
    },
  },
  {
    name: "restore",
    run: async (plane, key) => {
      const [first, second] = await plane.restore([cell(key, 0, ""), cell(freshKey(), 0, "")]);
      expect([first, second]).toEqual([{ order: 1, bytes: text("before") }, undefined]);
    },
  },
  {
    name: "scan",
    run: async (plane, key) => {
      const to = Uint8Array.of(...key, 1);
      const page = await plane.scan({ space: "document", from: key, to, limit: 2 });
      expect(page).toEqual({ cells: [{ key, order: 1, bytes: text("before") }], next: undefined });
    },
  },
  {
    name: "a control record's read",
    run: async (plane, key) => expect((await plane.control.read(nameOf(key)))?.value).toEqual(text("before")),
  },
  {
    name: "a control record's set",
    run: async (plane, key) => {
      const before = await plane.control.read(nameOf(key));
      if (Buffer.compare(before?.value ?? text(""), text("after")) !== 0) {
        const outcome = await plane.control.compareAndSet(nameOf(key), before?.tag, text("after"));
        expect(outcome).toMatchObject({ outcome: "written" });
      }
      expect((await plane.control.read(nameOf(key)))?.value).toEqual(text("after"));
    },
  },
  {
    name: "a list",
    run: async (plane, key) => expect(await plane.control.list(nameOf(key))).toEqual([nameOf(key)]),
  },
];

function describeSteps({ plane, owners, options }: Use): void {
  it.each(CALLS)("loses nothing when an owner is lost at any step of $name", async ({ run }) => {
    for (const step of ["asked", "done"] as const) {
      for (let nth = 1; nth <= (options.thorough ? REQUESTS_MAX : 1); nth += 1) {
        const lost = owners().names[nth % 3] ?? "";
        const key = freshKey();
        await plane().write([cell(key, 1, "before")]);
        await plane().control.compareAndSet(nameOf(key), undefined, text("before"));
        const happened = owners().loseAt(lost, step, nth);
        const ended = await run(plane(), key).then(
          () => "answered",
          (error: unknown) => error,
        );
        owners().cancelLoss();
        if (options.writeAcks === 2 || !happened()) expect(ended).toBe("answered");
        else if (ended !== "answered") expect(ended).toMatchObject(NO_QUORUM);
        if (!happened()) break;
        await owners().restore(lost);
        if (ended !== "answered") await run(plane(), key);
      }
    }
  });

  it("lets one of many writers win, though an owner is lost between them", async () => {
    const [a] = owners().names;
    const { control } = plane();
    const set = (value: string): Promise<unknown> => control.compareAndSet("steps/race", undefined, text(value));
    const happened = owners().loseAt(a, "done", 3);
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, (_, index) => set(`${index}`)));
    owners().cancelLoss();
    if (happened()) await owners().restore(a);
    const won = outcomes.filter((one) => one.status === "fulfilled" && isWritten(one.value));
    expect(won.length).toBeLessThanOrEqual(1);
    if (options.writeAcks === 2) expect(won).toHaveLength(1);
    const stands = await control.read("steps/race");
    for (const one of won) expect(one).toMatchObject({ value: { record: stands } });
  });
}

function isWritten(value: unknown): boolean {
  return typeof value === "object" && value !== null && "outcome" in value && value.outcome === "written";
}

function describeStranded({ plane, owners, restart, options }: Use): void {
  const survives = options.writeAcks === 2;

  it("writes back what one owner alone has, before it answers it", async () => {
    const key = freshKey();
    await plane().write([cell(key, 1, "one")]);
    const [a] = owners().names;
    await owners().strand(a, () => plane().write([cell(key, 2, "two")]));
    const answer = await held(plane(), key);
    expect([1, 2]).toContain(answer?.order);
    if (answer?.order !== 2) return;
    const answers = await plane().inspect({ space: "document", key });
    expect(answers.filter((one) => one.cell?.order === 2).length).toBeGreaterThanOrEqual(options.writeAcks);
    if (!survives) return;
    await owners().lose(a);
    expect(await held(plane(), key)).toEqual({ order: 2, bytes: text("two") });
    await owners().restore(a);
  });

  it("tells a job that it was applied before only once W owners hold it", async () => {
    const key = freshKey();
    const [, b] = owners().names;
    await owners().strand(b, () => plane().write([cell(key, 2, "two")]));
    await plane().writeWithReceipts([cell(key, 2, "two")]);
    const answers = await plane().inspect({ space: "document", key });
    expect(answers.filter((one) => one.cell?.order === 2).length).toBeGreaterThanOrEqual(options.writeAcks);
  });

  it("decides an unknown compare-and-set once, whichever owners answer afterwards", async () => {
    const { control } = plane();
    const [a, b, c] = owners().names;
    for (const [index, only] of (options.thorough ? [a, b, c] : [a]).entries()) {
      const name = `stranded/${index}`;
      const first = index === 0 ? undefined : await control.compareAndSet(name, undefined, text("before"));
      const tag = first?.outcome === "written" ? first.record.tag : undefined;
      await owners().strand(only, () => control.compareAndSet(name, tag, text("unknown")));
      if (survives) await owners().lose(only);
      const decided = await control.read(name);
      if (survives) {
        expect(decided?.value).toEqual(first === undefined ? undefined : text("before"));
        await owners().restore(only);
      }
      for (const lost of survives && options.thorough ? [a, b, c] : []) {
        await owners().lose(lost);
        expect(await control.read(name)).toEqual(decided);
        await owners().restore(lost);
      }
      expect(await control.read(name)).toEqual(decided);
      const again = await control.compareAndSet(name, decided?.tag, text("after"));
      expect(again).toMatchObject({ outcome: "written" });
    }
    expect((await (await restart()).control.read("stranded/0"))?.value).toEqual(text("after"));
  });

  it("lists every name that W owners hold, though each owner lacks others", async () => {
    if (!survives) return;
    const { control } = plane();
    const names = Array.from({ length: options.thorough ? 9 : 3 }, (_, index) => `gaps/${index}`);
    for (const [index, name] of names.entries()) {
      const lacking = owners().names[index % 3] ?? "";
      await owners().without(lacking, () => control.compareAndSet(name, undefined, text("x")));
    }
    for (const limit of [1, 2, 4, 9, 100]) expect(await control.list("gaps/", limit)).toEqual(names.slice(0, limit));
  });
}

/** Names that were asked for and are not there may take room in an answer. */
function describeAbsentNames({ plane, owners, options }: Use): void {
  it("lists no name before one that it has not heard of yet", async () => {
    if (options.writeAcks !== 2) return;
    const { control } = plane();
    const [, b, c] = owners().names;
    await owners().lose(b);
    for (const name of ["holes/0", "holes/1"]) expect(await control.read(name)).toBeUndefined();
    await control.compareAndSet("holes/2", undefined, text("x"));
    await owners().restore(b);
    for (const name of ["holes/3", "holes/4"]) await control.compareAndSet(name, undefined, text("x"));
    await owners().lose(c);
    const names = ["holes/2", "holes/3", "holes/4"];
    for (const limit of [1, 2, 3, 4]) expect(await control.list("holes/", limit)).toEqual(names.slice(0, limit));
    await owners().restore(c);
  });
}

function describeRepair({ plane, owners, options }: Use): void {
  it("refuses to repair an owner that is up, or that it does not know", async () => {
    const [a] = owners().names;
    await expect(plane().repair(a, false)).rejects.toMatchObject({ code: "KV_REPAIR_REFUSED" });
    await expect(plane().repair("nobody", false)).rejects.toMatchObject({ code: "KV_OWNER_UNKNOWN" });
  });

  it("does not count an owner that lost what it held, until it was repaired from both others", async () => {
    const [a, b, c] = owners().names;
    const keys = Array.from({ length: 20 }, freshKey);
    const all = (order: number): CellWrite[] => keys.map((key) => cell(key, order, `value ${order}`));
    await plane().write(all(1));
    const before = plane()
      .owners()
      .find(({ owner }) => owner === b)?.incarnation;
    await owners().wipe(b);
    expect(
      plane()
        .owners()
        .find(({ owner }) => owner === b)?.state,
    ).not.toBe("up");
    if (options.writeAcks === 2) expect((await plane().write(all(2))).owners).not.toContain(b);
    await plane().repair(b, false);
    await owners().whenUp(b);
    expect(
      plane()
        .owners()
        .find(({ owner }) => owner === b)?.incarnation,
    ).not.toBe(before);
    if (options.writeAcks === 3) await plane().write(all(2));
    for (const lost of [a, c]) {
      if (options.writeAcks === 2) await owners().lose(lost);
      const restored = await plane().restore(keys.map((key) => ({ space: "document", key })));
      expect(new Set(restored.map((one) => one?.order))).toEqual(new Set([2]));
      if (options.writeAcks === 2) await owners().restore(lost);
    }
  });
}
