import { closeSync, existsSync, openSync, readSync, readdirSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { checkStoreFile, DATA_FILE } from "../../../src/kv/embedded/store-file.ts";
import { MIB } from "./support.ts";

const PAGE_BYTES = 4_096;
const FILLER = "filler";

/** Removes an owner's store from its directory. */
export function wipe(directory: string): void {
  for (const name of readdirSync(directory).filter((file) => file.endsWith(".mdb"))) rmSync(join(directory, name));
}

/** Changes a byte in every 256 of an owner's store, from page `from` on: 0 and 1 say where everything is. */
export function flip(directory: string, from = 0): void {
  const extent = checkStoreFile(directory);
  if (extent === undefined) throw new Error(`${directory} holds no store`);
  const file = openSync(join(directory, DATA_FILE), "r+");
  const byte = Buffer.alloc(1);
  // What follows the last page is a hole.
  for (let at = from * PAGE_BYTES; at <= extent.lastPage * extent.pageBytes; at += 256) {
    readSync(file, byte, 0, 1, at);
    byte[0] = (byte[0] ?? 0) ^ 0x55;
    writeSync(file, byte, 0, 1, at);
  }
  closeSync(file);
}

/** Takes all the room that the disk of a directory has. */
export function fill(directory: string): void {
  const file = join(directory, FILLER);
  for (const size of [MIB, PAGE_BYTES]) {
    const bytes = Buffer.alloc(size);
    try {
      for (;;) writeFileSync(file, bytes, { flag: "a" });
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes("ENOSPC")) throw error;
    }
  }
}

/** Gives it back. */
export function empty(directory: string): void {
  const file = join(directory, FILLER);
  if (existsSync(file)) rmSync(file);
}
