import { createHash } from "node:crypto";
import { type RootDatabase, type RootDatabaseOptionsWithPath, open } from "lmdb";
import { AnswerWriter } from "./answers.ts";
import { type Identity, decodeIdentity, encodeIdentity } from "./identity.ts";
import {
  type CellRange,
  type KeyRange,
  type Span,
  type SpanAnswer,
  type StoreMark,
  keyBytes,
  keyText,
} from "./protocol.ts";
import { CorruptStore, checkStoreFile } from "./store-file.ts";
import { type Entries, compareStored, eachEntry, isWhole, putEntry, storedEntryBytes, sumOfKey } from "./wire.ts";

/**
 * One owner's LMDB environment. Used by an owner's process alone; everything here blocks.
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
/** Below every cell. */
const FIRST_KEY = Buffer.from([1]);
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

  /**
   * Merges packed cells from where `cells` stands, in one transaction, until `changesMax` changed something: per key the
   * larger stored value stays. What it went past is flushed when it returns. Returns how many changed something.
   * @throws CorruptStore when a cell that is merged onto, or with, fails its sum
   */
  merge(cells: Entries, changesMax: number): number {
    const db = this.#db;
    let changed = 0;
    db.transactionSync(() => {
      while (changed < changesMax && cells.next()) {
        const { key, value } = cells;
        const keySum = sumOfKey(key);
        const present = this.#get(key, keySum);
        if (present !== undefined && compareStored(value, present) <= 0) continue;
        requireWhole(key, value, keySum);
        db.putSync(key, value);
        changed += 1;
      }
    });
    return changed;
  }

  /**
   * Reads packed addresses in order, and ends early once the answers have `answerBytes`; at least one is answered.
   * @throws CorruptStore
   */
  read(addresses: Buffer, answerBytes: number): { readonly count: number; readonly packed: Buffer } {
    const answers = new AnswerWriter();
    let count = 0;
    eachEntry(addresses, (key) => {
      if (count > 0 && answers.length >= answerBytes) return;
      const value = this.#get(key);
      answers.add(value, value?.length ?? 0);
      count += 1;
    });
    return { count, packed: answers.finish() };
  }

  /** Lists store keys of a range in byte order; `complete` says that there are no more. */
  list(range: KeyRange): { readonly keys: Buffer[]; readonly complete: boolean } {
    const prefix = keyBytes(range.prefix);
    const start = range.after === undefined ? prefix : keyBytes(range.after);
    const keys: Buffer[] = [];
    for (const key of this.#db.getKeys({ start, exclusiveStart: range.after !== undefined })) {
      if (prefix.compare(key, 0, Math.min(key.length, prefix.length)) !== 0) break;
      if (keys.length === range.limit) return { keys, complete: false };
      keys.push(key);
    }
    return { keys, complete: true };
  }

  /** Packs the cells of a range; `complete` says that there are no more. @throws CorruptStore */
  range({ from, to, limit, bytes: bytesMax }: CellRange): { readonly packed: Buffer; readonly complete: boolean } {
    const end = keyBytes(to);
    const { packed, complete } = this.#collect({ start: keyBytes(from) }, (key, cells, bytes) => {
      if (end.compare(key) <= 0) return "beyond";
      return cells === limit || (cells > 0 && bytes >= bytesMax) ? "full" : "taken";
    });
    return { packed, complete };
  }

  /** Packs the cells of a span. @throws CorruptStore */
  scan(span: Span): SpanAnswer & { readonly packed: Buffer } {
    const upTo = span.upTo === undefined ? undefined : keyBytes(span.upTo);
    const start = span.after === undefined ? FIRST_KEY : keyBytes(span.after);
    return this.#collect({ start, exclusiveStart: span.after !== undefined }, (key, _, bytes) => {
      if (upTo !== undefined) return upTo.compare(key) < 0 ? "beyond" : "taken";
      return bytes >= span.bytes ? "full" : "taken";
    });
  }

  /** As {@link scan}, with SHA-256 over the packed cells instead of them. @throws CorruptStore */
  digest(span: Span): SpanAnswer & { readonly hash: string } {
    const { packed, ...answer } = this.scan(span);
    return { ...answer, hash: createHash("sha256").update(packed).digest("base64") };
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

  /** How far the store is. */
  mark(): StoreMark {
    const { pageSize, lastTxnId } = this.#stats();
    return {
      storedBytes: typeof pageSize === "number" ? this.pages() * pageSize : 0,
      transaction: typeof lastTxnId === "number" ? lastTxnId : 0,
    };
  }

  /** Pages that the store has, those in it that are free included. */
  pages(): number {
    const { lastPageNumber } = this.#stats();
    return typeof lastPageNumber === "number" ? lastPageNumber + 1 : 0;
  }

  #stats(): { readonly lastPageNumber?: unknown; readonly pageSize?: unknown; readonly lastTxnId?: unknown } {
    return this.#db.getStats();
  }

  /** Closes the files. */
  async close(): Promise<void> {
    await this.#db.close();
  }

  /** Packs cells from `where` on, as long as `judge`, told what was taken before, lets them be taken. @throws CorruptStore */
  #collect(
    where: { readonly start: Buffer; readonly exclusiveStart?: boolean },
    judge: (key: Buffer, cells: number, bytes: number) => "taken" | "full" | "beyond",
  ): SpanAnswer & { readonly packed: Buffer } {
    const entries: { readonly key: Buffer; readonly value: Buffer }[] = [];
    let bytes = 0;
    let complete = true;
    for (const key of this.#db.getKeys(where)) {
      const verdict = judge(key, entries.length, bytes);
      complete = verdict !== "full";
      if (verdict !== "taken") break;
      const present = this.#get(key);
      if (present === undefined) continue;
      const value = Buffer.from(present);
      entries.push({ key, value });
      bytes += storedEntryBytes(key, value);
    }
    const packed = Buffer.allocUnsafeSlow(bytes);
    let at = 0;
    for (const { key, value } of entries) at = putEntry(packed, at, key, value);
    const last = entries.at(-1);
    return { cells: entries.length, bytes, last: last === undefined ? undefined : keyText(last.key), complete, packed };
  }

  /** A stored value, valid until the next call of lmdb. */
  #get(key: Buffer, keySum: number = sumOfKey(key)): Buffer | undefined {
    const present = this.#db.getBinaryFast(key);
    if (present === undefined) return undefined;
    // lmdb's buffer is larger than the `length` it shows, and what compares or copies trusts that.
    const { buffer, byteOffset, length } = present;
    if (byteOffset + length > buffer.byteLength) throw new CorruptStore(`a cell of ${length} bytes`);
    const value = Buffer.from(buffer, byteOffset, length);
    requireWhole(key, value, keySum);
    return value;
  }
}

function requireWhole(key: Buffer, value: Buffer, keySum: number): void {
  if (isWhole(value, keySum)) return;
  throw new CorruptStore(`the cell at key ${key.subarray(0, 64).toString("hex")} fails its checksum`);
}
