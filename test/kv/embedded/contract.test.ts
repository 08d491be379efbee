import { expect, it } from "vitest";
import { CELL_OVERHEAD_BYTES } from "../../../src/core/cell.ts";
import { spawnOwnerProcess } from "../../../src/kv/embedded/owner-process.ts";
import { describePlaneContract } from "../contract.ts";
import { cell, freshKey, held } from "../contract/cells.ts";
import { spawnBundled } from "./bundled.ts";
import { openHarness, promptOwners } from "./harness.ts";
import { MIB, makeSite } from "./support.ts";

/** Bodies of owners in memory: some take several messages. */
const SMALL = MIB / 4;

for (const writeAcks of [2, 3] as const) {
  describePlaneContract({
    name: `embedded, owners in memory, W = ${writeAcks}`,
    writeAcks,
    valueBytesMax: SMALL + CELL_OVERHEAD_BYTES,
    manyCells: 2_000,
    thorough: true,
    open: () => openHarness(writeAcks, SMALL, promptOwners()),
  });
}

describePlaneContract({
  name: "embedded, W = 2",
  writeAcks: 2,
  valueBytesMax: 8 * MIB + CELL_OVERHEAD_BYTES,
  manyCells: 100_000,
  thorough: false,
  open: async () => openHarness(2, 8 * MIB, await spawnBundled()),
});

it("starts its owners from where it is itself", async () => {
  const site = makeSite();
  const plane = await site.open({ spawn: spawnOwnerProcess });
  const key = freshKey();
  await plane.write([cell(key, 1, "x")]);
  expect((await held(plane, key))?.order).toBe(1);
  await site.destroy();
});
