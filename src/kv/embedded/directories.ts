import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { StreamsError } from "../../errors.ts";
import { KvFault } from "../../ports/kv-plane.ts";
import { DirectoryInUse, type DirectoryLock, lockDirectory } from "./directory-lock.ts";
import { OWNERS, type OwnerName } from "./identity.ts";
import type { OwnerReason } from "./protocol.ts";

const DIRECTORY_MODE = 0o700;

/** Three directories that no other process uses now. */
export interface TakenDirectories {
  readonly paths: Readonly<Record<OwnerName, string>>;
  /** Those that cannot be used, and why; their owners are down. */
  readonly refused: ReadonlyMap<OwnerName, OwnerReason>;
  /**
   * Makes sure that an owner's directory is there and ours, after it may have been away; `create` makes it where it is
   * missing. Returns why it cannot be used.
   */
  readonly retake: (owner: OwnerName, create: boolean) => Promise<OwnerReason | undefined>;
  /** Whether the directory that is there now is the one that was taken: to be asked after a store was opened in it. */
  readonly holds: (owner: OwnerName) => boolean;
  readonly release: () => Promise<void>;
}

/**
 * Makes the directories where they are missing and takes them for this process.
 * @throws StreamsError CONFIG_INVALID when two of them are the same
 * @throws KvFault KV_ENGINE when another process uses one of them
 */
export async function takeDirectories(directories: readonly [string, string, string]): Promise<TakenDirectories> {
  const [a, b, c] = directories;
  const paths = { a: resolve(a), b: resolve(b), c: resolve(c) };
  const refused = new Map<OwnerName, OwnerReason>();
  const locks = new Map<OwnerName, DirectoryLock>();
  let released = false;
  const release = async (): Promise<void> => {
    released = true;
    const held = [...locks.values()];
    locks.clear();
    for (const lock of held) await lock.release();
  };
  const retake = (owner: OwnerName, create: boolean): Promise<OwnerReason | undefined> =>
    retakeDirectory(owner, { paths, locks, create, released: () => released });
  for (const owner of OWNERS) {
    try {
      mkdirSync(paths[owner], { recursive: true, mode: DIRECTORY_MODE });
    } catch (error) {
      refused.set(owner, unusable(error));
    }
  }
  refuseShared(paths, refused);
  for (const owner of OWNERS) {
    if (refused.has(owner)) continue;
    try {
      locks.set(owner, await lockDirectory(paths[owner]));
    } catch (error) {
      if (error instanceof DirectoryInUse) {
        await release();
        throw new KvFault("KV_ENGINE", error.message, { cause: error });
      }
      refused.set(owner, unusable(error));
    }
  }
  const holds = (owner: OwnerName): boolean => locks.get(owner)?.stillHeld() === true;
  return { paths, refused, retake, holds, release };
}

async function retakeDirectory(
  owner: OwnerName,
  {
    paths,
    locks,
    create,
    released,
  }: {
    readonly paths: TakenDirectories["paths"];
    readonly locks: Map<OwnerName, DirectoryLock>;
    readonly create: boolean;
    readonly released: () => boolean;
  },
): Promise<OwnerReason | undefined> {
  const path = paths[owner];
  try {
    // Never by itself: below the mount point of a disk that is away, it would fill another disk.
    if (create) mkdirSync(path, { recursive: true, mode: DIRECTORY_MODE });
    const real = realpathSync(path);
    const shared = OWNERS.find(
      (other) => other !== owner && existsSync(paths[other]) && realpathSync(paths[other]) === real,
    );
    if (shared !== undefined) return { code: "OWNER_DIRECTORY", text: `it is the directory of owner ${shared}` };
    const held = locks.get(owner);
    if (held?.stillHeld() === true) return undefined;
    locks.delete(owner);
    await held?.release();
    const lock = await lockDirectory(path);
    // Given up meanwhile: nobody would release this one.
    if (released()) await lock.release();
    else locks.set(owner, lock);
    return undefined;
  } catch (error) {
    if (error instanceof DirectoryInUse) return { code: "OWNER_IN_USE", text: error.message };
    return unusable(error);
  }
}

function unusable(error: unknown): OwnerReason {
  return { code: "OWNER_DIRECTORY", text: error instanceof Error ? error.message : String(error) };
}

/** Two owners on one directory would be one owner that counts twice. */
function refuseShared(paths: Readonly<Record<OwnerName, string>>, refused: ReadonlyMap<OwnerName, OwnerReason>): void {
  const seen = new Map<string, OwnerName>();
  for (const owner of OWNERS) {
    const path = refused.has(owner) ? paths[owner] : realpathSync(paths[owner]);
    const other = seen.get(path);
    if (other !== undefined) {
      throw new StreamsError("CONFIG_INVALID", `owners ${other} and ${owner} have the same directory ${path}`);
    }
    seen.set(path, owner);
  }
}
