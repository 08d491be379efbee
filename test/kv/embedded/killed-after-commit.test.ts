import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it, vi } from "vitest";
import { bundle, spawnFrom } from "./bundled.ts";
import { ownerOf, reasonOf } from "./load.ts";
import { type Site, makeSite, text } from "./support.ts";

/** What `owner-dying.ts` waits for; importing it would start an owner. */
const DIE = "die-after-commit";
const WAIT = { timeout: 10_000, interval: 5 };
const sites: Site[] = [];
afterEach(async () => {
  await Promise.all(sites.splice(0).map((site) => site.destroy()));
});

it("an owner killed between a commit and its answer comes back as it was, with all that it committed", async () => {
  const site = makeSite();
  sites.push(site);
  const owner = await bundle(fileURLToPath(new URL("./owner-dying.ts", import.meta.url)), "owner-dying");
  const plane = await site.open({
    spawn: spawnFrom(owner),
    limits: { retryInitialMs: 10, retryMaxMs: 50, compareSoonMs: 3_600_000 },
  });
  const reasons = new Set<string>();
  plane.onChange(() => reasons.add(reasonOf(plane, "b")));
  const cells = (order: number) =>
    Array.from({ length: 50 }, (_, index) => ({
      space: "slot" as const,
      key: text(`key-${index}`),
      order,
      bytes: text(`value ${order}`),
    }));
  for (let order = 1; order <= 4; order += 1) await plane.write(cells(order));
  await vi.waitFor(() => expect(ownerOf(plane, "b").pendingBytes).toBe(0), WAIT);
  const { incarnation } = ownerOf(plane, "b");
  const order = join(site.directories[1], DIE);
  writeFileSync(order, "");
  expect((await plane.write(cells(5))).owners.toSorted()).toEqual(["a", "c"]);
  await vi.waitFor(() => expect([...reasons]).toContain("OWNER_CRASHED"), WAIT);
  expect(existsSync(order)).toBe(false);
  await vi.waitFor(() => expect(reasonOf(plane, "b")).toBe("up"), WAIT);
  expect([...reasons]).not.toContain("OWNER_CORRUPT");
  expect(ownerOf(plane, "b").incarnation).toBe(incarnation);
  for (const cell of cells(5)) {
    const answers = await plane.inspect(cell);
    expect(answers.map((answer) => answer.cell?.order)).toEqual([5, 5, 5]);
  }
  await plane.write(cells(6));
}, 30_000);
