import { closeSync, existsSync, fstatSync, openSync, readSync, statSync, truncateSync } from "node:fs";
import { endianness } from "node:os";
import { join } from "node:path";

/**
 * A look at an LMDB file by plain reading, before LMDB maps it: a page that the file lacks, or nonsense where a page number
 * should be, raises a signal inside LMDB that ends the whole process and not just this owner.
 *
 * Layout (data version 2, as lmdb 3.5.6 writes it; native byte order): pages 0 and 1 are meta pages, of which the one with
 * the larger transaction id is in force. In a meta page: magic at 24, version at 28, page size at 48, last page at 144,
 * transaction id at 152. A test compares this with what lmdb itself reports.
 */

/** The file of an owner's directory that holds its store. */
export const DATA_FILE = "data.mdb";

const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
const META_BYTES = 160;
const PAGE_BYTES_MIN = 256;
const PAGE_BYTES_MAX = 65_536;

/** The store's file is damaged. */
export class CorruptStore extends Error {}

/** The store's file is not where it was opened. */
export class MissingStore extends Error {}

/**
 * The file of an open store. Removing or replacing it does not disturb who has it open: he would go on to write, and
 * acknowledge, what nobody ever finds again.
 */
export class StoreFile {
  readonly #path: string;
  readonly #opened: { readonly dev: number; readonly ino: number };
  /** How large it was seen, in bytes: it never becomes smaller. */
  #size: number;

  /** To be made right after the store was opened. @throws a system error when it cannot be looked at */
  constructor(directory: string) {
    this.#path = join(directory, DATA_FILE);
    this.#opened = statSync(this.#path);
    this.#size = statSync(this.#path).size;
  }

  /** @throws MissingStore when the path does not lead to the file any more; CorruptStore when somebody has cut it */
  requireInPlace(): void {
    const found = statSync(this.#path, { throwIfNoEntry: false });
    if (found?.dev !== this.#opened.dev || found.ino !== this.#opened.ino) {
      throw new MissingStore(`${this.#path} was ${found === undefined ? "removed" : "replaced"} while it was open`);
    }
    if (found.size < this.#size) {
      throw new CorruptStore(`${DATA_FILE} was cut from ${this.#size} to ${found.size} bytes while it was open`);
    }
    this.#size = found.size;
  }

  /**
   * Makes the file reach so far at least, with a hole that takes no room on the disk. To be called before a transaction with how
   * far it may come, and after it with how far it came.
   *
   * 1. A transaction takes pages at the end and gives some of them up again: LMDB counts those and never writes them.
   * 2. The process is killed right after the commit.
   * 3. The file ends before pages that its meta page counts, and looks as if it had been cut.
   *
   * @throws as {@link requireInPlace}: a hole must not hide that the file was cut
   */
  reach(bytes: number): void {
    this.requireInPlace();
    if (this.#size >= bytes) return;
    truncateSync(this.#path, bytes);
    this.#size = bytes;
  }
}

/** Whether `directory` holds a store, looking at names and sizes only. @throws a system error when it cannot be looked at */
export function hasStore(directory: string): boolean {
  const file = join(directory, DATA_FILE);
  return existsSync(file) && statSync(file).size > 0;
}

/** How far the pages in use reach. */
export interface StoreExtent {
  readonly pageBytes: number;
  readonly lastPage: number;
}

/**
 * Reads the extent of the store in `directory`; undefined when there is none yet.
 * @throws CorruptStore when the file is no store, or is shorter than its pages
 */
export function checkStoreFile(directory: string): StoreExtent | undefined {
  if (!hasStore(directory) || endianness() !== "LE") return undefined;
  const file = openSync(join(directory, DATA_FILE), "r");
  try {
    const { size } = fstatSync(file);
    const first = readMeta(file, 0);
    const second = readMeta(file, first.pageBytes);
    const { pageBytes, lastPage } = second.transaction > first.transaction ? second : first;
    const needed = (lastPage + 1) * pageBytes;
    if (size < needed) throw new CorruptStore(`${DATA_FILE} has ${size} bytes and should have ${needed}`);
    return { pageBytes, lastPage };
  } finally {
    closeSync(file);
  }
}

function readMeta(file: number, position: number): StoreExtent & { readonly transaction: number } {
  const page = Buffer.alloc(META_BYTES);
  const read = readSync(file, page, 0, META_BYTES, position);
  const pageBytes = page.readUInt32LE(48);
  if (
    read !== META_BYTES ||
    page.readUInt32LE(24) !== MAGIC ||
    (page.readUInt32LE(28) & 0xff) !== DATA_VERSION ||
    pageBytes < PAGE_BYTES_MIN ||
    pageBytes > PAGE_BYTES_MAX
  ) {
    throw new CorruptStore(`${DATA_FILE} has no meta page at ${position}`);
  }
  return {
    pageBytes,
    lastPage: Number(page.readBigUInt64LE(144)),
    transaction: Number(page.readBigUInt64LE(152)),
  };
}
