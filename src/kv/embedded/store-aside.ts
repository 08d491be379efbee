import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { DATA_FILE } from "./store-file.ts";

/** The lock file that LMDB keeps beside its data; it belongs to the data that it was made for. */
const LOCK_FILE = "lock.mdb";
const ASIDE = /^set-aside-\d+\.mdb$/;

/** Sets a store that is not open aside, so that a new one can be made in `directory`. @throws system errors */
export function setStoreAside(directory: string): void {
  const data = join(directory, DATA_FILE);
  const taken = readdirSync(directory).filter((name) => ASIDE.test(name)).length;
  if (existsSync(data)) renameSync(data, join(directory, `set-aside-${taken + 1}.mdb`));
  rmSync(join(directory, LOCK_FILE), { force: true });
}

/** Removes what {@link setStoreAside} kept. @throws system errors */
export async function discardSetAside(directory: string): Promise<void> {
  const kept = await readdir(directory);
  await Promise.all(kept.filter((name) => ASIDE.test(name)).map((name) => rm(join(directory, name), { force: true })));
}
