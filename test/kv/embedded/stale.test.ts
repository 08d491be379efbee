import { afterEach, describe, expect, it, vi } from "vitest";
import type { CellWrite, KvPlane } from "../../../src/ports/kv-plane.ts";
import { spawnBundled } from "./bundled.ts";
import { type Site, bringBack, makeSite, takeAway, text } from "./support.ts";
import { Tamper } from "./tamper.ts";

const sites: Site[] = [];
afterEach(async () => {
  await Promise.all(sites.splice(0).map((site) => site.destroy()));
});

function newSite(): Site {
  const site = makeSite();
  sites.push(site);
  return site;
}

function cell(order: number, key = "k"): CellWrite {
  return { space: "document", key: text(key), order, bytes: text(`value ${order}`) };
}

const orders = async (plane: KvPlane, key = "k"): Promise<(number | undefined)[]> =>
  (await plane.inspect(cell(0, key))).map((answer) => answer.cell?.order);

/** Opens a site while one owner's directory is away, and closes it again. */
async function whileAway(site: Site, index: 0 | 1 | 2, task: (plane: KvPlane) => Promise<void>): Promise<void> {
  takeAway(site, index);
  const plane = await site.open();
  await task(plane);
  await plane.close();
  bringBack(site, index);
}

/** Leaves `value` at owner a alone: the others die before they get it. */
async function strand(site: Site, name: string, expected: string | undefined, value: string): Promise<void> {
  const tamper = new Tamper(await spawnBundled());
  const plane = await site.open({ spawn: tamper.spawn });
  await plane.control.read(name);
  // A start number is written first; the cell after it is the one to strand.
  let writes = 0;
  tamper.onSend = (owner, message) => {
    if (message.kind !== "write") return;
    writes += owner === "a" ? 1 : 0;
    if (owner !== "a" && writes === 2) tamper.crash(owner);
  };
  await expect(plane.control.compareAndSet(name, expected, text(value))).rejects.toMatchObject({
    code: "KV_NO_QUORUM",
  });
  await vi.waitFor(() => expect(plane.owners()[0]).toMatchObject({ state: "up", pendingBytes: 0 }));
  await plane.close();
}

async function written(site: Site, name: string, value: string): Promise<string> {
  const plane = await site.open();
  const outcome = await plane.control.compareAndSet(name, undefined, text(value));
  await plane.close();
  return outcome.outcome === "written" ? outcome.record.tag : "";
}

describe("an owner that missed writes", () => {
  it("is outvoted after a restart, whoever is away now, and is written back before a read is answered", async () => {
    const site = newSite();
    const first = await site.open();
    await first.write([cell(1)]);
    await first.close();
    await whileAway(site, 2, async (plane) => {
      await plane.write([cell(2), cell(7, "other")]);
    });
    await whileAway(site, 0, async (plane) => {
      expect(await orders(plane)).toEqual([undefined, 2, 1]);
      expect(await plane.restore([cell(0), cell(0, "other"), cell(0, "none")])).toMatchObject([
        { order: 2 },
        { order: 7 },
        undefined,
      ]);
      expect(await orders(plane)).toEqual([undefined, 2, 2]);
      expect(await orders(plane, "other")).toEqual([undefined, 7, 7]);
    });
    const whole = await site.open();
    expect(await orders(whole)).toEqual([2, 2, 2]);
  });

  it("does not let a restore answer before the write-back is at W", async () => {
    const site = newSite();
    const first = await site.open();
    await first.write([cell(1)]);
    await first.close();
    await whileAway(site, 2, async (plane) => {
      await plane.write([cell(2)]);
    });
    takeAway(site, 0);
    const tamper = new Tamper(await spawnBundled());
    const plane = await site.open({ spawn: tamper.spawn });
    const restored = plane.restore([cell(0)]);
    tamper.onSend = (owner, message) => {
      if (message.kind === "write" && owner === "c") tamper.crash("c");
    };
    await expect(restored).rejects.toMatchObject({ code: "KV_NO_QUORUM" });
  });

  it("at W = 3 is brought up to three before a read is answered", async () => {
    const site = newSite();
    const first = await site.open();
    await first.write([cell(1)]);
    await first.close();
    await whileAway(site, 1, async (plane) => {
      await plane.write([cell(2)]);
    });
    const plane = await site.open({ writeAcks: 3 });
    expect(await plane.restore([cell(0)])).toMatchObject([{ order: 2 }]);
    expect(await orders(plane)).toEqual([2, 2, 2]);
  });

  it("gives receipts by what R owners hold, and superseded ones only once that is at W", async () => {
    const site = newSite();
    await (await site.open()).close();
    await whileAway(site, 2, async (plane) => {
      await plane.write([cell(5)]);
    });
    await whileAway(site, 0, async (plane) => {
      expect(await plane.writeWithReceipts([cell(5), cell(4), cell(6, "new")])).toEqual([
        { outcome: "already-applied", storedOrder: 5 },
        { outcome: "superseded", storedOrder: 5 },
        { outcome: "applied", storedOrder: 6 },
      ]);
      expect(await orders(plane)).toEqual([undefined, 5, 5]);
    });
  });
});

describe("a control record whose write reached one owner only", () => {
  it("stays lost once a read has missed it", async () => {
    const site = newSite();
    const tag = await written(site, "n", "kept");
    await strand(site, "n", tag, "stranded");
    await whileAway(site, 0, async (plane) => {
      expect(await plane.control.read("n")).toEqual({ tag, value: text("kept") });
    });
    const plane = await site.open();
    expect(await plane.control.read("n")).toEqual({ tag, value: text("kept") });
    expect(await plane.control.compareAndSet("n", tag, text("next"))).toMatchObject({ outcome: "written" });
  });

  it("stays won once a read has met it", async () => {
    const site = newSite();
    const tag = await written(site, "n", "before");
    await strand(site, "n", tag, "met");
    let met: string | undefined;
    await whileAway(site, 2, async (plane) => {
      const record = await plane.control.read("n");
      expect(record?.value).toEqual(text("met"));
      met = record?.tag;
    });
    await whileAway(site, 0, async (plane) => {
      expect(await plane.control.read("n")).toEqual({ tag: met, value: text("met") });
    });
  });

  it("stays absent once a read, or a compare-and-set, has found nothing", async () => {
    for (const look of ["read", "compare-and-set"] as const) {
      const site = newSite();
      await (await site.open()).close();
      await strand(site, "n", undefined, "stranded");
      await whileAway(site, 0, async (plane) => {
        if (look === "read") expect(await plane.control.read("n")).toBeUndefined();
        else expect(await plane.control.compareAndSet("n", "a tag", text("x"))).toMatchObject({ outcome: "conflict" });
      });
      const plane = await site.open();
      expect(await plane.control.list("")).toEqual([]);
      expect(await plane.control.read("n")).toBeUndefined();
    }
  });

  it("is settled by the next read of the same process", async () => {
    const site = newSite();
    const tag = await written(site, "n", "kept");
    const tamper = new Tamper(await spawnBundled());
    const plane = await site.open({ spawn: tamper.spawn, limits: { stallMs: 60_000 } });
    await plane.control.read("n");
    const next = await plane.control.compareAndSet("n", tag, text("kept 2"));
    const nextTag = next.outcome === "written" ? next.record.tag : "";
    // The write is refused although a and b are sent it: c is down already and b dies of it.
    tamper.crash("c");
    expect(await plane.control.read("n")).toEqual({ tag: nextTag, value: text("kept 2") });
    tamper.onSend = (owner, message) => {
      if (owner === "b" && message.kind === "write") tamper.crash("b");
    };
    await expect(plane.control.compareAndSet("n", nextTag, text("unknown"))).rejects.toMatchObject({
      code: "KV_NO_QUORUM",
    });
    await plane.close();
    const again = await site.open();
    const record = await again.control.read("n");
    expect(["kept 2", "unknown"]).toContain(new TextDecoder().decode(record?.value));
    expect(await again.control.read("n")).toEqual(record);
  });

  it("never reuses an order: start numbers grow over restarts, whoever is away", async () => {
    const site = newSite();
    const tags: string[] = [];
    for (const away of [undefined, 0, 1, 2, undefined] as const) {
      const task = async (plane: KvPlane): Promise<void> => {
        const outcome = await plane.control.compareAndSet(`name ${tags.length}`, undefined, text("x"));
        if (outcome.outcome === "written") tags.push(outcome.record.tag);
      };
      if (away === undefined) {
        const plane = await site.open();
        await task(plane);
        await plane.close();
      } else {
        await whileAway(site, away, task);
      }
    }
    const starts = tags.map((tag) => Number(tag.split(".")[0]));
    expect(starts).toEqual([1, 2, 3, 4, 5]);
  });
});
