import { mkdirSync, realpathSync } from "node:fs";
import { mkdir, readdir, realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { StreamsError } from "../../errors.ts";
import type { Clock } from "../../ports/clock.ts";
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
   * missing. Returns why it cannot be used: also that it did not answer in time.
   */
  readonly retake: (owner: OwnerName, create: boolean) => Promise<OwnerReason | undefined>;
  /** Whether the directory that is there now is the one that was taken: to be asked after a store was opened in it. */
  readonly holds: (owner: OwnerName) => boolean;
  readonly release: () => Promise<void>;
}

export interface TakeOptions {
  readonly clock: Clock;
  /** A directory that does not answer for so long when it is looked at again cannot be used. */
  readonly answerMs: number;
}

/**
 * Makes the directories where they are missing and takes them for this process.
 * @throws StreamsError CONFIG_INVALID when two of them are the same
 * @throws KvFault KV_ENGINE when another process uses one of them
 */
export async function takeDirectories(
  directories: readonly [string, string, string],
  options: TakeOptions,
): Promise<TakenDirectories> {
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
  const looks = new Looks(paths, options);
  const retake = (owner: OwnerName, create: boolean): Promise<OwnerReason | undefined> =>
    retakeDirectory(owner, { paths, locks, looks, create, released: () => released });
  for (const owner of OWNERS) {
    try {
      mkdirSync(paths[owner], { recursive: true, mode: DIRECTORY_MODE });
    } catch (error) {
      refused.set(owner, unusable(error));
    }
  }
  refuseShared(paths, refused, looks);
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

/** Looks at directories, which may hang with their disks, and remembers where they were found. */
class Looks {
  readonly #paths: TakenDirectories["paths"];
  readonly #options: TakeOptions;
  readonly #underWay = new Map<OwnerName, Promise<string>>();
  /** Where each was found last: asking for all of them would wait for each one that hangs. */
  readonly #found = new Map<OwnerName, string>();

  constructor(paths: TakenDirectories["paths"], options: TakeOptions) {
    this.#paths = paths;
    this.#options = options;
  }

  /** An owner's directory, without links, is this one. */
  found(owner: OwnerName, real: string): void {
    this.#found.set(owner, real);
  }

  /** Whose directory it is, besides `owner`'s. */
  sharer(owner: OwnerName, real: string): OwnerName | undefined {
    return OWNERS.find((other) => other !== owner && this.#found.get(other) === real);
  }

  /** The owner's directory, without links. @throws an error of the system, or that it did not answer in time */
  look(owner: OwnerName, create: boolean): Promise<string> {
    // One that hangs keeps a thread of the few that the whole process has: it is waited for again, and not asked again.
    const underWay = this.#underWay.get(owner) ?? this.#begin(owner, create);
    return new Promise((answered, failed) => {
      const { clock, answerMs } = this.#options;
      const cancel = clock.after(answerMs, () => failed(new Error(`it did not answer for ${answerMs} ms`)));
      underWay.then(answered, failed).finally(cancel);
    });
  }

  #begin(owner: OwnerName, create: boolean): Promise<string> {
    const look = lookAt(this.#paths[owner], create)
      .finally(() => {
        this.#underWay.delete(owner);
        this.#found.delete(owner);
      })
      .then((real) => {
        this.found(owner, real);
        return real;
      });
    this.#underWay.set(owner, look);
    return look;
  }
}

async function lookAt(path: string, create: boolean): Promise<string> {
  // Never by itself: below the mount point of a disk that is away, it would fill another disk.
  if (create) await mkdir(path, { recursive: true, mode: DIRECTORY_MODE });
  const real = await realpath(path);
  // A disk that hangs leaves this pending; what follows a look blocks the thread, and would hang the plane.
  await readdir(path);
  return real;
}

interface Retaking {
  readonly paths: TakenDirectories["paths"];
  readonly locks: Map<OwnerName, DirectoryLock>;
  readonly looks: Looks;
  readonly create: boolean;
  readonly released: () => boolean;
}

async function retakeDirectory(
  owner: OwnerName,
  { paths, locks, looks, create, released }: Retaking,
): Promise<OwnerReason | undefined> {
  try {
    const real = await looks.look(owner, create);
    const sharer = looks.sharer(owner, real);
    if (sharer !== undefined) {
      return { code: "OWNER_DIRECTORY", text: `it is the directory of owner ${sharer}` };
    }
    if (released()) return { code: "OWNER_CLOSED", text: "the directories were given up" };
    const held = locks.get(owner);
    if (held?.stillHeld() === true) return undefined;
    locks.delete(owner);
    await held?.release();
    const lock = await lockDirectory(paths[owner]);
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
function refuseShared(
  paths: Readonly<Record<OwnerName, string>>,
  refused: ReadonlyMap<OwnerName, OwnerReason>,
  looks: Looks,
): void {
  for (const owner of OWNERS) {
    const path = refused.has(owner) ? paths[owner] : realpathSync(paths[owner]);
    const other = looks.sharer(owner, path);
    if (other !== undefined) {
      throw new StreamsError("CONFIG_INVALID", `owners ${other} and ${owner} have the same directory ${path}`);
    }
    looks.found(owner, path);
  }
}
