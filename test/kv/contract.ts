import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeDocumentCell } from "../../src/core/cell.ts";
import { InvariantViolation } from "../../src/core/invariant.ts";
import { CELL_SPACES, type CellWrite, KEY_BYTES_MAX, type KvPlane } from "../../src/ports/kv-plane.ts";

/** An engine under test. One plane serves all tests of a run: they keep out of each other's keys. */
export interface PlaneHarness {
  readonly plane: KvPlane;
  /** Closes the plane and opens it over the same data. */
  reopen(): Promise<KvPlane>;
  /** Ends everything and removes the data. */
  destroy(): Promise<void>;
}

export interface ContractOptions {
  readonly name: string;
  readonly open: () => Promise<PlaneHarness>;
  /** Largest body, in bytes. */
  readonly bodyBytesMax: number;
  /** Size of the largest batches. */
  readonly manyCells: number;
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
let nextKey = 0;

/** A key that no other test has. */
function freshKey(): Uint8Array {
  nextKey += 1;
  return text(`key-${nextKey}`);
}

function cell(key: Uint8Array, order: number, bytes: string | Uint8Array): CellWrite {
  return { space: "document", key, order, bytes: typeof bytes === "string" ? text(bytes) : bytes };
}

/** What every engine of the KV plane must do. Registers its tests. */
export function describePlaneContract(options: ContractOptions): void {
  describe(`KV plane contract: ${options.name}`, () => {
    let harness: PlaneHarness;
    let plane: KvPlane;
    beforeAll(async () => {
      harness = await options.open();
      plane = harness.plane;
    });
    afterAll(async () => harness.destroy());
    const use = (): KvPlane => plane;

    describeMerging(use);
    describeBatches(use, options);
    describeReceipts(use);
    describeControl(use);
    describeOwners(use);

    it("keeps everything when it is closed and opened again", async () => {
      const key = freshKey();
      await plane.write([cell(key, 7, "kept")]);
      const written = await plane.control.compareAndSet("reopen/record", undefined, text("kept"));
      plane = await harness.reopen();
      expect(await plane.restore([{ space: "document", key }])).toEqual([{ order: 7, bytes: text("kept") }]);
      const record = await plane.control.read("reopen/record");
      expect(record?.value).toEqual(text("kept"));
      expect(written.outcome === "written" && written.record.tag).toBe(record?.tag);
    });

    it("refuses everything once it is closed, and closes twice", async () => {
      const closed = plane;
      plane = await harness.reopen();
      await expect(closed.write([cell(freshKey(), 1, "x")])).rejects.toMatchObject({ code: "KV_CLOSED" });
      await expect(closed.restore([cell(freshKey(), 1, "x")])).rejects.toMatchObject({ code: "KV_CLOSED" });
      await expect(closed.control.read("any")).rejects.toMatchObject({ code: "KV_CLOSED" });
      await closed.close();
    });
  });
}

function describeMerging(plane: () => KvPlane): void {
  it("answers absent for a key that nobody wrote", async () => {
    expect(await plane().restore([{ space: "document", key: freshKey() }])).toEqual([undefined]);
  });

  it("keeps the larger order, whichever comes first", async () => {
    const key = freshKey();
    await plane().write([cell(key, 9, "nine")]);
    await plane().write([cell(key, 8, "eight")]);
    expect(await plane().restore([cell(key, 0, "")])).toEqual([{ order: 9, bytes: text("nine") }]);
    await plane().write([cell(key, 10, "")]);
    expect(await plane().restore([cell(key, 0, "")])).toEqual([{ order: 10, bytes: text("") }]);
  });

  it("keeps the larger bytes at one order, unsigned, a prefix being smaller", async () => {
    const key = freshKey();
    for (const bytes of [[0x7f], [0x80], [0x80, 0x00], [0x7f, 0xff], [0x80]]) {
      await plane().write([cell(key, 5, Uint8Array.from(bytes))]);
    }
    expect(await plane().restore([cell(key, 0, "")])).toEqual([{ order: 5, bytes: Uint8Array.of(0x80, 0x00) }]);
  });

  it("lets a later revision, and a tombstone over a live record, win at one version", async () => {
    const key = freshKey();
    const base = { partition: 3, descriptorVersion: 1, timestampMs: -1 };
    const live = encodeDocumentCell({
      ...base,
      revision: 4,
      state: "live",
      bodyFormat: "json",
      body: text('{"z":"zzz"}'),
    });
    const gone = encodeDocumentCell({ ...base, revision: 4, state: "deleted", bodyFormat: "none", body: text("") });
    const replayed = encodeDocumentCell({ ...base, revision: 5, state: "live", bodyFormat: "json", body: text("{}") });
    await plane().write([cell(key, 77, live), cell(key, 77, gone)]);
    expect(await plane().restore([cell(key, 0, "")])).toEqual([{ order: 77, bytes: gone }]);
    await plane().write([cell(key, 77, replayed)]);
    await plane().write([cell(key, 77, gone)]);
    expect(await plane().restore([cell(key, 0, "")])).toEqual([{ order: 77, bytes: replayed }]);
  });

  it("keeps orders up to 2^53 − 1 exactly", async () => {
    const key = freshKey();
    const largest = Number.MAX_SAFE_INTEGER;
    await plane().write([cell(key, largest - 1, "b"), cell(key, largest, "a"), cell(key, 2 ** 32, "c")]);
    expect(await plane().restore([cell(key, 0, "")])).toEqual([{ order: largest, bytes: text("a") }]);
  });

  it("keeps the spaces apart", async () => {
    const key = freshKey();
    await plane().write(CELL_SPACES.map((space, index) => ({ space, key, order: index + 1, bytes: text(space) })));
    const restored = await plane().restore(CELL_SPACES.map((space) => ({ space, key })));
    expect(restored).toEqual(CELL_SPACES.map((space, index) => ({ order: index + 1, bytes: text(space) })));
  });

  it("tells odd keys apart", async () => {
    const keys = [
      new Uint8Array(0),
      Uint8Array.of(0),
      Uint8Array.of(0, 0),
      Uint8Array.of(0xff),
      Uint8Array.of(0xff, 0xff),
      text("é"),
      new Uint8Array(KEY_BYTES_MAX).fill(0xff),
      new Uint8Array(KEY_BYTES_MAX),
      new Uint8Array(KEY_BYTES_MAX - 1).fill(0xff),
    ];
    await plane().write(keys.map((key, index) => ({ space: "dial", key, order: index + 1, bytes: text(`${index}`) })));
    const restored = await plane().restore(keys.map((key) => ({ space: "dial", key })));
    expect(restored).toEqual(keys.map((_, index) => ({ order: index + 1, bytes: text(`${index}`) })));
  });
}

function describeBatches(plane: () => KvPlane, options: ContractOptions): void {
  it("takes a batch that names one key several times, in any order", async () => {
    const key = freshKey();
    await plane().write([cell(key, 2, "two"), cell(key, 3, "three"), cell(key, 1, "one"), cell(key, 3, "a")]);
    expect(await plane().restore([cell(key, 0, ""), cell(key, 0, "")])).toEqual([
      { order: 3, bytes: text("three") },
      { order: 3, bytes: text("three") },
    ]);
  });

  it("takes an empty batch", async () => {
    expect((await plane().write([])).count).toBeGreaterThanOrEqual(2);
    expect(await plane().writeWithReceipts([])).toEqual([]);
    expect(await plane().restore([])).toEqual([]);
  });

  it("holds the largest body", async () => {
    const key = freshKey();
    const body = new Uint8Array(options.bodyBytesMax).fill(0xab);
    await plane().write([cell(key, 1, body)]);
    const [restored] = await plane().restore([cell(key, 0, "")]);
    expect(Buffer.compare(restored?.bytes ?? new Uint8Array(0), body)).toBe(0);
  });

  it("refuses a larger body, a longer key and an odd order before anybody is asked", async () => {
    const key = freshKey();
    const tooLarge = cell(key, 1, new Uint8Array(options.bodyBytesMax + 1_000));
    const tooLong = cell(new Uint8Array(KEY_BYTES_MAX + 1), 1, "x");
    for (const bad of [tooLarge, tooLong, cell(key, -1, "x"), cell(key, 1.5, "x"), cell(key, 2 ** 53, "x")]) {
      await expect(plane().write([cell(key, 1, "x"), bad])).rejects.toBeInstanceOf(InvariantViolation);
      await expect(plane().writeWithReceipts([bad])).rejects.toBeInstanceOf(InvariantViolation);
    }
    await expect(plane().restore([tooLong])).rejects.toBeInstanceOf(InvariantViolation);
    expect(await plane().restore([{ space: "document", key }])).toEqual([undefined]);
  });

  it("writes and restores a large batch, by index", async () => {
    const keys = Array.from({ length: options.manyCells }, freshKey);
    await plane().write(keys.map((key, index) => cell(key, index + 1, `value ${index}`)));
    const asked = keys.flatMap((key, index) => (index % 10 === 0 ? [key, freshKey()] : [key])).toReversed();
    const restored = await plane().restore(asked.map((key) => ({ space: "document", key })));
    const orders = new Map(keys.map((key, index) => [key, index + 1]));
    expect(restored.map((answer) => answer?.order)).toEqual(asked.map((key) => orders.get(key)));
  });

  it("names W owners or counts them", async () => {
    const { count, owners } = await plane().write([cell(freshKey(), 1, "x")]);
    expect(count).toBeGreaterThanOrEqual(2);
    expect(owners.length === 0 || owners.length === count).toBe(true);
    expect(new Set(owners).size).toBe(owners.length);
  });

  it("merges concurrent writes of one key to the largest", async () => {
    const key = freshKey();
    await Promise.all(Array.from({ length: 30 }, (_, index) => plane().write([cell(key, (index * 7) % 30, "x")])));
    expect(await plane().restore([cell(key, 0, "")])).toEqual([{ order: 29, bytes: text("x") }]);
  });
}

function describeReceipts(plane: () => KvPlane): void {
  it("tells applied, already applied and superseded apart, within the batch as well", async () => {
    const [held, fresh] = [freshKey(), freshKey()];
    await plane().write([cell(held, 5, "five")]);
    const receipts = await plane().writeWithReceipts([
      cell(held, 5, "five"),
      cell(held, 5, "a"),
      cell(held, 4, "four"),
      cell(fresh, 1, "one"),
      cell(fresh, 1, "one"),
      cell(held, 6, "six"),
      cell(held, 5, "five"),
      cell(fresh, 2, "two"),
    ]);
    expect(receipts).toEqual([
      { outcome: "already-applied", storedOrder: 5 },
      { outcome: "superseded", storedOrder: 5 },
      { outcome: "superseded", storedOrder: 5 },
      { outcome: "applied", storedOrder: 1 },
      { outcome: "already-applied", storedOrder: 1 },
      { outcome: "applied", storedOrder: 6 },
      { outcome: "superseded", storedOrder: 6 },
      { outcome: "applied", storedOrder: 2 },
    ]);
    expect(await plane().restore([cell(held, 0, ""), cell(fresh, 0, "")])).toEqual([
      { order: 6, bytes: text("six") },
      { order: 2, bytes: text("two") },
    ]);
  });
}

function describeControl(plane: () => KvPlane): void {
  it("reads nothing where there is no record", async () => {
    expect(await plane().control.read("control/none")).toBeUndefined();
  });

  it("writes only over the expected tag, and gives every write a new one", async () => {
    const { control } = plane();
    const first = await control.compareAndSet("control/cas", undefined, text("1"));
    expect(first).toMatchObject({ outcome: "written", record: { value: text("1") } });
    const tag = first.outcome === "written" ? first.record.tag : "";
    const conflict = await control.compareAndSet("control/cas", undefined, text("2"));
    expect(conflict).toMatchObject({ outcome: "conflict", current: { tag } });
    expect(await control.compareAndSet("control/cas", "no such tag", text("2"))).toEqual(conflict);
    const second = await control.compareAndSet("control/cas", tag, text("1"));
    expect(second.outcome === "written" && second.record.tag !== tag).toBe(true);
    const absent = await control.compareAndSet("control/absent", "a tag", text("1"));
    expect(absent).toEqual({ outcome: "conflict", current: undefined });
  });

  it("keeps an empty value and odd names", async () => {
    const { control } = plane();
    for (const name of ["control/empty", "control/é\u{1F600}", "control/ /%"]) {
      const written = await control.compareAndSet(name, undefined, new Uint8Array(0));
      const tag = written.outcome === "written" ? written.record.tag : "";
      const record = await control.read(name);
      expect([record?.tag, record?.value.length]).toEqual([tag, 0]);
    }
  });

  it("lets one of twenty racing writers win each round", async () => {
    const { control } = plane();
    let tag: string | undefined;
    for (let round = 0; round < 5; round += 1) {
      const expected = tag;
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, index) => control.compareAndSet("control/race", expected, text(`${index}`))),
      );
      const won = outcomes.flatMap((outcome) => (outcome.outcome === "written" ? [outcome.record] : []));
      expect(won).toHaveLength(1);
      tag = won[0]?.tag;
      expect((await control.read("control/race"))?.tag).toBe(tag);
    }
  });

  it("loses no increment of racing read-modify-write loops", async () => {
    const { control } = plane();
    const increment = async (): Promise<void> => {
      for (;;) {
        const record = await control.read("control/counter");
        const value = record === undefined ? 0 : Number(new TextDecoder().decode(record.value));
        const { outcome } = await control.compareAndSet("control/counter", record?.tag, text(`${value + 1}`));
        if (outcome === "written") return;
      }
    };
    await Promise.all(Array.from({ length: 8 }, increment));
    expect((await control.read("control/counter"))?.value).toEqual(text("8"));
  });

  it("lists names by prefix, sorted and limited", async () => {
    const { control } = plane();
    const names = ["list/b", "list/a", "list/a/1", "list0", "lis", "list/é", "list/c"];
    await Promise.all(names.map((name) => control.compareAndSet(name, undefined, text("x"))));
    expect(await control.list("list/")).toEqual(["list/a", "list/a/1", "list/b", "list/c", "list/é"]);
    expect(await control.list("list/", 2)).toEqual(["list/a", "list/a/1"]);
    expect(await control.list("list/x")).toEqual([]);
  });

  it("keeps control records and cells apart", async () => {
    await plane().control.compareAndSet("apart", undefined, text("control"));
    const restored = await plane().restore(CELL_SPACES.map((space) => ({ space, key: text("apart") })));
    expect(restored).toEqual(CELL_SPACES.map(() => undefined));
  });
}

function describeOwners(plane: () => KvPlane): void {
  it("shows what owners hold of one cell", async () => {
    const key = freshKey();
    await plane().write([cell(key, 3, "x")]);
    const answers = await plane().inspect({ space: "document", key });
    const holding = answers.filter(({ answer }) => answer === "holds");
    expect(holding.length).toBeGreaterThanOrEqual(2);
    for (const { cell: held } of holding) expect(held).toEqual({ order: 3, bytes: text("x") });
  });

  it("shows three owners that are up", () => {
    const owners = plane().owners();
    expect(owners.map(({ state }) => state)).toEqual(["up", "up", "up"]);
    expect(new Set(owners.map(({ incarnation }) => incarnation)).size).toBe(3);
    for (const { reason } of owners) expect(reason).toBeUndefined();
  });
}
