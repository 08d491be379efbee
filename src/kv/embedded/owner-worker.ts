import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { invariant } from "../../core/invariant.ts";
import { DiskFull, requireSpace } from "./disk-space.ts";
import { Environment } from "./environment.ts";
import type { FromOwner, OwnerReason, OwnerSetup, ToOwner } from "./protocol.ts";
import { CorruptStore } from "./store-file.ts";

/**
 * An owner's thread: the only place that touches its LMDB environment.
 *
 * It takes every message that waits, in order, and merges consecutive writes in one transaction, so that the flushes of
 * many partitions cost one sync. After a failure it says why, once, and takes no more work: an owner never acknowledges
 * anything after a write that it could not flush.
 */
class OwnerThread {
  readonly #port: MessagePort;
  readonly #setup: OwnerSetup;
  readonly #environment: Environment;
  #failed = false;

  constructor(port: MessagePort, setup: OwnerSetup) {
    this.#port = port;
    this.#setup = setup;
    this.#environment = new Environment(setup.directory, setup.mapSizeBytes);
  }

  start(): void {
    this.#send({
      kind: "opened",
      identity: this.#environment.identity(),
      storedBytes: this.#environment.storedBytes(),
    });
    this.#port.on("message", (message: ToOwner) => this.#takeAll(message));
  }

  #takeAll(first: ToOwner): void {
    if (this.#failed) return;
    try {
      let message: ToOwner | undefined = first;
      while (message !== undefined) {
        message = message.kind === "write" ? this.#commit(message) : this.#handle(message);
      }
    } catch (error) {
      this.#failed = true;
      this.#send({ kind: "failed", reason: reasonOf(error) });
    }
  }

  /** Merges `first` and the writes that wait behind it; returns the message after them, if there is one. */
  #commit(first: ToOwner & { kind: "write" }): ToOwner | undefined {
    const writes = [first];
    let bytes = bytesOf(first);
    let next = this.#next();
    while (next?.kind === "write" && bytes < this.#setup.commitBytes) {
      writes.push(next);
      bytes += bytesOf(next);
      next = this.#next();
    }
    const parts = writes.flatMap((write) => write.parts);
    const packed = parts.map((part) => Buffer.from(part.buffer, 0, part.length));
    requireSpace(this.#setup.directory, packed, this.#setup.freeBytesMin);
    this.#environment.merge(packed);
    const buffers = parts.map((part) => part.buffer);
    const through = writes.at(-1)?.seq ?? first.seq;
    this.#send({ kind: "committed", through, buffers, storedBytes: this.#environment.storedBytes() }, buffers);
    return next;
  }

  #handle(message: Exclude<ToOwner, { kind: "write" }>): ToOwner | undefined {
    switch (message.kind) {
      case "read": {
        const { count, packed } = this.#environment.read(Buffer.from(message.addresses), this.#setup.answerBytes);
        this.#send({ kind: "answers", id: message.id, count, packed }, [packed]);
        break;
      }
      case "list":
        this.#send({ kind: "listed", id: message.id, ...this.#environment.list(message.range) });
        break;
      case "identify":
        this.#environment.identify(message.identity);
        this.#send({ kind: "identified", id: message.id });
        break;
      case "close":
        this.#close();
        return undefined;
    }
    return this.#next();
  }

  #close(): void {
    this.#failed = true;
    this.#environment.close().then(
      () => this.#send({ kind: "closed" }),
      (error: unknown) => this.#send({ kind: "failed", reason: reasonOf(error) }),
    );
  }

  #next(): ToOwner | undefined {
    const received: { readonly message: ToOwner } | undefined = receiveMessageOnPort(this.#port);
    return received?.message;
  }

  #send(message: FromOwner, transfer: ArrayBuffer[] = []): void {
    this.#port.postMessage(message, transfer);
  }
}

function bytesOf(write: ToOwner & { kind: "write" }): number {
  return write.parts.reduce((sum, part) => sum + part.length, 0);
}

/** Turns an error of the store or the file system into a stable reason. */
function reasonOf(error: unknown): OwnerReason {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof CorruptStore || /MDB_(CORRUPTED|PAGE_NOTFOUND|INVALID|VERSION_MISMATCH)/.test(text)) {
    return { code: "OWNER_CORRUPT", text };
  }
  if (error instanceof DiskFull) return { code: "OWNER_DISK_FULL", text };
  if (/MDB_MAP_FULL/.test(text)) return { code: "OWNER_MAP_FULL", text };
  if (/ENOSPC|EDQUOT|EFBIG|No space left|Disk quota|File too large/i.test(text))
    return { code: "OWNER_DISK_FULL", text };
  if (/EIO|EROFS|Input\/output error|Read-only file system/i.test(text)) return { code: "OWNER_IO", text };
  if (/EACCES|EPERM|ENOENT|ENOTDIR|Permission denied|No such file|Not a directory/i.test(text)) {
    return { code: "OWNER_DIRECTORY", text };
  }
  return { code: "OWNER_FAILED", text };
}

function main(setup: OwnerSetup): void {
  invariant(parentPort !== null, "KV_OWNER_THREAD", "this module runs in a worker thread");
  const port = parentPort;
  try {
    new OwnerThread(port, setup).start();
  } catch (error) {
    const failed: FromOwner = { kind: "failed", reason: reasonOf(error) };
    port.postMessage(failed);
  }
}

main(workerData);
