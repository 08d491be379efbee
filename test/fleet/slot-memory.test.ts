import { expect, it } from "vitest";
import { SlotCache, UNKNOWN_SLOT } from "../../src/core/counting/slot-cache.ts";
import { Tally } from "../../src/core/counting/tally.ts";
import { SlotMemory } from "../../src/fleet/slot-memory.ts";

const FAMILY = { name: "counters", values: 1, wide: false, visitors: false };

/** Counts into `count` slots, all at W. */
function fill(cache: SlotCache, count: number): void {
  const tally = new Tally([FAMILY]);
  for (let index = 0; index < count; index += 1) {
    tally.begin(index);
    tally.open({ bytes: Uint8Array.of(index >>> 8, index & 0xff), hash: index });
    tally.select(0);
  }
  for (let entry = 0; entry < tally.size; entry += 1) {
    cache.keep(1, tally, entry, UNKNOWN_SLOT, Uint8Array.of(1, 1, 1, 0), entry, 0);
  }
}

it("who comes makes the others smaller at once, also one that is idle", () => {
  const memory = new SlotMemory(64_000);
  const first = new SlotCache(memory.shareBytes);
  const leave = memory.join(() => first.trim(memory.shareBytes));
  fill(first, 150);
  first.trim(memory.shareBytes);
  expect(first.size).toBe(150);
  const others = Array.from({ length: 15 }, () => memory.join(() => undefined));
  expect(memory.shareBytes).toBe(4_000);
  expect(first.byteLength).toBeLessThanOrEqual(4_000);
  for (const end of [leave, ...others, leave]) end();
  expect(memory.shareBytes).toBe(64_000);
});
