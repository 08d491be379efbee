import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { DATA_FILE } from "./store-file.ts";

/** The lock file that LMDB keeps beside its data; it belongs to the data that it was made for. */
const LOCK_FILE = "lock.mdb";
const ASIDE = /^set-aside-\d+\.mdb$/;

/**
 * Sets a store that is not open aside, so that a new one can be made in `directory`. Returns what puts it back where no new
 * one could be made. @throws system errors
 */
export function setStoreAside(directory: string): () => void {
  const data = join(directory, DATA_FILE);
  const taken = readdirSync(directory).filter((name) => ASIDE.test(name)).length;
  const aside = join(directory, `set-aside-${taken + 1}.mdb`);
  const held = existsSync(data);
  if (held) renameSync(data, aside);
  rmSync(join(directory, LOCK_FILE), { force: true });
  return () => {
    if (!held) return;
    rmSync(join(directory, LOCK_FILE), { force: true });
    renameSync(aside, data);
  };
}

/** Removes what {@link setStoreAside} kept. @throws system errors */
export async function discardSetAside(directory: string): Promise<void> {
  const kept = await readdir(directory);
  await Promise.all(kept.filter((name) => ASIDE.test(name)).map((name) => rm(join(directory, name), { force: true })));
}
