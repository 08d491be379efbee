import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KvPlane } from "../../src/ports/kv-plane.ts";
import { describeBatches } from "./contract/batches.ts";
import { describeControl } from "./contract/control.ts";
import { describeLosses } from "./contract/losses.ts";
import { describeMerging } from "./contract/merging.ts";
import { describeRanges } from "./contract/ranges.ts";
import { describeReceipts } from "./contract/receipts.ts";
import { cell, freshKey, held, text } from "./contract/cells.ts";

/** An engine under test. One plane serves all tests of a run: they keep out of each other's keys. */
export interface PlaneHarness {
  /** The plane that is open now. */
  readonly plane: KvPlane;
  /** Closes the plane and opens it over the same data; returns it. */
  restart(): Promise<KvPlane>;
  /** Ends everything and removes the data. */
  destroy(): Promise<void>;
  /** For engines whose owners a test can take away. */
  readonly owners?: OwnerFaults;
}

/** What may happen to owners. A test leaves them as it found them: up, and whole. */
export interface OwnerFaults {
  readonly names: readonly [string, string, string];
  /** An owner answers nothing any more; what it holds stays. Resolves when the plane knows. */
  lose(owner: string): Promise<void>;
  /** It answers again. Resolves when it counts. */
  restore(owner: string): Promise<void>;
  /** An owner loses what it holds. Resolves when the plane knows; `repair` brings it back. */
  wipe(owner: string): Promise<void>;
  /** Resolves when an owner counts. */
  whenUp(owner: string): Promise<void>;
  /**
   * Loses an owner at its `nth` request from now: when it is `asked`, or when it has `done` it and has not answered. Returns
   * whether that has happened.
   */
  loseAt(owner: string, step: "asked" | "done", nth: number): () => boolean;
  /** No more of that. */
  cancelLoss(): void;
  /** Runs `call`, whose writes reach `owner` alone, and brings the others back; `call` fails. */
  strand(owner: string, call: () => Promise<unknown>): Promise<void>;
  /** Runs `call`, whose writes do not reach `owner`. */
  without(owner: string, call: () => Promise<unknown>): Promise<void>;
}

export interface ContractOptions {
  readonly name: string;
  readonly open: () => Promise<PlaneHarness>;
  /** W. */
  readonly writeAcks: number;
  /** Largest bytes of a cell: those of a body and its header. */
  readonly valueBytesMax: number;
  /** Size of the largest batches. */
  readonly manyCells: number;
  /** Whether an owner is lost at every request of every call, and not only at the first; for engines whose owners return fast. */
  readonly thorough: boolean;
}

/** What every engine of the KV plane must do. Registers its tests. */
export function describePlaneContract(options: ContractOptions): void {
  describe(`KV plane contract: ${options.name}`, () => {
    let harness: PlaneHarness | undefined;
    const use = (): PlaneHarness => {
      if (harness === undefined) throw new Error("the plane is not open");
      return harness;
    };
    const plane = (): KvPlane => use().plane;
    beforeAll(async () => {
      harness = await options.open();
    });
    afterAll(async () => harness?.destroy());

    describeMerging(plane);
    describeReceipts(plane);
    describeRanges(plane, options);
    describeControl(plane, options);
    describeOwners(plane);
    describeLosses(use, options);
    describeRestarts(use);
    // Last: what they leave would make a repair long.
    describeBatches(plane, options);
  });
}

function describeOwners(plane: () => KvPlane): void {
  it("shows what owners hold of one cell", async () => {
    const key = freshKey();
    expect((await plane().inspect({ space: "document", key })).map(({ answer }) => answer)).toEqual(
      Array.from({ length: 3 }, () => "absent"),
    );
    await plane().write([cell(key, 3, "x")]);
    const answers = await plane().inspect({ space: "document", key });
    const holding = answers.filter(({ answer }) => answer === "holds");
    expect(holding.length).toBeGreaterThanOrEqual(2);
    for (const { cell: stored } of holding) expect(stored).toEqual({ order: 3, bytes: text("x") });
  });

  it("shows three owners that are up", () => {
    const owners = plane().owners();
    expect(owners.map(({ state }) => state)).toEqual(["up", "up", "up"]);
    expect(new Set(owners.map(({ incarnation }) => incarnation)).size).toBe(3);
    for (const { reason } of owners) expect(reason).toBeUndefined();
  });
}

function describeRestarts(use: () => PlaneHarness): void {
  it("keeps everything when it is closed and opened again", async () => {
    const key = freshKey();
    const before = use().plane;
    await before.write([cell(key, 7, "kept")]);
    const written = await before.control.compareAndSet("reopen/record", undefined, text("kept"));
    const incarnations = before.owners().map(({ incarnation }) => incarnation);
    const plane = await use().restart();
    expect(await held(plane, key)).toEqual({ order: 7, bytes: text("kept") });
    const record = await plane.control.read("reopen/record");
    expect(record?.value).toEqual(text("kept"));
    expect(written.outcome === "written" && written.record.tag).toBe(record?.tag);
    expect(plane.owners().map(({ incarnation }) => incarnation)).toEqual(incarnations);
    expect(await plane.control.list("reopen/")).toEqual(["reopen/record"]);
    const next = await plane.control.compareAndSet("reopen/record", record?.tag, text("next"));
    expect(next.outcome === "written" && next.record.tag !== record?.tag).toBe(true);
  });

  it("refuses everything once it is closed, keeps what it acknowledged until then, and closes twice", async () => {
    const key = freshKey();
    const closed = use().plane;
    const underWay = closed.write([cell(key, 1, "under way")]);
    underWay.catch(() => undefined);
    const plane = await use().restart();
    const refused = { code: "KV_CLOSED" };
    const [ended] = await Promise.allSettled([underWay]);
    if (ended.status === "rejected") expect(ended.reason).toMatchObject(refused);
    else expect(await held(plane, key)).toEqual({ order: 1, bytes: text("under way") });
    await expect(closed.write([cell(freshKey(), 1, "x")])).rejects.toMatchObject(refused);
    await expect(closed.writeWithReceipts([cell(freshKey(), 1, "x")])).rejects.toMatchObject(refused);
    await expect(closed.restore([cell(freshKey(), 1, "x")])).rejects.toMatchObject(refused);
    await expect(closed.scan({ space: "slot", from: text("a"), to: text("b"), limit: 1 })).rejects.toMatchObject(
      refused,
    );
    await expect(closed.control.read("any")).rejects.toMatchObject(refused);
    await expect(closed.control.list("any")).rejects.toMatchObject(refused);
    await expect(closed.control.compareAndSet("any", undefined, text("x"))).rejects.toMatchObject(refused);
    await closed.close();
  });
}
