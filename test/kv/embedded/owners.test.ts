import { afterEach, expect, it } from "vitest";
import { runOwners } from "./owners-run.ts";
import { endScenes } from "./scene.ts";
import { noDisks } from "./small-disks.ts";

afterEach(endScenes);

it("5,000 writes while owners fill up, are wiped, corrupted and frozen: nothing is lost, and the three end equal", async () => {
  const figures = await runOwners({
    writes: 5_000,
    keys: 2_000,
    writers: 8,
    faults: [
      ["a", noDisks === undefined ? "full" : "killed"],
      ["b", "wiped"],
      ["c", "corrupted"],
      ["a", "frozen"],
    ],
  });
  expect(figures.writes).toBeGreaterThanOrEqual(5_000);
  expect(figures.mainRssAnonMiBMax).toBeLessThan(512);
  expect(figures.ownerRssAnonMiBMax).toBeLessThan(256);
}, 60_000);
