import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { FromOwner, OwnerSetup, ToOwner } from "./protocol.ts";

/** An owner's thread as the plane sees it. */
export interface OwnerThread {
  /** Sends a message; the buffers of `transfer` move to the thread. */
  send(message: ToOwner, transfer: ArrayBuffer[]): void;
  /** Ends the thread at once. Does not wait: one that hangs in a system call may never end. */
  terminate(): void;
}

/** What a thread reports. `ended` comes once, whatever the cause, unless `terminate` was called. */
export interface OwnerEvents {
  message(message: FromOwner): void;
  ended(cause: string): void;
}

export type SpawnOwner = (setup: OwnerSetup, events: OwnerEvents) => OwnerThread;

/** Starts a worker thread on `owner-worker`, from the sources or from the build, whichever this module is part of. */
export const spawnOwnerThread: SpawnOwner = (setup, events) => watchWorker(startWorker(setup), events);

/** Turns a worker thread that runs `owner-worker` into an owner's thread. */
export function watchWorker(worker: Worker, events: OwnerEvents): OwnerThread {
  let ended = false;
  const end = (cause: string): void => {
    if (ended) return;
    ended = true;
    events.ended(cause);
  };
  worker.on("message", (message: FromOwner) => events.message(message));
  worker.on("messageerror", (error) => end(`a message could not be read: ${error.message}`));
  worker.on("error", (error) => end(error instanceof Error ? error.message : String(error)));
  worker.on("exit", (code) => end(`the thread exited with code ${code}`));
  return {
    send: (message, transfer) => worker.postMessage(message, transfer),
    terminate() {
      ended = true;
      worker.terminate().catch(() => undefined);
    },
  };
}

function startWorker(setup: OwnerSetup): Worker {
  const options = { workerData: setup, name: `kv-owner-${setup.owner}` };
  const extension = extname(new URL(import.meta.url).pathname);
  const entry = new URL(`./owner-worker${extension}`, import.meta.url);
  const native: unknown = Reflect.get(process.features, "typescript");
  if (extension !== ".ts" || typeof native === "string") return new Worker(entry, options);
  // Run from the sources by a Node that cannot: `--import tsx` has no effect in a thread, its registration has.
  const loader = JSON.stringify(import.meta.resolve("tsx/esm/api"));
  const bootstrap = `import(${loader}).then((tsx) => tsx.register()).then(() => import(${JSON.stringify(entry.href)}));`;
  return new Worker(bootstrap, { ...options, eval: true, execArgv: [] });
}
