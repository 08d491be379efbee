import { mkdirSync, realpathSync } from "node:fs";
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
  const locks: DirectoryLock[] = [];
  const release = async (): Promise<void> => {
    for (const lock of locks.splice(0)) await lock.release();
  };
  const makeError = (error: unknown): OwnerReason => ({
    code: "OWNER_DIRECTORY",
    text: error instanceof Error ? error.message : String(error),
  });
  for (const owner of OWNERS) {
    try {
      mkdirSync(paths[owner], { recursive: true, mode: DIRECTORY_MODE });
    } catch (error) {
      refused.set(owner, makeError(error));
    }
  }
  refuseShared(paths, refused);
  for (const owner of OWNERS) {
    if (refused.has(owner)) continue;
    try {
      locks.push(await lockDirectory(paths[owner]));
    } catch (error) {
      if (error instanceof DirectoryInUse) {
        await release();
        throw new KvFault("KV_ENGINE", error.message, { cause: error });
      }
      refused.set(owner, makeError(error));
    }
  }
  return { paths, refused, release };
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
