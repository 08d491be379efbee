import { spawn } from "node:child_process";
import type { Duplex, Readable } from "node:stream";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { FrameReader, encodeHead } from "./frames.ts";
import type { FromOwner, OwnerSetup, ToOwner } from "./protocol.ts";
import type { Packed } from "./wire.ts";

/**
 * An owner's process as the plane sees it. A process, not a thread: a page of a mapped file that cannot be read, because the
 * disk fails or the file was cut, raises SIGBUS, which ends a whole process. So does a damaged heap, and a disk that never
 * answers keeps a thread from ending. None of that may reach the other owners.
 */
export interface OwnerProcess {
  /** Sends a message with its body. `written` is called once the body's buffers are not needed any more. */
  send(message: ToOwner, body: readonly Packed[], written?: () => void): void;
  /** Ends the process at once. Does not wait: one that hangs in a system call may never end. */
  kill(): void;
}

/** What a process reports. `ended` comes once, whatever the cause, unless `kill` was called. */
export interface OwnerEvents {
  message(message: FromOwner, body: Buffer): void;
  ended(cause: string): void;
}

export type SpawnOwner = (setup: OwnerSetup, events: OwnerEvents) => OwnerProcess;

/** File descriptor of the stream in the owner's process. */
export const STREAM_FD = 3;
/** What is kept of what the process says before it dies, in characters. */
const STDERR_CHARACTERS = 400;

/** Starts `owner-main` from the sources or from the build, whichever this module is part of. */
export const spawnOwnerProcess: SpawnOwner = (setup, events) => {
  const extension = extname(new URL(import.meta.url).pathname);
  const entry = fileURLToPath(new URL(`./owner-main${extension}`, import.meta.url));
  const native: unknown = Reflect.get(process.features, "typescript");
  const loader = extension === ".ts" && typeof native !== "string" ? ["--import", import.meta.resolve("tsx")] : [];
  return startOwner([...loader, entry], setup, events);
};

/** Starts Node with `args` as an owner's process. Its environment is empty: it needs none of our secrets. */
export function startOwner(args: readonly string[], setup: OwnerSetup, events: OwnerEvents): OwnerProcess {
  // A session of its own, so that Ctrl-C in a terminal leaves it to the plane to close it.
  const child = spawn(process.execPath, [...args, JSON.stringify(setup)], {
    stdio: ["ignore", "ignore", "pipe", "pipe"],
    detached: true,
    env: {},
  });
  const stream = streamOf(child.stdio[STREAM_FD]);
  let over = false;
  let stderr = "";
  const end = (cause: string): void => {
    if (over) return;
    over = true;
    stream.destroy();
    events.ended(stderr === "" ? cause : `${cause}: ${stderr}`);
  };
  const fail = (cause: string): void => {
    end(cause);
    child.kill("SIGKILL");
  };
  const reader = new FrameReader<FromOwner>((message, body) => {
    if (!over) events.message(message, body);
  });
  keepFirst(child.stderr, (text) => {
    stderr = text;
  });
  stream.on("data", (chunk: Buffer) => {
    try {
      reader.push(chunk);
    } catch (error) {
      fail(String(error));
    }
  });
  // The process' end says why; a stream that ends before it says nothing.
  stream.on("error", () => undefined);
  child.once("error", (error) => end(error.message));
  child.once("close", (code, signal) => end(signal === null ? `it ended with code ${code}` : `it ended by ${signal}`));
  return {
    send(message, body, written) {
      if (over) return written?.();
      write(stream, message, body, written);
    },
    kill() {
      over = true;
      stream.destroy();
      child.stderr?.destroy();
      child.kill("SIGKILL");
      // One that hangs in its disk does not end: the plane must be able to.
      child.unref();
    },
  };
}

function write(stream: Duplex, message: ToOwner, body: readonly Packed[], written: (() => void) | undefined): void {
  const length = body.reduce((sum, part) => sum + part.length, 0);
  stream.cork();
  stream.write(encodeHead(message, length), body.length === 0 ? written : undefined);
  for (const [index, part] of body.entries()) {
    const bytes = Buffer.from(part.buffer, part.offset ?? 0, part.length);
    stream.write(bytes, index === body.length - 1 ? written : undefined);
  }
  stream.uncork();
}

function streamOf(pipe: unknown): Duplex {
  if (!isDuplex(pipe)) throw new Error("the owner's process has no stream");
  return pipe;
}

function isDuplex(value: unknown): value is Duplex {
  return typeof value === "object" && value !== null && "cork" in value && "destroy" in value;
}

function keepFirst(stream: Readable | null, keep: (text: string) => void): void {
  let text = "";
  stream?.on("data", (chunk: Buffer) => {
    text = (text + chunk.toString("utf8")).slice(0, STDERR_CHARACTERS);
    keep(text.trim().replaceAll(/\s+/g, " "));
  });
}
