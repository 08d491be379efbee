import * as fc from "fast-check";
import { afterEach, expect, it, vi } from "vitest";
import type { EmbeddedPlane } from "../../../src/kv/embedded/plane.ts";
import { type CellWrite, KvFault } from "../../../src/ports/kv-plane.ts";
import { spawnBundled } from "./bundled.ts";
import { later, ownerOf, reasonOf } from "./load.ts";
import { LIMITS, NAMES, WAIT, atEnd, endScenes } from "./scene.ts";
import { MIB, makeSite, text } from "./support.ts";
import { Tamper } from "./tamper.ts";

afterEach(endScenes);

/** One stretch of writes: how many keys and bytes a batch has, so that spans grow, split and are written over meanwhile. */
const stretch = fc.record({
  cells: fc.integer({ min: 1, max: 60 }),
  bytes: fc.constantFrom(10, 300, 20_000),
  keys: fc.constantFrom(5, 200),
  deaf: fc.constantFrom("b", "c"),
});

it("a walk under live writes changes only who missed something, and that is then the same", async () => {
  const site = makeSite();
  atEnd(() => site.destroy());
  const tamper = new Tamper(await spawnBundled());
  const plane = await site.open({
    spawn: tamper.spawn,
    limits: { ...LIMITS, pendingBytes: 16 * MIB, compareBytesPerSecond: 1024 * MIB },
  });
  const untilUp = (name: string): Promise<void> =>
    vi.waitFor(() => expect(reasonOf(plane, name)).toBe("up"), { ...WAIT });
  let order = 0;
  await fc.assert(
    fc.asyncProperty(stretch, async ({ deaf, ...shape }) => {
      const state = { order, stop: false };
      const writing = [writeOn(plane, shape, state), writeOn(plane, shape, state)];
      tamper.onSend = (name, message) => (name === deaf && message.kind === "write" ? "drop" : undefined);
      const missedFrom = state.order;
      await vi.waitFor(() => expect(state.order).toBeGreaterThan(missedFrom + 4), WAIT);
      // What it did not hear it cannot have flushed: its process is the one that lacks it, not the plane's idea of it.
      tamper.crash(deaf);
      tamper.onSend = () => undefined;
      await untilUp(deaf);
      await plane.compareOwners();
      await plane.compareOwners();
      for (const name of NAMES) expect([name, ownerOf(plane, name).compared?.missed]).toEqual([name, 0]);
      for (const { owner, missed } of tamper.changes.splice(0)) if (missed > 0) expect(owner).toBe(deaf);
      state.stop = true;
      await Promise.all(writing);
      order = state.order;
    }),
    { numRuns: 6, seed: 11 },
  );
}, 60_000);

async function writeOn(
  plane: EmbeddedPlane,
  { cells, bytes, keys }: { readonly cells: number; readonly bytes: number; readonly keys: number },
  state: { order: number; stop: boolean },
): Promise<void> {
  while (!state.stop) {
    state.order += 1;
    const { order } = state;
    const batch = Array.from({ length: cells }, (_, index): CellWrite => ({
      space: "document",
      key: text(`key-${(order * 31 + index * 17) % keys}`),
      order,
      bytes: new Uint8Array(Buffer.alloc(bytes, `${order}-${index};`)),
    }));
    try {
      await plane.write(batch);
    } catch (error) {
      if (!(error instanceof KvFault)) throw error;
    }
    await later(0);
  }
}
