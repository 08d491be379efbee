import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { DirectoryInUse, lockDirectory } from "../../../src/kv/embedded/directory-lock.ts";
import type { EmbeddedPlane } from "../../../src/kv/embedded/plane.ts";
import { type Site, makeSite, text } from "./support.ts";

const sites: Site[] = [];
afterEach(async () => {
  await Promise.all(sites.splice(0).map((site) => site.destroy()));
});

function newSite(): Site {
  const site = makeSite();
  sites.push(site);
  return site;
}

/** A site with one document, closed. */
async function usedSite(): Promise<Site> {
  const site = newSite();
  const plane = await site.open();
  await plane.write([{ space: "document", key: text("k"), order: 1, bytes: text("x") }]);
  await plane.close();
  return site;
}

const states = (plane: EmbeddedPlane): string[] =>
  plane.owners().map(({ state, reason }) => `${state} ${reason?.code}`);
const UP = "up undefined";

describe("directories", () => {
  it("are private, files included", async () => {
    const site = newSite();
    await site.open();
    for (const directory of site.directories) {
      expect(statSync(directory).mode & 0o777).toBe(0o700);
      for (const file of readdirSync(directory).filter((name) => name.endsWith(".mdb"))) {
        expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600);
      }
    }
  });

  it("are three: one named twice is refused, by another path too", async () => {
    const site = newSite();
    const [a, b] = site.directories;
    await expect(site.open({ directories: [a, b, a] })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    await expect(site.open({ directories: [a, b, `${site.root}/x/../b/`] })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
    });
    await site.open();
  });

  it("one that is empty beside known ones is a lost owner, and stays empty", async () => {
    const site = await usedSite();
    rmSync(site.directories[1], { recursive: true });
    for (let round = 0; round < 2; round += 1) {
      const plane = await site.open();
      expect(states(plane)).toEqual([UP, "lost OWNER_EMPTY", UP]);
      expect(await plane.write([{ space: "document", key: text("k"), order: 2, bytes: text("y") }])).toMatchObject({
        count: 2,
      });
      await plane.close();
      expect(readdirSync(site.directories[1]).filter((name) => name.endsWith(".mdb"))).toEqual([]);
    }
  });

  it("two that are empty beside a known one leave no quorum", async () => {
    const site = await usedSite();
    rmSync(site.directories[0], { recursive: true });
    rmSync(site.directories[2], { recursive: true });
    const plane = await site.open();
    expect(states(plane)).toEqual(["lost OWNER_EMPTY", UP, "lost OWNER_EMPTY"]);
    await expect(plane.restore([{ space: "document", key: text("k") }])).rejects.toMatchObject({
      code: "KV_NO_QUORUM",
    });
  });

  it("one of another deployment is refused", async () => {
    const [site, other] = [await usedSite(), await usedSite()];
    rmSync(site.directories[2], { recursive: true });
    cpSync(other.directories[2], site.directories[2], { recursive: true });
    expect(states(await site.open())).toEqual([UP, UP, "down OWNER_FOREIGN"]);
  });

  it("those of another owner are refused", async () => {
    const site = await usedSite();
    const [a, b, c] = site.directories;
    expect(states(await site.open({ directories: [b, a, c] }))).toEqual([
      "down OWNER_SWAPPED",
      "down OWNER_SWAPPED",
      UP,
    ]);
  });

  it("one whose file is cut or overwritten is down, and the process lives", async () => {
    const site = await usedSite();
    truncateSync(join(site.directories[0], "data.mdb"), 8_192);
    writeFileSync(join(site.directories[1], "data.mdb"), Buffer.alloc(65_536, 7));
    expect(states(await site.open())).toEqual(["down OWNER_CORRUPT", "down OWNER_CORRUPT", UP]);
  });

  it("a first start with one that cannot be made forms nothing", async () => {
    const site = newSite();
    writeFileSync(site.directories[1], "a file");
    const plane = await site.open();
    expect(states(plane)).toEqual(["lost OWNER_EMPTY", "down OWNER_DIRECTORY", "lost OWNER_EMPTY"]);
    await plane.close();
    rmSync(site.directories[1]);
    expect(states(await site.open())).toEqual([UP, UP, UP]);
  });

  it("may move: only what they hold decides", async () => {
    const site = await usedSite();
    renameSync(site.directories[0], `${site.root}/elsewhere`);
    const plane = await site.open({
      directories: [`${site.root}/elsewhere`, site.directories[1], site.directories[2]],
    });
    expect(states(plane)).toEqual([UP, UP, UP]);
  });
});

describe("the lock of a directory", () => {
  it("keeps a second plane of the same process out, and is given up by close", async () => {
    const site = newSite();
    const plane = await site.open();
    await expect(site.open()).rejects.toMatchObject({
      code: "KV_ENGINE",
      message: expect.stringContaining(`${site.directories[0]} is in use by process ${process.pid}`),
    });
    await plane.close();
    expect(states(await site.open())).toEqual([UP, UP, UP]);
  });

  it("holds for one shared directory, too", async () => {
    const [site, other] = [newSite(), newSite()];
    await site.open();
    const [a, b] = other.directories;
    await expect(other.open({ directories: [a, b, site.directories[1]] })).rejects.toMatchObject({ code: "KV_ENGINE" });
    await other.open();
  });

  it("works where the directory's path is longer than a socket's may be", async () => {
    const site = newSite();
    const long = join(site.root, "d".repeat(120));
    mkdirSync(long);
    const lock = await lockDirectory(long);
    await expect(lockDirectory(long)).rejects.toBeInstanceOf(DirectoryInUse);
    await lock.release();
    await (await lockDirectory(long)).release();
    expect(readdirSync(long)).toEqual([]);
  });

  it("removes sockets of the dead, and never lets two in at once", async () => {
    const directory = mkdtempSync(join(newSite().root, "lock-"));
    const dead = join(directory, "owner.999999.00ff.sock");
    const server = createServer().listen(dead);
    await new Promise((resolve) => server.once("listening", resolve));
    // A socket file that nobody listens on is what a killed process leaves.
    renameSync(dead, `${dead}.kept`);
    await new Promise((resolve) => server.close(resolve));
    renameSync(`${dead}.kept`, dead);
    for (let round = 0; round < 20; round += 1) {
      const attempts = await Promise.allSettled(Array.from({ length: 4 }, () => lockDirectory(directory)));
      const locks = attempts.flatMap((attempt) => (attempt.status === "fulfilled" ? [attempt.value] : []));
      expect(locks.length).toBeLessThanOrEqual(1);
      for (const attempt of attempts) {
        if (attempt.status === "rejected") expect(attempt.reason).toBeInstanceOf(DirectoryInUse);
      }
      await Promise.all(locks.map((lock) => lock.release()));
    }
    const lock = await lockDirectory(directory);
    expect(readdirSync(directory)).toHaveLength(1);
    await lock.release();
  });
});
