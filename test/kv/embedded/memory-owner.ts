import { createHash, randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AnswerWriter } from "../../../src/kv/embedded/answers.ts";
import type { Identity } from "../../../src/kv/embedded/identity.ts";
import type { OwnerEvents, OwnerProcess, SpawnOwner } from "../../../src/kv/embedded/owner-process.ts";
import {
  type CellRange,
  type FromOwner,
  type KeyRange,
  type OwnerReason,
  type OwnerSetup,
  type Span,
  type SpanAnswer,
  type StoreMark,
  type ToOwner,
  keyBytes,
  keyText,
} from "../../../src/kv/embedded/protocol.ts";
import { DATA_FILE } from "../../../src/kv/embedded/store-file.ts";
import {
  type Packed,
  compareStored,
  eachEntry,
  isWhole,
  packKeys,
  putEntry,
  storedEntryBytes,
  sumOfKey,
} from "../../../src/kv/embedded/wire.ts";

class Corrupt extends Error {}

/** What one owner flushed: as `environment.ts`, in memory. Keys are store keys, one character per byte. */
export class MemoryStore {
  readonly cells = new Map<string, Buffer>();
  identity: Identity | undefined;
  #sorted: readonly string[] | undefined;
  #transaction = 0;

  get mark(): StoreMark {
    let storedBytes = 0;
    for (const [key, value] of this.cells) storedBytes += key.length + value.length;
    return { storedBytes, transaction: this.#transaction };
  }

  identify(identity: Identity): void {
    this.identity = identity;
    this.#transaction += 1;
  }

  merge(packed: Buffer): number {
    const changes: [string, Buffer][] = [];
    const staged = new Map<string, Buffer>();
    eachEntry(packed, (keyBuffer, value) => {
      const key = keyText(keyBuffer);
      const present = staged.get(key) ?? this.#get(key);
      if (present !== undefined && compareStored(value, present) <= 0) return;
      if (!isWhole(value, sumOfKey(keyBuffer))) throw new Corrupt("a cell fails its checksum");
      const copy = Buffer.from(value);
      staged.set(key, copy);
      changes.push([key, copy]);
    });
    if (changes.length > 0) this.#transaction += 1;
    for (const [key, value] of changes) {
      if (!this.cells.has(key)) this.#sorted = undefined;
      this.cells.set(key, value);
    }
    return changes.length;
  }

  read(addresses: Buffer, answersMax: number): { readonly count: number; readonly packed: Buffer } {
    const answers = new AnswerWriter();
    let count = 0;
    eachEntry(addresses, (key) => {
      if (count >= answersMax) return;
      const value = this.#get(keyText(key));
      answers.add(value, value?.length ?? 0);
      count += 1;
    });
    return { count, packed: answers.finish() };
  }

  list({ prefix, after, limit }: KeyRange): { readonly keys: readonly Buffer[]; readonly complete: boolean } {
    const found = this.#keys().filter((key) => key.startsWith(prefix) && (after === undefined || key > after));
    return { keys: found.slice(0, limit).map(keyBytes), complete: found.length <= limit };
  }

  range({ from, to, limit, bytes: bytesMax }: CellRange): { readonly packed: Buffer; readonly complete: boolean } {
    const found = this.#keys().filter((key) => key >= from && key < to);
    const parts: Buffer[] = [];
    let bytes = 0;
    for (const key of found) {
      if (parts.length === limit || (parts.length > 0 && bytes >= bytesMax)) break;
      const value = this.#get(key) ?? Buffer.alloc(0);
      const entry = Buffer.alloc(storedEntryBytes(keyBytes(key), value));
      bytes += putEntry(entry, 0, keyBytes(key), value);
      parts.push(entry);
    }
    return { packed: Buffer.concat(parts), complete: parts.length === found.length };
  }

  scan({ after, upTo, bytes: bytesMax }: Span): SpanAnswer & { readonly packed: Buffer } {
    const entries: { readonly key: string; readonly value: Buffer }[] = [];
    let bytes = 0;
    let complete = true;
    for (const key of this.#keys()) {
      if (after !== undefined && key <= after) continue;
      if (upTo !== undefined && key > upTo) break;
      if (upTo === undefined && bytes >= bytesMax) {
        complete = false;
        break;
      }
      const value = this.#get(key) ?? Buffer.alloc(0);
      entries.push({ key, value });
      bytes += storedEntryBytes(keyBytes(key), value);
    }
    const packed = Buffer.alloc(bytes);
    let at = 0;
    for (const { key, value } of entries) at = putEntry(packed, at, keyBytes(key), value);
    return { cells: entries.length, bytes, last: entries.at(-1)?.key, complete, packed };
  }

  /** Flips a bit of a stored cell, as a disk does that rots. Returns whether there was one. */
  damage(): boolean {
    const value = this.cells.get(this.#keys()[0] ?? "");
    if (value === undefined) return false;
    value[0] = (value[0] ?? 0) ^ 0x10;
    return true;
  }

  /** Loses every cell, as a disk may whose flush failed. */
  forget(): void {
    this.cells.clear();
    this.#sorted = undefined;
  }

  #keys(): readonly string[] {
    this.#sorted ??= [...this.cells.keys()].toSorted(byCodeUnit);
    return this.#sorted;
  }

  #get(key: string): Buffer | undefined {
    const value = this.cells.get(key);
    if (value !== undefined && !isWhole(value, sumOfKey(keyBytes(key)))) throw new Corrupt("a cell fails its checksum");
    return value;
  }
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

export interface MemoryOwnersOptions {
  /** Cells of a walk's span take at most so many bytes, so that a few cells make many spans. */
  readonly spanBytesMax: number;
  /** Addresses that are answered in one message. */
  readonly answersMax: number;
}

/** One thing that may happen next: an owner handles a message, or the plane receives an answer. */
export interface Turn {
  readonly owner: string;
  readonly step: "handle" | "answer";
}

/**
 * Owners without processes: the same messages as `owner-main.ts`, handled and answered one at a time when a test says so, so
 * that a test can end an owner between any two of them. The file of a store holds its number, so that moving, replacing and
 * removing files has the effect that it has on disks.
 */
export class MemoryOwners {
  readonly spawn: SpawnOwner;
  /** Owners that cannot be opened now. */
  readonly away = new Set<string>();
  /** Called when an owner has handled something. */
  onHandled: () => void = () => undefined;
  readonly #stores: Map<string, MemoryStore>;
  readonly #running = new Map<string, MemoryProcess>();

  /** `disks` are the stores of earlier owners, by number. */
  constructor(disks: Map<string, MemoryStore>, options: MemoryOwnersOptions) {
    this.#stores = disks;
    this.spawn = (setup, events) => {
      const process = new MemoryProcess(setup, events, {
        ...options,
        open: () => this.#open(setup),
        inPlace: (store) => storeAt(this.#stores, setup.directory) === store,
      });
      this.#running.set(setup.owner, process);
      return process;
    };
  }

  /** What may happen next. */
  turns(): readonly Turn[] {
    return [...this.#running].flatMap(([owner, process]) => process.turns().map((step) => ({ owner, step })));
  }

  /** Lets one of {@link turns} happen. */
  take({ owner, step }: Turn): void {
    this.#running.get(owner)?.take(step);
    if (step === "handle") this.onHandled();
  }

  /** An owner's process ends at once: what it has not handled is gone, and so are answers under way. */
  crash(owner: string): void {
    this.#running.get(owner)?.end("the test ended it");
  }

  /** An owner reports a failure, as its process would. */
  fail(owner: string, reason: OwnerReason): void {
    this.#running.get(owner)?.fail(reason);
  }

  /** All processes end without a word, as with the plane's. */
  vanish(): void {
    for (const process of this.#running.values()) process.kill();
  }

  #open({ owner, directory }: OwnerSetup): MemoryStore | OwnerReason {
    if (this.away.has(owner)) return { code: "OWNER_READ_ONLY", text: "the test keeps it away" };
    const present = storeAt(this.#stores, directory);
    if (present !== undefined) return present;
    const number = randomUUID();
    const made = new MemoryStore();
    this.#stores.set(number, made);
    writeFileSync(join(directory, DATA_FILE), number);
    return made;
  }
}

/** The store that a directory leads to. */
export function storeAt(disks: ReadonlyMap<string, MemoryStore>, directory: string): MemoryStore | undefined {
  const file = join(directory, DATA_FILE);
  return existsSync(file) ? disks.get(readFileSync(file, "utf8")) : undefined;
}

interface Surroundings extends MemoryOwnersOptions {
  readonly open: () => MemoryStore | OwnerReason;
  readonly inPlace: (store: MemoryStore) => boolean;
}

class MemoryProcess implements OwnerProcess {
  readonly #events: OwnerEvents;
  readonly #surroundings: Surroundings;
  readonly #setup: OwnerSetup;
  #store: MemoryStore | undefined;
  #inbox: {
    readonly message: ToOwner;
    readonly body: readonly Packed[];
    readonly written?: (() => void) | undefined;
  }[] = [];
  #outbox: { readonly message: FromOwner; readonly body: Buffer }[] = [];
  #failed = false;
  #over = false;

  constructor(setup: OwnerSetup, events: OwnerEvents, surroundings: Surroundings) {
    this.#setup = setup;
    this.#events = events;
    this.#surroundings = surroundings;
  }

  send(message: ToOwner, body: readonly Packed[], written?: () => void): void {
    if (this.#over) written?.();
    else this.#inbox.push({ message, body, written });
  }

  kill(): void {
    this.#over = true;
    this.#outbox = [];
    for (const { written } of this.#inbox.splice(0)) written?.();
  }

  end(cause: string): void {
    if (this.#over) return;
    this.kill();
    this.#events.ended(cause);
  }

  fail(reason: OwnerReason): void {
    if (!this.#over) this.#events.message({ kind: "failed", reason }, Buffer.alloc(0));
  }

  turns(): readonly Turn["step"][] {
    if (this.#over) return [];
    const handles = !this.#failed && (this.#store === undefined || this.#inbox.length > 0);
    return [...(handles ? (["handle"] as const) : []), ...(this.#outbox.length > 0 ? (["answer"] as const) : [])];
  }

  take(step: Turn["step"]): void {
    if (this.#over) return;
    if (step === "answer") {
      const answer = this.#outbox.shift();
      if (answer !== undefined) this.#events.message(answer.message, answer.body);
    } else if (this.#store === undefined) this.#open();
    else this.#next(this.#store);
  }

  #open(): void {
    const opened = this.#surroundings.open();
    if (opened instanceof MemoryStore) {
      this.#store = opened;
      this.#answer({ kind: "opened", identity: opened.identity, ...opened.mark });
    } else this.#reportFailure(opened);
  }

  #next(store: MemoryStore): void {
    const next = this.#inbox.shift();
    if (next === undefined) return;
    // A copy made now: a buffer that is used again too early shows.
    const body = Buffer.concat(next.body.map((part) => Buffer.from(part.buffer, part.offset ?? 0, part.length)));
    next.written?.();
    try {
      this.#handle(store, next.message, body);
    } catch (error) {
      const code = error instanceof Corrupt ? "OWNER_CORRUPT" : "OWNER_FAILED";
      this.#reportFailure({ code, text: String(error) });
    }
  }

  #handle(store: MemoryStore, message: ToOwner, body: Buffer): void {
    const { spanBytesMax, answersMax, inPlace } = this.#surroundings;
    const capped = (span: Span): Span =>
      span.bytes < Number.MAX_SAFE_INTEGER ? { ...span, bytes: Math.min(span.bytes, spanBytesMax) } : span;
    const looks = ["write", "absorb", "identify", "check"].includes(message.kind);
    if (looks && !inPlace(store)) {
      this.#reportFailure({ code: "OWNER_DIRECTORY", text: `the store of ${this.#setup.owner} is gone` });
      return;
    }
    switch (message.kind) {
      case "write":
        store.merge(body);
        if (!message.more) this.#answer({ kind: "committed", through: message.seq, ...store.mark });
        return;
      case "absorb": {
        const changed = store.merge(body);
        this.#answer({ kind: "absorbed", id: message.id, changed, ...store.mark });
        return;
      }
      case "check":
        this.#answer({ kind: "checked", id: message.id });
        return;
      case "read": {
        const { count, packed } = store.read(body, answersMax);
        this.#answer({ kind: "answers", id: message.id, count }, packed);
        return;
      }
      case "list": {
        const { keys, complete } = store.list(message.range);
        this.#answer({ kind: "listed", id: message.id, complete }, packKeys(keys));
        return;
      }
      case "range": {
        const range = { ...message.range, bytes: Math.min(message.range.bytes, spanBytesMax) };
        const { packed, complete } = store.range(range);
        this.#answer({ kind: "ranged", id: message.id, complete }, packed);
        return;
      }
      case "scan": {
        const { packed, ...answer } = store.scan(capped(message.span));
        this.#answer({ kind: "scanned", id: message.id, ...answer }, packed);
        return;
      }
      case "digest": {
        const { packed, ...answer } = store.scan(capped(message.span));
        const hash = createHash("sha256").update(packed).digest("base64");
        this.#answer({ kind: "digested", id: message.id, hash, ...answer });
        return;
      }
      case "identify":
        store.identify(message.identity);
        this.#answer({ kind: "identified", id: message.id, ...store.mark });
        return;
      case "close":
        this.#failed = true;
        this.#answer({ kind: "closed" });
    }
  }

  #reportFailure(reason: OwnerReason): void {
    this.#failed = true;
    this.#answer({ kind: "failed", reason });
  }

  #answer(message: FromOwner, body: Buffer = Buffer.alloc(0)): void {
    this.#outbox.push({ message, body });
  }
}
