import { type RootDatabase, type RootDatabaseOptionsWithPath, open } from "lmdb";
import { AnswerWriter } from "./answers.ts";
import { type Identity, decodeIdentity, encodeIdentity } from "./identity.ts";
import type { KeyRange } from "./protocol.ts";
import { CorruptStore, checkStoreFile } from "./store-file.ts";
import { eachEntry } from "./wire.ts";

/**
 * One owner's LMDB environment. Used by an owner's thread alone; everything here blocks.
 *
 * Durability, as observed of lmdb 3.5.6 by its system calls: with `overlappingSync` off, a synchronous transaction writes
 * its pages, then calls fdatasync, then writes its meta page through a descriptor opened with O_DSYNC, and returns after
 * that: what has returned is flushed, and a crash at any moment leaves the state before or after. (With `overlappingSync`,
 * lmdb's default, returning means visible and not flushed.)
 *
 * A put that fails inside a transaction throws on some Node versions and is silent on others, where lmdb calls V8
 * directly; LMDB then refuses the commit, which always throws.
 */

/** Store key of the identity: below every space. */
const IDENTITY_KEY = Buffer.from([0]);
const FILE_MODE = 0o600;

export class Environment {
  readonly #db: RootDatabase<Buffer, Buffer>;

  /** Opens or creates the store of `directory`. @throws lmdb's errors, and CorruptStore when the file is visibly damaged. */
  constructor(directory: string, mapSizeBytes: number) {
    checkStoreFile(directory);
    // lmdb takes the mode, its types do not know it.
    const settings: RootDatabaseOptionsWithPath & { readonly permissionsMode: number } = {
      path: directory,
      noSubdir: false,
      overlappingSync: false,
      encoding: "binary",
      keyEncoding: "binary",
      maxDbs: 1,
      mapSize: mapSizeBytes,
      permissionsMode: FILE_MODE,
    };
    this.#db = open<Buffer, Buffer>(settings);
  }

  /** Merges packed cells in one transaction and returns when it is flushed: per key the larger stored value stays. */
  merge(parts: readonly Buffer[]): void {
    const db = this.#db;
    db.transactionSync(() => {
      for (const part of parts) {
        eachEntry(part, (key, value) => {
          const present = db.getBinaryFast(key);
          if (present === undefined || value.compare(present, 0, present.length) > 0) db.putSync(key, value);
        });
      }
    });
  }

  /** Reads packed addresses in order, and ends early once the answers have `answerBytes`; at least one is answered. */
  read(addresses: Buffer, answerBytes: number): { readonly count: number; readonly packed: ArrayBuffer } {
    const answers = new AnswerWriter();
    let count = 0;
    eachEntry(addresses, (key) => {
      if (count > 0 && answers.length >= answerBytes) return;
      const value = this.#db.getBinaryFast(key);
      answers.add(value, value?.length ?? 0);
      count += 1;
    });
    return { count, packed: answers.finish() };
  }

  /** Lists store keys of a range in byte order; `complete` says that there are no more. */
  list(range: KeyRange): { readonly keys: Uint8Array[]; readonly complete: boolean } {
    const prefix = Buffer.from(range.prefix);
    const start = range.after === undefined ? prefix : Buffer.from(range.after);
    const keys: Uint8Array[] = [];
    for (const key of this.#db.getKeys({ start, exclusiveStart: range.after !== undefined })) {
      if (prefix.compare(key, 0, Math.min(key.length, prefix.length)) !== 0) break;
      if (keys.length === range.limit) return { keys, complete: false };
      keys.push(key);
    }
    return { keys, complete: true };
  }

  /** The identity, undefined when none was ever flushed. @throws CorruptStore when there is one that cannot be read. */
  identity(): Identity | undefined {
    const bytes = this.#db.getBinary(IDENTITY_KEY);
    if (bytes === undefined) return undefined;
    const identity = decodeIdentity(bytes);
    if (identity === undefined) throw new CorruptStore("the identity record cannot be read");
    return identity;
  }

  /** Writes the identity; flushed when it returns. */
  identify(identity: Identity): void {
    this.#db.transactionSync(() => this.#db.putSync(IDENTITY_KEY, encodeIdentity(identity)));
  }

  /** Bytes of the pages in use. */
  storedBytes(): number {
    const stats: { readonly lastPageNumber?: unknown; readonly pageSize?: unknown } = this.#db.getStats();
    const { lastPageNumber, pageSize } = stats;
    return typeof lastPageNumber === "number" && typeof pageSize === "number" ? (lastPageNumber + 1) * pageSize : 0;
  }

  /** Closes the files. */
  async close(): Promise<void> {
    await this.#db.close();
  }
}
