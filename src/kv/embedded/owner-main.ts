import { Socket } from "node:net";
import { systemClock } from "../../clock.ts";
import { DiskFull, requireSpace } from "./disk-space.ts";
import { Environment } from "./environment.ts";
import { FrameReader, encodeHead } from "./frames.ts";
import { STREAM_FD } from "./owner-process.ts";
import type { FromOwner, OwnerReason, OwnerSetup, ToOwner } from "./protocol.ts";
import { CorruptStore, MissingStore, StoreFile } from "./store-file.ts";
import { reachOf, TransactionSize } from "./transaction-size.ts";
import { Entries, packKeys } from "./wire.ts";

/** What a transaction of the identity alone cannot exceed: it is written on a disk that takes no more cells, too. */
const IDENTITY_FREE_BYTES = 1024 * 1024;

/**
 * An owner's process: the only one that touches its LMDB environment.
 *
 * It takes every message that waits, in order, and merges consecutive writes in one transaction, so that the flushes of
 * many partitions cost one sync. After a failure it says why, once, and takes no more work: an owner never acknowledges
 * anything after a write that it could not flush. It ends when the stream to the plane does.
 */
class OwnerMain {
  readonly #stream: Socket;
  readonly #setup: OwnerSetup;
  readonly #environment: Environment;
  readonly #file: StoreFile;
  readonly #size = new TransactionSize();
  /** Number of the last write that is flushed. */
  #through = 0;
  #waiting: { readonly message: ToOwner; readonly body: Buffer }[] = [];
  #waitingBytes = 0;
  #arrived = false;
  /** The stream stands within a message, or within a write of several. */
  #cut = false;
  #goesOn = false;
  #scheduled = false;
  #failed = false;

  constructor(stream: Socket, setup: OwnerSetup) {
    this.#stream = stream;
    this.#setup = setup;
    this.#environment = new Environment(setup.directory, setup.mapSizeBytes);
    this.#file = new StoreFile(setup.directory);
    this.#send({ kind: "opened", identity: this.#environment.identity(), ...this.#environment.mark() });
  }

  take(message: ToOwner, body: Buffer): void {
    if (this.#failed) return;
    this.#waiting.push({ message, body });
    this.#waitingBytes += body.length;
    this.#goesOn = message.kind === "write" && message.more;
  }

  /** To be called after a part of the stream was taken; `cut`: it ended within a message. */
  arrived(cut: boolean): void {
    this.#arrived = true;
    this.#cut = cut;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#failed) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      // What is on its way belongs to the same transaction: a stream hands out what it has in many turns.
      const arrived = this.#arrived;
      this.#arrived = false;
      if (this.#waitingBytes >= this.#setup.commitBytes) this.#handleAll();
      else if (arrived) this.#schedule();
      // Where the rest of a message or of a write is missing, its arrival calls again.
      else if (!this.#cut && !this.#goesOn) this.#handleAll();
    });
  }

  #handleAll(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    try {
      let at = 0;
      while (at < waiting.length) at = this.#handleNext(waiting, at);
    } catch (error) {
      this.#fail(error);
    }
  }

  #handleNext(waiting: readonly { readonly message: ToOwner; readonly body: Buffer }[], from: number): number {
    const first = waiting[from];
    if (first === undefined) return from + 1;
    if (first.message.kind !== "write") {
      this.#handle(first.message, first.body);
      return from + 1;
    }
    const writes: { readonly seq: number; readonly more: boolean }[] = [];
    const parts: Buffer[] = [];
    let bytes = 0;
    let at = from;
    for (; at < waiting.length && bytes < this.#setup.commitBytes; at += 1) {
      const next = waiting[at];
      if (next?.message.kind !== "write") break;
      writes.push(next.message);
      parts.push(next.body);
      bytes += next.body.length;
    }
    let reported = 0;
    this.#merge(parts, (passed) => {
      this.#through = writes.slice(reported, passed).findLast(({ more }) => !more)?.seq ?? this.#through;
      reported = passed;
      // Also where no write is whole yet: an owner on a slow disk is not one that stalls.
      this.#send({ kind: "committed", through: this.#through, ...this.#environment.mark() });
    });
    return at;
  }

  /** Merges in transactions that do not take long; `flushed` is told after each how many of the parts it went past. */
  #merge(parts: readonly Buffer[], flushed: (passed: number) => void = () => undefined): number {
    requireSpace(this.#setup.directory, parts, this.#setup.freeBytesMin);
    const cells = new Entries(parts);
    let changed = 0;
    do {
      const began = systemClock.monotonic();
      const allowed = this.#size.changes(this.#environment.pages());
      this.#file.reach(this.#environment.mark().storedBytes + reachOf(allowed, cells.bytesLeft));
      const some = this.#environment.merge(cells, allowed);
      this.#file.reach(this.#environment.mark().storedBytes);
      this.#size.took(some, allowed, systemClock.monotonic() - began);
      changed += some;
      flushed(cells.passed);
    } while (!cells.ended);
    return changed;
  }

  #handle(message: Exclude<ToOwner, { kind: "write" }>, body: Buffer): void {
    switch (message.kind) {
      case "absorb": {
        const changed = this.#merge([body]);
        this.#send({ kind: "absorbed", id: message.id, changed, ...this.#environment.mark() });
        return;
      }
      case "read": {
        const { count, packed } = this.#environment.read(body, this.#setup.answerBytes);
        this.#send({ kind: "answers", id: message.id, count }, packed);
        return;
      }
      case "list": {
        const { keys, complete } = this.#environment.list(message.range);
        this.#send({ kind: "listed", id: message.id, complete }, packKeys(keys));
        return;
      }
      case "range": {
        const { packed, complete } = this.#environment.range(message.range);
        this.#send({ kind: "ranged", id: message.id, complete }, packed);
        return;
      }
      case "scan": {
        const { packed, ...answer } = this.#environment.scan(message.span);
        this.#send({ kind: "scanned", id: message.id, ...answer }, packed);
        return;
      }
      case "digest":
        this.#send({ kind: "digested", id: message.id, ...this.#environment.digest(message.span) });
        return;
      case "identify":
        this.#file.requireInPlace();
        requireSpace(this.#setup.directory, [], Math.min(this.#setup.freeBytesMin, IDENTITY_FREE_BYTES));
        this.#environment.identify(message.identity);
        this.#send({ kind: "identified", id: message.id, ...this.#environment.mark() });
        return;
      case "check":
        this.#file.requireInPlace();
        this.#send({ kind: "checked", id: message.id });
        return;
      case "close":
        this.#close();
    }
  }

  #close(): void {
    this.#failed = true;
    this.#environment.close().then(
      () => this.#send({ kind: "closed" }),
      (error: unknown) => this.#send({ kind: "failed", reason: reasonOf(error) }),
    );
  }

  #fail(error: unknown): void {
    this.#failed = true;
    this.#send({ kind: "failed", reason: reasonOf(error) });
  }

  #send(message: FromOwner, body?: Buffer): void {
    send(this.#stream, message, body);
  }
}

function send(stream: Socket, message: FromOwner, body?: Buffer): void {
  stream.cork();
  stream.write(encodeHead(message, body?.length ?? 0));
  if (body !== undefined) stream.write(body);
  stream.uncork();
}

/** Turns an error of the store or the file system into a stable reason. */
function reasonOf(error: unknown): OwnerReason {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof CorruptStore || /MDB_(CORRUPTED|PAGE_NOTFOUND|INVALID|VERSION_MISMATCH)/.test(text)) {
    return { code: "OWNER_CORRUPT", text };
  }
  if (error instanceof MissingStore) return { code: "OWNER_DIRECTORY", text };
  if (error instanceof DiskFull) return { code: "OWNER_DISK_FULL", text };
  if (/MDB_MAP_FULL/.test(text)) return { code: "OWNER_MAP_FULL", text };
  if (/ENOSPC|EDQUOT|EFBIG|No space left|Disk quota|File too large/i.test(text))
    return { code: "OWNER_DISK_FULL", text };
  if (/EROFS|Read-only file system/i.test(text)) return { code: "OWNER_READ_ONLY", text };
  if (/EIO|Input\/output error/i.test(text)) return { code: "OWNER_IO", text };
  if (/EACCES|EPERM|ENOENT|ENOTDIR|Permission denied|No such file|Not a directory/i.test(text)) {
    return { code: "OWNER_DIRECTORY", text };
  }
  return { code: "OWNER_FAILED", text };
}

/** Signals that reach a whole process group or container: the plane takes them and closes its owners when it is done. */
function leaveSignalsToThePlane(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
}

/** The setup comes from the plane of this release, as the last argument. */
function readSetup(text: string | undefined): OwnerSetup {
  const setup: OwnerSetup = JSON.parse(text ?? "null");
  return setup;
}

function main(): void {
  leaveSignalsToThePlane();
  const stream = new Socket({ fd: STREAM_FD, readable: true, writable: true });
  // The plane is gone, or wants no more of us. Whatever was acknowledged is flushed.
  const end = (): void => process.exit(0);
  stream.on("end", end);
  stream.on("error", end);
  stream.on("close", end);
  try {
    const owner = new OwnerMain(stream, readSetup(process.argv.at(-1)));
    const reader = new FrameReader<ToOwner>((message, body) => owner.take(message, body));
    stream.on("data", (chunk: Buffer) => {
      reader.push(chunk);
      owner.arrived(reader.cut);
    });
  } catch (error) {
    // Read on, so that the end of the stream is noticed.
    stream.resume();
    send(stream, { kind: "failed", reason: reasonOf(error) });
  }
}

main();
