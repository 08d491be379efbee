import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { SpawnOwner } from "../../../src/kv/embedded/owner-process.ts";
import type { ToOwner } from "../../../src/kv/embedded/protocol.ts";
import { DATA_FILE } from "../../../src/kv/embedded/store-file.ts";
import type { KvPlane, OwnerStatus } from "../../../src/ports/kv-plane.ts";
import type { PlaneHarness } from "../contract.ts";
import { cell, freshKey, text } from "../contract/cells.ts";
import { openHarness, promptOwners } from "./harness.ts";
import { type Site, makeSite } from "./support.ts";
import { Tamper } from "./tamper.ts";

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

describe("an owner that dies and returns between two spans", () => {
  const WAIT = { timeout: 10_000, interval: 1 };
  const keys = ["k1", "k2", "k3"].map(text);

  /** B merges one cell in a tenth of a second. */
  async function slowly(): Promise<{
    readonly site: Site;
    readonly tamper: Tamper;
    readonly plane: KvPlane;
    readonly b: () => OwnerStatus | undefined;
  }> {
    const site = makeSite();
    const tamper = new Tamper(promptOwners(100));
    const limits = { retryInitialMs: 1, retryMaxMs: 5, compareSoonMs: 3_600_000, mergeBytesPerSecond: 4_000 };
    const plane = await site.open({ spawn: tamper.spawn, limits });
    await plane.write(keys.map((key) => cell(key, 1, new Uint8Array(400))));
    tamper.crash("b");
    rmSync(join(site.directories[1], DATA_FILE));
    const b = (): OwnerStatus | undefined => plane.owners().find(({ owner }) => owner === "b");
    await vi.waitFor(() => expect(b()?.state).toBe("lost"), WAIT);
    await plane.repair("b", false);
    return { site, tamper, plane, b };
  }

  it("is merged from the beginning, for what it missed meanwhile", async () => {
    const { site, tamper, plane, b } = await slowly();
    await vi.waitFor(() => expect(b()?.merge).toMatchObject({ phase: "check", cells: 1 }), WAIT);
    tamper.crash("b");
    await plane.write([cell(text("k0"), 7, "meanwhile")]);
    await vi.waitFor(() => expect(b()?.state).toBe("up"), WAIT);
    expect(await ordersOfB(plane, [text("k0"), ...keys])).toEqual([7, 1, 1, 1]);
    await site.destroy();
  });

  it("is not merged from once its own acks are void, until an operator accepts the loss", async () => {
    const { site, tamper, plane, b } = await slowly();
    await vi.waitFor(() => expect(b()?.merge).toMatchObject({ phase: "copy", cells: 1 }), WAIT);
    tamper.fail("c", { code: "OWNER_IO", text: "Input/output error" });
    await vi.waitFor(
      () => expect(plane.owners().map(({ state }) => state)).toEqual(["up", "merging", "merging"]),
      WAIT,
    );
    await vi.waitFor(() => expect(b()?.merge?.phase).toBe("waiting"), WAIT);
    await plane.repair("b", true);
    await vi.waitFor(() => expect(plane.owners().map(({ state }) => state)).toEqual(["up", "up", "up"]), WAIT);
    expect(await ordersOfB(plane, keys)).toEqual([1, 1, 1]);
    await site.destroy();
  });
});
