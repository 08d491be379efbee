import { existsSync, readFileSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { EmbeddedPlane } from "../../../src/kv/embedded/plane.ts";
import type { CellWrite, OwnerStatus } from "../../../src/ports/kv-plane.ts";
import { spawnBundled } from "./bundled.ts";
import { type Site, bringBack, makeSite, takeAway, text } from "./support.ts";
import { Tamper } from "./tamper.ts";

const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(ending.splice(0).map((end) => end()));
});

const WAIT = { timeout: 15_000, interval: 10 };
/** Owners come back at once, and are not compared unless a test asks for it. */
const LIMITS = { retryInitialMs: 10, retryMaxMs: 50, compareSoonMs: 3_600_000 };

async function opened(): Promise<{ readonly site: Site; readonly tamper: Tamper; readonly plane: EmbeddedPlane }> {
  const site = makeSite();
  const tamper = new Tamper(await spawnBundled());
  ending.push(() => site.destroy());
  return { site, tamper, plane: await site.open({ spawn: tamper.spawn, limits: LIMITS }) };
}

function cells(order: number, from = 0, to = 50): CellWrite[] {
  return Array.from({ length: to - from }, (_, index) => ({
    space: "document" as const,
    key: text(`key-${from + index}`),
    order,
    bytes: text(`value ${order}`),
  }));
}

function owner(plane: EmbeddedPlane, name: string): OwnerStatus | undefined {
  return plane.owners().find((status) => status.owner === name);
}

async function untilUp(plane: EmbeddedPlane, name: string): Promise<void> {
  await vi.waitFor(() => expect(owner(plane, name)?.state).toBe("up"), WAIT);
}

/** Orders that one owner holds of `count` keys; 0 is absent. */
async function ordersOf(plane: EmbeddedPlane, name: string, count = 50): Promise<ReadonlySet<number>> {
  const orders = new Set<number>();
  for (const address of cells(0, 0, count)) {
    const answers = await plane.inspect(address);
    orders.add(answers.find((answer) => answer.owner === name)?.cell?.order ?? 0);
  }
  return orders;
}

describe("an owner whose data is whole", () => {
  it("comes back by itself after a crash, as the same incarnation, and catches up with what it missed", async () => {
    const { plane, tamper } = await opened();
    await plane.write(cells(1));
    await vi.waitFor(() => expect(owner(plane, "b")?.pendingBytes).toBe(0), WAIT);
    const { incarnation } = owner(plane, "b") ?? {};
    tamper.crash("b");
    expect(owner(plane, "b")).toMatchObject({ state: "down", reason: { code: "OWNER_CRASHED" } });
    await plane.write(cells(2));
    await untilUp(plane, "b");
    expect(owner(plane, "b")).toMatchObject({ incarnation });
    expect(await ordersOf(plane, "b")).toEqual(new Set([1]));
    await plane.compareOwners();
    expect(await ordersOf(plane, "b")).toEqual(new Set([2]));
    expect(owner(plane, "b")?.compared).toMatchObject({ missed: 50 });
    expect(owner(plane, "a")?.compared).toMatchObject({ missed: 0 });
  });

  it("is looked at again within seconds while too few are up, however often it failed before", async () => {
    const site = makeSite();
    ending.push(() => site.destroy());
    const tamper = new Tamper(await spawnBundled());
    const plane = await site.open({
      spawn: tamper.spawn,
      limits: { ...LIMITS, retryInitialMs: 3_600_000, retryMaxMs: 3_600_000 },
    });
    tamper.crash("a");
    expect(owner(plane, "a")?.state).toBe("down");
    tamper.crash("b");
    await untilUp(plane, "b");
    expect(owner(plane, "a")?.state).toBe("down");
  });

  it("lets a plane without a quorum go on by itself", async () => {
    const { plane, tamper } = await opened();
    tamper.crash("b");
    tamper.crash("c");
    await expect(plane.write(cells(1))).rejects.toMatchObject({ code: "KV_NO_QUORUM" });
    await untilUp(plane, "b");
    await untilUp(plane, "c");
    expect(await plane.write(cells(1))).toMatchObject({ count: expect.any(Number) });
  });
});

describe("an owner whose directory is emptied while it runs", () => {
  it("stops to acknowledge, is lost, is not adopted by itself, and is repaired on request", async () => {
    const { plane, site } = await opened();
    await plane.write(cells(1));
    const before = owner(plane, "b")?.incarnation;
    for (const name of readdirSync(site.directories[1])) rmSync(join(site.directories[1], name));
    expect((await plane.write(cells(2))).owners.toSorted()).toEqual(["a", "c"]);
    await vi.waitFor(
      () => expect(owner(plane, "b")).toMatchObject({ state: "lost", reason: { code: "OWNER_EMPTY" } }),
      WAIT,
    );
    await plane.repair("b", false);
    await untilUp(plane, "b");
    expect(owner(plane, "b")?.incarnation).not.toBe(before);
    expect(await ordersOf(plane, "b")).toEqual(new Set([2]));
    await plane.close();
    const again = await site.open({ limits: LIMITS });
    expect(again.owners().map(({ state }) => state)).toEqual(["up", "up", "up"]);
  });

  it("is noticed, also while nothing is written", async () => {
    const { plane, site } = await opened();
    await plane.write(cells(1));
    await plane.close();
    const idle = await site.open({ limits: { ...LIMITS, pulseMs: 20 } });
    for (const name of readdirSync(site.directories[2])) rmSync(join(site.directories[2], name));
    await vi.waitFor(
      () => expect(owner(idle, "c")).toMatchObject({ state: "lost", reason: { code: "OWNER_EMPTY" } }),
      WAIT,
    );
  });

  it("is refused its old disk, once it was repaired onto another: that one merges first", async () => {
    const { plane, site } = await opened();
    await plane.write(cells(1));
    await plane.close();
    takeAway(site, 1);
    const without = await site.open({ limits: LIMITS });
    await without.write(cells(2));
    await without.repair("b", false);
    await untilUp(without, "b");
    const { incarnation } = owner(without, "b") ?? {};
    await without.close();
    bringBack(site, 1);
    const tamper = new Tamper(await spawnBundled());
    const again = await site.open({ spawn: tamper.spawn, limits: LIMITS });
    expect(owner(again, "b")).toMatchObject({ state: "down", reason: { code: "OWNER_STALE" } });
    await untilUp(again, "b");
    expect(owner(again, "b")).toMatchObject({ incarnation });
    expect(await ordersOf(again, "b")).toEqual(new Set([2]));
  });
});

describe("repairing", () => {
  it("is refused for an owner that is up, an unknown one, and while another is down", async () => {
    const { plane, tamper, site } = await opened();
    const refused = { code: "KV_REPAIR_REFUSED" };
    await expect(plane.repair("b", false)).rejects.toMatchObject(refused);
    await expect(plane.repair("z", false)).rejects.toMatchObject({ code: "KV_OWNER_UNKNOWN" });
    tamper.onSend = () => undefined;
    await plane.close();
    takeAway(site, 1);
    takeAway(site, 2);
    const alone = await site.open({ limits: LIMITS });
    await expect(alone.repair("b", false)).rejects.toMatchObject(refused);
  });

  it("that is refused for lack of room has changed nothing", async () => {
    const { plane, site } = await opened();
    await plane.write(cells(1));
    await plane.close();
    const file = join(site.directories[1], "data.mdb");
    writeFileSync(file, "no store");
    const { bavail, bsize } = statfsSync(site.root);
    const full = await site.open({ limits: { ...LIMITS, freeBytesMin: bavail * bsize * 2 } });
    expect(owner(full, "b")).toMatchObject({ reason: { code: "OWNER_CORRUPT" } });
    await expect(full.repair("b", false)).rejects.toMatchObject({ message: expect.stringContaining("bytes are free") });
    expect(readFileSync(file, "utf8")).toBe("no store");
    expect(readdirSync(site.directories[1])).not.toContain("set-aside-1.mdb");
    expect(owner(full, "b")).toMatchObject({ reason: { code: "OWNER_CORRUPT" } });
  });

  it.each(["a", "c"])(
    "takes both others: what %s alone of them missed, and the lost life acknowledged, is not lost",
    async (late) => {
      const { plane, site, tamper } = await opened();
      // 1. One misses a write that b and the other acknowledge. 2. b is lost. 3. b is made anew: that one alone would not know the write.
      tamper.onSend = (name, message) => (name === late && message.kind === "write" ? "drop" : undefined);
      expect((await plane.write(cells(7))).owners.toSorted()).not.toContain(late);
      tamper.onSend = () => undefined;
      tamper.crash(late);
      await plane.close();
      takeAway(site, 1);
      const again = await site.open({ limits: LIMITS });
      expect(await ordersOf(again, late)).toEqual(new Set([0]));
      await again.repair("b", false);
      await untilUp(again, "b");
      expect(await ordersOf(again, "b")).toEqual(new Set([7]));
    },
  );

  it("sets what was there aside and removes it at the end", async () => {
    const { plane, site, tamper } = await opened();
    await plane.write(cells(1));
    tamper.fail("b", { code: "OWNER_CORRUPT", text: "a cell fails its checksum" });
    await plane.write(cells(2));
    await plane.repair("b", false);
    expect(readdirSync(site.directories[1])).toContain("set-aside-1.mdb");
    await untilUp(plane, "b");
    expect(await ordersOf(plane, "b")).toEqual(new Set([2]));
    await vi.waitFor(() => expect(existsSync(join(site.directories[1], "set-aside-1.mdb"))).toBe(false), WAIT);
  });

  it("with accepted loss takes what one owner has, when two are lost", async () => {
    const { plane, site } = await opened();
    await plane.write(cells(1));
    await plane.close();
    takeAway(site, 1);
    takeAway(site, 2);
    const alone = await site.open({ limits: LIMITS });
    await alone.repair("b", true);
    await untilUp(alone, "b");
    // It may be looked at just then, and is refused with "try again".
    await vi.waitFor(() => alone.repair("c", false), WAIT);
    await untilUp(alone, "c");
    expect(await ordersOf(alone, "c")).toEqual(new Set([1]));
  });
});

describe("a new incarnation", () => {
  it("is sent writes while it merges, and counts for none of them", async () => {
    const { plane, tamper, site } = await opened();
    await plane.write(cells(1));
    await plane.close();
    takeAway(site, 1);
    const merging = await site.open({ spawn: tamper.spawn, limits: LIMITS });
    tamper.onSend = (name, message) => (name === "c" && message.kind === "digest" ? "drop" : undefined);
    await merging.repair("b", false);
    await vi.waitFor(() => expect(owner(merging, "b")?.state).toBe("merging"), WAIT);
    expect((await merging.write(cells(2, 0, 5))).owners.toSorted()).toEqual(["a", "c"]);
    tamper.hold("c");
    const late = merging.write(cells(3, 0, 5));
    await vi.waitFor(() => expect(tamper.heldCount("c")).toBeGreaterThan(0), WAIT);
    await vi.waitFor(() => expect(owner(merging, "b")?.pendingBytes).toBe(0), WAIT);
    expect(await Promise.race([late, Promise.resolve("waits")])).toBe("waits");
    tamper.letGo("c");
    expect((await late).owners.toSorted()).toEqual(["a", "c"]);
    tamper.crash("c");
    tamper.onSend = () => undefined;
    await untilUp(merging, "b");
    expect(await ordersOf(merging, "b", 5)).toEqual(new Set([3]));
  });

  it("goes on merging after the process died in the middle of it", async () => {
    const { plane, tamper, site } = await opened();
    await plane.write(cells(1));
    await plane.close();
    takeAway(site, 1);
    const first = await site.open({ spawn: tamper.spawn, limits: LIMITS });
    tamper.onSend = (name, message) => (name === "b" && message.kind === "absorb" ? "drop" : undefined);
    await first.repair("b", false);
    await vi.waitFor(() => expect(owner(first, "b")?.state).toBe("merging"), WAIT);
    tamper.crash("b");
    await first.close();
    const again = await site.open({ limits: LIMITS });
    expect(owner(again, "b")?.state).not.toBe("up");
    await untilUp(again, "b");
    expect(await ordersOf(again, "b")).toEqual(new Set([1]));
  });

  it("follows a failed flush: what was acknowledged before it is void", async () => {
    const { plane, tamper } = await opened();
    await plane.write(cells(1));
    const before = owner(plane, "b")?.incarnation;
    tamper.fail("b", { code: "OWNER_IO", text: "Input/output error" });
    await plane.write(cells(2));
    await untilUp(plane, "b");
    expect(owner(plane, "b")?.incarnation).not.toBe(before);
    expect(await ordersOf(plane, "b")).toEqual(new Set([2]));
  });

  it("is known to whoever was up then, also when those who are up now never heard of it", async () => {
    const { site, plane } = await opened();
    await plane.write(cells(1));
    const before = owner(plane, "b")?.incarnation;
    await plane.close();
    // 1. While a is away, b is void, and c alone is told.
    takeAway(site, 0);
    const tamper = new Tamper(await spawnBundled());
    const first = await site.open({ spawn: tamper.spawn, limits: LIMITS });
    tamper.fail("b", { code: "OWNER_IO", text: "Input/output error" });
    await vi.waitFor(() => expect(tamper.answers("c", "identified")).toBeGreaterThan(0), WAIT);
    await first.close();
    // 2. Without c, nobody knows.
    bringBack(site, 0);
    takeAway(site, 2);
    const second = await site.open({ limits: LIMITS });
    expect(owner(second, "b")).toMatchObject({ state: "up", incarnation: before });
    // 3. c comes back.
    bringBack(site, 2);
    await untilUp(second, "c");
    await vi.waitFor(() => expect(owner(second, "b")?.incarnation).not.toBe(before), WAIT);
    await untilUp(second, "b");
    expect(await ordersOf(second, "b")).toEqual(new Set([1]));
  });
});
