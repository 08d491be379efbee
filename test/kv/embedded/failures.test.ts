import { statfsSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { EmbeddedPlane } from "../../../src/kv/embedded/plane.ts";
import type { CellWrite } from "../../../src/ports/kv-plane.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { spawnBundled } from "./bundled.ts";
import { MIB, type Site, makeSite, text } from "./support.ts";
import { Tamper } from "./tamper.ts";

const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(ending.splice(0).map((end) => end()));
});

/** A site of its own, whose owners' threads can be tampered with. */
async function tampered(): Promise<{ readonly site: Site; readonly tamper: Tamper }> {
  const site = makeSite();
  const tamper = new Tamper(await spawnBundled());
  ending.push(async () => {
    for (const owner of ["a", "b", "c"]) tamper.letGo(owner);
    await site.destroy();
  });
  return { site, tamper };
}

function cell(key: string, order: number, bytes: string | Uint8Array = "x"): CellWrite {
  return { space: "document", key: text(key), order, bytes: typeof bytes === "string" ? text(bytes) : bytes };
}

const states = (plane: EmbeddedPlane): string[] => plane.owners().map(({ state, reason }) => reason?.code ?? state);

async function settled(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol("open");
  await new Promise((resolve) => setImmediate(resolve));
  return (await Promise.race([promise.then(() => true), Promise.resolve(open)])) !== open;
}

describe("an owner that fails", () => {
  it("is marked down with its reason, once, and the others go on", async () => {
    const { site, tamper } = await tampered();
    const plane = await site.open({ spawn: tamper.spawn });
    const changed = vi.fn<() => void>();
    const end = plane.onChange(changed);
    tamper.fail("b", { code: "OWNER_DISK_FULL", text: "No space left on device" });
    tamper.fail("b", { code: "OWNER_IO", text: "later" });
    expect(states(plane)).toEqual(["up", "OWNER_DISK_FULL", "up"]);
    expect(plane.owners()[1]).toMatchObject({ state: "down", pendingBytes: 0 });
    expect(changed).toHaveBeenCalledTimes(1);
    expect(await plane.write([cell("k", 1)])).toMatchObject({ count: 2 });
    expect(await plane.restore([cell("k", 0)])).toEqual([{ order: 1, bytes: text("x") }]);
    expect(await plane.inspect(cell("k", 0))).toMatchObject([
      { owner: "a", answer: "holds" },
      { owner: "b", answer: "unavailable" },
      { owner: "c", answer: "holds" },
    ]);
    expect(await plane.control.compareAndSet("n", undefined, text("v"))).toMatchObject({ outcome: "written" });
    end();
    tamper.crash("a");
    expect(changed).toHaveBeenCalledTimes(1);
  });

  it("crashing as a thread is OWNER_CRASHED", async () => {
    const { site, tamper } = await tampered();
    const plane = await site.open({ spawn: tamper.spawn });
    tamper.crash("c");
    expect(states(plane)).toEqual(["up", "up", "OWNER_CRASHED"]);
    expect(await plane.write([cell("k", 1)])).toEqual({ count: 2, owners: expect.arrayContaining(["a", "b"]) });
  });

  it("leaves a plane of one: everything is refused at once, reads included", async () => {
    const { site, tamper } = await tampered();
    const plane = await site.open({ spawn: tamper.spawn });
    await plane.write([cell("k", 1)]);
    tamper.crash("b");
    tamper.crash("c");
    const refused = { code: "KV_NO_QUORUM", message: expect.stringContaining("b OWNER_CRASHED, c OWNER_CRASHED") };
    await expect(plane.write([cell("k", 2)])).rejects.toMatchObject(refused);
    await expect(plane.writeWithReceipts([cell("k", 2)])).rejects.toMatchObject(refused);
    await expect(plane.restore([cell("k", 0)])).rejects.toMatchObject(refused);
    await expect(plane.control.read("n")).rejects.toMatchObject(refused);
    await expect(plane.control.list("n")).rejects.toMatchObject(refused);
    await expect(plane.control.compareAndSet("n", undefined, text("v"))).rejects.toMatchObject(refused);
  });

  it("at W = 3 stops writes when one is down", async () => {
    const { site, tamper } = await tampered();
    const plane = await site.open({ spawn: tamper.spawn, writeAcks: 3 });
    expect(await plane.write([cell("k", 1)])).toMatchObject({ count: 3 });
    tamper.crash("b");
    await expect(plane.write([cell("k", 2)])).rejects.toMatchObject({ code: "KV_NO_QUORUM" });
  });
});

describe("a disk that fills up", () => {
  it("takes the owners on it down before LMDB meets it", async () => {
    const { site, tamper } = await tampered();
    const opened = await site.open({ spawn: tamper.spawn });
    await opened.write([cell("k", 1)]);
    await opened.close();
    const { bavail, bsize } = statfsSync(site.root);
    const plane = await site.open({ spawn: tamper.spawn, limits: { freeBytesMin: bavail * bsize * 2 } });
    await expect(plane.write([cell("k", 2)])).rejects.toMatchObject({ code: "KV_NO_QUORUM" });
    await vi.waitFor(() => expect(new Set(states(plane))).toEqual(new Set(["OWNER_DISK_FULL"])));
    await plane.close();
    const again = await site.open();
    expect(await again.restore([cell("k", 0)])).toEqual([{ order: 1, bytes: text("x") }]);
  });
});

describe("a write under way", () => {
  it("resolves at the second ack and not before; the third goes on behind it", async () => {
    const { site, tamper } = await tampered();
    const plane = await site.open({ spawn: tamper.spawn });
    tamper.hold("b");
    tamper.hold("c");
    const write = plane.write([cell("k", 1)]);
    await vi.waitFor(() => expect([tamper.heldCount("b"), tamper.heldCount("c")]).toEqual([1, 1]));
    expect(await settled(write)).toBe(false);
    tamper.letGo("c");
    expect((await write).owners.toSorted()).toEqual(["a", "c"]);
    expect(plane.owners()[1]?.pendingBytes).toBeGreaterThan(0);
    tamper.letGo("b");
    expect(plane.owners()[1]?.pendingBytes).toBe(0);
  });

  it("does not count the ack of an owner that went down before it was acknowledged", async () => {
    const { site, tamper } = await tampered();
    const plane = await site.open({ spawn: tamper.spawn });
    tamper.hold("b");
    tamper.hold("c");
    const write = plane.write([cell("k", 1)]);
    await vi.waitFor(() => expect([tamper.heldCount("b"), tamper.heldCount("c")]).toEqual([1, 1]));
    tamper.crash("a");
    tamper.letGo("b");
    expect(await settled(write)).toBe(false);
    tamper.letGo("c");
    expect(await write).toEqual({ count: 2, owners: ["b", "c"] });
  });

  it("fails at once when it can no longer reach W", async () => {
    const { site, tamper } = await tampered();
    const plane = await site.open({ spawn: tamper.spawn });
    for (const owner of ["a", "b", "c"]) tamper.hold(owner);
    const write = plane.write([cell("k", 1)]);
    const refused = expect(write).rejects.toMatchObject({ code: "KV_NO_QUORUM" });
    await vi.waitFor(() => expect(tamper.sent.filter(({ message }) => message.kind === "write")).toHaveLength(3));
    tamper.crash("a");
    tamper.crash("b");
    await refused;
  });

  it("is waited for by close", async () => {
    const { site, tamper } = await tampered();
    const plane = await site.open({ spawn: tamper.spawn });
    tamper.hold("b");
    tamper.hold("c");
    const write = plane.write([cell("k", 1)]);
    await vi.waitFor(() => expect(tamper.heldCount("c")).toBe(1));
    const closing = plane.close();
    await expect(plane.write([cell("k", 2)])).rejects.toMatchObject({ code: "KV_CLOSED" });
    expect(await settled(closing)).toBe(false);
    tamper.letGo("b");
    tamper.letGo("c");
    expect(await write).toMatchObject({ count: 2 });
    await closing;
    const again = await site.open();
    expect(await again.restore([cell("k", 0)])).toEqual([{ order: 1, bytes: text("x") }]);
  });
});

describe("back-pressure", () => {
  it("lets nobody in while an owner that is up has too much waiting, and all when it goes down", async () => {
    const { site, tamper } = await tampered();
    const plane = await site.open({ spawn: tamper.spawn, limits: { pendingBytes: MIB } });
    tamper.hold("c");
    const body = new Uint8Array(MIB);
    await plane.write([cell("k0", 1, body)]);
    const waiting = [plane.write([cell("k2", 1, body)]), plane.write([cell("k3", 1, body)])];
    const before = tamper.sent.length;
    expect(await Promise.all(waiting.map(settled))).toEqual([false, false]);
    expect(tamper.sent).toHaveLength(before);
    tamper.fail("c", { code: "OWNER_IO", text: "gone" });
    expect(await Promise.all(waiting)).toHaveLength(2);
  });

  it("admits in order, one budget at a time", async () => {
    const { site, tamper } = await tampered();
    const plane = await site.open({ spawn: tamper.spawn, limits: { pendingBytes: MIB } });
    for (const owner of ["a", "b", "c"]) tamper.hold(owner);
    const body = new Uint8Array(MIB);
    const order: number[] = [];
    const writes = [0, 1, 2, 3].map((index) => plane.write([cell(`k${index}`, 1, body)]).then(() => order.push(index)));
    await vi.waitFor(() => expect(tamper.heldCount("a")).toBe(1));
    expect(tamper.sent.filter(({ message }) => message.kind === "write")).toHaveLength(3);
    for (const owner of ["a", "b", "c"]) tamper.letGo(owner);
    await Promise.all(writes);
    expect(order).toEqual([0, 1, 2, 3]);
  });

  it("sends those who wait away when the quorum is gone or the plane is closed", async () => {
    for (const [code, end] of [
      ["KV_NO_QUORUM", (tamper: Tamper) => ["a", "b"].forEach((owner) => tamper.crash(owner))],
      ["KV_CLOSED", (_: Tamper, plane: EmbeddedPlane) => void plane.close()],
    ] as const) {
      const { site, tamper } = await tampered();
      const plane = await site.open({ spawn: tamper.spawn, limits: { pendingBytes: MIB } });
      tamper.hold("c");
      await plane.write([cell("k0", 1, new Uint8Array(2 * MIB))]);
      const refused = expect(plane.write([cell("k1", 1)])).rejects.toMatchObject({ code });
      end(tamper, plane);
      await refused;
      tamper.letGo("c");
    }
  });
});

describe("an owner that hangs", () => {
  it("is taken down after the stall limit, counted from its last answer", async () => {
    const clock = new ManualClock();
    const { site, tamper } = await tampered();
    const plane = await site.open({ spawn: tamper.spawn, clock, limits: { stallMs: 1_000 } });
    await clock.advance(5_000);
    expect(states(plane)).toEqual(["up", "up", "up"]);
    tamper.hold("b");
    await plane.write([cell("k", 1)]);
    await vi.waitFor(() => expect(plane.owners()[2]?.pendingBytes).toBe(0));
    await clock.advance(999);
    expect(states(plane)).toEqual(["up", "up", "up"]);
    await clock.advance(1);
    expect(states(plane)).toEqual(["up", "OWNER_STALLED", "up"]);
    expect(await plane.write([cell("k", 2)])).toEqual({ count: 2, owners: expect.arrayContaining(["a", "c"]) });
  });
});

describe("group commit", () => {
  it("merges writes that wait in one transaction", async () => {
    const { site, tamper } = await tampered();
    const plane = await site.open({ spawn: tamper.spawn });
    tamper.hold("a");
    const writes = Array.from({ length: 50 }, (_, index) => plane.write([cell(`k${index}`, 1)]));
    await Promise.all(writes);
    await vi.waitFor(() => expect(tamper.heldCount("a")).toBeGreaterThan(0));
    tamper.letGo("a");
    await vi.waitFor(() => expect(plane.owners()[0]?.pendingBytes).toBe(0));
    expect(tamper.answers("a", "committed")).toBeLessThan(25);
  });
});
