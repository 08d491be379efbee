import { statfsSync } from "node:fs";
import { eachEntry } from "./wire.ts";

/** Bytes that a page takes; a cell may touch two of its own beside its value. */
const PAGE_BYTES = 4_096;
const PAGES_PER_CELL = 2;
/** With more free than this, nobody counts. */
const AMPLE_BYTES = 4 * 1024 ** 3;

/** The disk has too little room for a transaction. */
export class DiskFull extends Error {}

/**
 * Makes sure that a transaction of packed cells fits on the disk of `directory` and leaves `freeBytesMin`. LMDB must never
 * meet a full disk: on a write that finds no space, lmdb 3.5.6 damages its heap and the whole process may be aborted.
 * @throws DiskFull when it does not fit
 */
export function requireSpace(directory: string, parts: readonly Buffer[], freeBytesMin: number): void {
  const { bavail, bsize } = statfsSync(directory);
  const free = bavail * bsize;
  if (free > AMPLE_BYTES + freeBytesMin) return;
  let needed = freeBytesMin;
  for (const part of parts) {
    eachEntry(part, (key, value) => {
      needed += key.length + value.length + PAGES_PER_CELL * PAGE_BYTES;
    });
  }
  if (free < needed) throw new DiskFull(`${free} bytes are free and ${needed} are needed`);
}
