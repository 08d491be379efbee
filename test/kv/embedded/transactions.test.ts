import { afterEach, expect, it, vi } from "vitest";
import { MIB, makeSite, text } from "./support.ts";
import { spawnBundled } from "./bundled.ts";
import { Tamper } from "./tamper.ts";

const WAIT = { timeout: 20_000, interval: 2 };
const sites: ReturnType<typeof makeSite>[] = [];
afterEach(async () => {
  await Promise.all(sites.splice(0).map((site) => site.destroy()));
});

/** A plane, and the transactions that owner a has flushed, by the acknowledgement that said so. */
async function openCounted() {
  const site = makeSite();
  sites.push(site);
  const tamper = new Tamper(await spawnBundled());
  const flushed: { readonly through: number; readonly transaction: number }[] = [];
  tamper.onAnswer = (owner, message) => {
    if (owner === "a" && message.kind === "committed") flushed.push(message);
  };
  const plane = await site.open({ spawn: tamper.spawn, limits: { mapSizeBytes: 1024 * MIB } });
  await vi.waitFor(() => expect(plane.owners()[0]?.state).toBe("up"), WAIT);
  // An empty write changes nothing, and tells where the owner stands.
  const standing = async (): Promise<number> => {
    const told = flushed.length;
    await plane.write([]);
    await vi.waitFor(() => {
      expect(plane.owners()[0]).toMatchObject({ state: "up", pendingBytes: 0 });
      expect(flushed.length).toBeGreaterThan(told);
    }, WAIT);
    return flushed.at(-1)?.transaction ?? 0;
  };
  return { plane, standing, flushed };
}

it("makes one transaction of a batch that travels in several messages", async () => {
  const { plane, standing } = await openCounted();
  const before = await standing();
  const body = new Uint8Array(1_024).fill(1);
  // Several chunks, each of which arrives in many parts.
  const batch = Array.from({ length: 2_000 }, (_, index) => ({
    space: "document" as const,
    key: text(`key-${(index * 7_919) % 2_000}`),
    order: 1,
    bytes: body,
  }));
  await plane.write(batch);
  expect((await standing()) - before).toBe(1);
});

it("makes several of a batch that would need too much memory for one, and acknowledges it after the last", async () => {
  const { plane, standing, flushed } = await openCounted();
  const before = await standing();
  const earlier = flushed.at(-1)?.through ?? 0;
  const batch = Array.from({ length: 70_000 }, (_, index) => ({
    space: "slot" as const,
    key: text(`key-${(index * 7_919) % 70_000}`),
    order: 1,
    bytes: text(`${index}`),
  }));
  await plane.write(batch);
  const after = await standing();
  expect(after - before).toBeGreaterThanOrEqual(3);
  expect(after - before).toBeLessThan(35);
  const parts = flushed.filter(({ transaction }) => transaction > before);
  expect(parts.filter(({ through }) => through === earlier).length).toBeGreaterThanOrEqual(2);
  expect(parts.find(({ through }) => through > earlier)?.transaction).toBe(after);
  // What changes nothing needs no memory, and no transaction.
  await plane.write(batch);
  expect(await standing()).toBe(after);
});
