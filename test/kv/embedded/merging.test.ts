import { afterEach, expect, it, vi } from "vitest";
import type { SpawnOwner } from "../../../src/kv/embedded/owner-process.ts";
import type { ToOwner } from "../../../src/kv/embedded/protocol.ts";
import type { KvPlane } from "../../../src/ports/kv-plane.ts";
import type { PlaneHarness } from "../contract.ts";
import { cell, freshKey } from "../contract/cells.ts";
import { openHarness, promptOwners } from "./harness.ts";

let harness: PlaneHarness | undefined;
afterEach(async () => harness?.destroy());

/** Owners in memory, one of which answers some requests as done without having done them. */
function lyingOwners(lies: (owner: string, message: ToOwner) => boolean): SpawnOwner {
  const spawn = promptOwners();
  return (setup, events) => {
    const process = spawn(setup, events);
    return {
      kill: () => process.kill(),
      send: (message, body, written) => process.send(message, lies(setup.owner, message) ? [] : body, written),
    };
  };
}

async function opened(spawn: SpawnOwner): Promise<KvPlane> {
  harness = await openHarness(2, 1_000, spawn);
  return harness.plane;
}

async function ordersOfB(plane: KvPlane, keys: readonly Uint8Array[]): Promise<readonly (number | undefined)[]> {
  const answers = await Promise.all(keys.map((key) => plane.inspect({ space: "document", key })));
  return answers.map((each) => each.find(({ owner }) => owner === "b")?.cell?.order);
}

it("looks at everything once more before an owner counts, and merges again what was not there", async () => {
  let lied = 0;
  const plane = await opened(
    lyingOwners((owner, message) => {
      const lies = owner === "b" && message.kind === "absorb" && lied < 2;
      if (lies) lied += 1;
      return lies;
    }),
  );
  const keys = Array.from({ length: 5 }, freshKey);
  await plane.write(keys.map((key) => cell(key, 3, "three")));
  await harness?.owners?.wipe("b");
  await plane.repair("b", false);
  await harness?.owners?.whenUp("b");
  expect(lied).toBe(2);
  expect(await ordersOfB(plane, keys)).toEqual([3, 3, 3, 3, 3]);
});

it("never counts an owner that goes on lacking what the others hold", async () => {
  const plane = await opened(lyingOwners((owner, message) => owner === "b" && message.kind === "absorb"));
  await plane.write([cell(freshKey(), 3, "three")]);
  await harness?.owners?.wipe("b");
  const states = new Set<string>();
  plane.onChange(() => states.add(plane.owners().find(({ owner }) => owner === "b")?.state ?? ""));
  await plane.repair("b", false);
  const failed = (): unknown => plane.owners().find(({ owner }) => owner === "b")?.reason?.code;
  await vi.waitFor(() => expect(failed()).toBe("OWNER_FAILED"), { timeout: 10_000, interval: 1 });
  expect(states.has("up")).toBe(false);
});

it("is sent what is written while it merges, up to the end", async () => {
  const keys = Array.from({ length: 8 }, freshKey);
  const acks: Promise<unknown>[] = [];
  let merging = false;
  const plane: KvPlane = await opened(
    lyingOwners((owner, message) => {
      // Each look at the others is followed by a write that the look did not meet.
      const key = keys[acks.length];
      if (merging && owner === "b" && message.kind === "digest" && key !== undefined) {
        acks.push(plane.write([cell(key, 4, "four")]));
      }
      return false;
    }),
  );
  await plane.write([cell(freshKey(), 3, "three")]);
  await harness?.owners?.wipe("b");
  merging = true;
  await plane.repair("b", false);
  await harness?.owners?.whenUp("b");
  expect(acks.length).toBeGreaterThan(1);
  await Promise.all(acks);
  expect(await ordersOfB(plane, keys.slice(0, acks.length))).toEqual(acks.map(() => 4));
});
