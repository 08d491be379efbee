import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { DATA_FILE } from "../../../src/kv/embedded/store-file.ts";
import { ownerOf, reasonOf } from "./load.ts";
import { isRunning, ownerPids } from "./owner-pids.ts";
import { NAMES, type Scene, WAIT, endScenes, newScene } from "./scene.ts";
import { text } from "./support.ts";

afterEach(endScenes);

const address = { space: "document", key: text("k") } as const;

async function opened(): Promise<Scene> {
  const scene = await newScene();
  await scene.open();
  return scene;
}

async function untilReason(scene: Scene, name: "a" | "b" | "c", code: string): Promise<void> {
  await vi.waitFor(() => expect(reasonOf(scene.plane, name)).toBe(code), WAIT);
}

describe("at one order", () => {
  it("a read prefers what the owners prefer: the longer of two, where one begins the other", async () => {
    const scene = await opened();
    const { plane, tamper } = scene;
    // The sums that follow the bytes must not decide; some of these would.
    for (let index = 0; index < 8; index += 1) {
      const key = text(`k${index}`);
      tamper.onSend = (name, message) => (name === "a" && message.kind === "write" ? "drop" : undefined);
      await plane.write([{ ...address, key, order: 1, bytes: text("value and more") }]);
      tamper.onSend = (name, message) => (name !== "a" && message.kind === "write" ? "drop" : undefined);
      const flushed = tamper.answers("a", "committed");
      void plane.write([{ ...address, key, order: 1, bytes: text("value") }]).catch(() => undefined);
      await vi.waitFor(() => expect(tamper.answers("a", "committed")).toBeGreaterThan(flushed), WAIT);
      tamper.onSend = () => undefined;
      tamper.hold("c");
      const [cell] = await plane.restore([{ ...address, key }]);
      tamper.letGo("c");
      expect(cell?.bytes).toEqual(text("value and more"));
    }
  });
});

describe("an owner that comes back", () => {
  it("has one process at a time, however slow its disk is at beginning to merge", async () => {
    const scene = await opened();
    const { plane, tamper } = scene;
    let identifies = 0;
    let spawned: number | undefined;
    tamper.onSend = (name, message) => {
      if (name !== "b" || message.kind !== "identify") return undefined;
      identifies += 1;
      if (identifies > 1) return undefined;
      spawned = tamper.spawned.get("b");
      tamper.hold("b");
      return undefined;
    };
    tamper.fail("b", { code: "OWNER_IO", text: "Input/output error" });
    await vi.waitFor(() => expect(tamper.heldCount("b")).toBe(1), WAIT);
    await expect(plane.repair("b", false)).rejects.toMatchObject({ code: "KV_REPAIR_REFUSED" });
    // Several times as long as until an owner is looked at again.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(tamper.spawned.get("b")).toBe(spawned);
    tamper.letGo("b");
    scene.load.start();
    await scene.untilUp("b");
    expect(ownerPids(scene.directory("b"))).toHaveLength(1);
    await scene.finish();
  });

  it("and dies at each message on its way is looked at again", async () => {
    const scene = await opened();
    const { tamper } = scene;
    scene.load.start();
    await scene.load.passes(10);
    const kinds = new Set(["identify", "digest", "scan", "absorb"]);
    const met = new Set<string>();
    tamper.onSend = (name, message) => {
      if (name !== "b" || !kinds.has(message.kind) || met.has(message.kind)) return undefined;
      met.add(message.kind);
      tamper.crash("b");
      return "drop";
    };
    tamper.fail("b", { code: "OWNER_IO", text: "Input/output error" });
    await scene.untilUp("b");
    expect(met).toContain("identify");
    expect(met).toContain("digest");
    await scene.finish();
  });

  it("is told the membership that changed while it was on its way", async () => {
    const scene = await opened();
    const { plane, tamper } = scene;
    tamper.hold("b");
    tamper.fail("b", { code: "OWNER_IO", text: "Input/output error" });
    expect(reasonOf(plane, "b")).toBe("OWNER_IO");
    tamper.letGo("b");
    await vi.waitFor(() => expect(ownerOf(plane, "b").state).toBe("up"), WAIT);
    // c is lost while the last message of b's merging is on its way.
    let held = false;
    tamper.onSend = (name, message) => {
      if (held || name !== "b" || message.kind !== "identify" || message.identity.phase !== "formed") return undefined;
      held = true;
      tamper.fail("c", { code: "OWNER_IO", text: "Input/output error" });
      return undefined;
    };
    tamper.fail("b", { code: "OWNER_IO", text: "Input/output error" });
    await vi.waitFor(() => expect(held).toBe(true), WAIT);
    scene.load.start();
    await scene.untilUp("b");
    await scene.untilUp("c");
    await scene.load.stop();
    await plane.close();
    const generations = scene.directories.map((directory) => generationOf(directory));
    expect(new Set(generations).size).toBe(1);
  });
});

describe("an owner that fails again and again", () => {
  it("in a way that a damaged page does is taken for damaged, and waits for a repair", async () => {
    const scene = await newScene();
    // Until it has stayed up for so long, failures add up.
    await scene.open({ retryMaxMs: 20_000 });
    scene.load.start();
    for (let failure = 1; failure <= 3; failure += 1) {
      await scene.untilUp("b");
      scene.tamper.fail("b", { code: "OWNER_FAILED", text: "MDB_BAD_TXN: Transaction must abort" });
    }
    await scene.untilDown("b", "OWNER_CORRUPT");
    await scene.repaired("b");
    await scene.finish();
  });

  it("by SIGKILL is not", async () => {
    const scene = await opened();
    for (let failure = 1; failure <= 4; failure += 1) {
      await untilReason(scene, "b", "up");
      process.kill(scene.pid("b") ?? 0, "SIGKILL");
      await untilReason(scene, "b", "OWNER_CRASHED");
    }
    await untilReason(scene, "b", "up");
  });
});

describe("accepted loss", () => {
  it("ends with the repair that it was given for, when that is refused", async () => {
    const scene = await opened();
    const { plane, tamper } = scene;
    scene.load.start();
    await scene.load.passes(5);
    // The others die of being told: the repair is refused, and what both hold is needed again.
    tamper.fail("b", { code: "OWNER_CORRUPT", text: "a cell fails its checksum" });
    await scene.load.passes(5);
    tamper.onSend = (name, message) => {
      if (name === "b" || message.kind !== "identify") return undefined;
      tamper.crash(name);
      return "drop";
    };
    await expect(plane.repair("b", true)).rejects.toMatchObject({ code: "KV_REPAIR_REFUSED" });
    tamper.onSend = (name, message) => (name === "c" && message.kind === "identify" ? "drop" : undefined);
    await vi.waitFor(() => expect(ownerOf(plane, "a").state).toBe("up"), WAIT);
    await untilReason(scene, "b", "OWNER_MERGING");
    expect(ownerOf(plane, "b")).toMatchObject({ state: "merging" });
    tamper.onSend = () => undefined;
    tamper.crash("c");
    await scene.untilUp("b");
    await scene.finish();
  });

  it("lets three owners whose flushes failed at once go on with what the three still hold", async () => {
    const scene = await opened();
    const { plane, tamper, load } = scene;
    load.start();
    await load.passes(10);
    for (const name of NAMES) tamper.fail(name, { code: "OWNER_IO", text: "Input/output error" });
    for (const name of NAMES) await untilReason(scene, name, "OWNER_MERGING");
    await expect(plane.repair("b", false)).rejects.toMatchObject({ code: "KV_REPAIR_REFUSED" });
    await plane.repair("b", true);
    await vi.waitFor(() => expect(ownerOf(plane, "b").state).toBe("up"), WAIT);
    await plane.repair("c", true);
    for (const name of NAMES) await scene.untilUp(name);
    await scene.finish();
  });
});

describe("closing", () => {
  it("while owners are looked at, merge or are repaired leaves no process and no lock behind", async () => {
    const scene = await newScene();
    for (const begin of [
      () => scene.tamper.crash("b"),
      () => scene.tamper.fail("b", { code: "OWNER_IO", text: "Input/output error" }),
      () => scene.tamper.fail("b", { code: "OWNER_CORRUPT", text: "a cell fails its checksum" }),
    ]) {
      await scene.open();
      const pids = scene.directories.flatMap((directory) => ownerPids(directory));
      const spawned = scene.tamper.spawned.get("b") ?? 0;
      begin();
      const repairing = scene.plane.repair("b", false).catch((error: unknown) => error);
      await Promise.race([
        repairing,
        vi.waitFor(() => expect(scene.tamper.spawned.get("b")).toBeGreaterThan(spawned), WAIT),
      ]);
      await scene.plane.close();
      await repairing;
      await vi.waitFor(() => expect(scene.directories.flatMap((directory) => ownerPids(directory))).toEqual([]), WAIT);
      expect(pids.filter(isRunning)).toEqual([]);
    }
    await scene.open();
    scene.load.start();
    await vi.waitFor(async () => {
      if (ownerOf(scene.plane, "b").state === "lost") await scene.plane.repair("b", false);
      expect(reasonOf(scene.plane, "b")).toBe("up");
    }, WAIT);
    await scene.finish();
    expect(readdirSync(scene.directory("b")).filter((name) => name.endsWith(".sock"))).toEqual([]);
  });
});

/** The newest membership that a closed owner was ever told. */
function generationOf(directory: string): number {
  const pages = readFileSync(join(directory, DATA_FILE), "latin1");
  const found = [...pages.matchAll(/"generation":(\d+)/g)].map(([, number]) => Number(number));
  return Math.max(...found);
}
