import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { bundledOwner } from "./bundled.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const script = fileURLToPath(new URL("./child.ts", import.meta.url));

/** A running `child.ts`. */
export interface Child {
  readonly pid: number;
  /** What it reported so far. */
  readonly lines: readonly string[];
  /** Resolves when it has reported `count` lines. Rejects when it ends before. */
  reported(count: number): Promise<void>;
  /** Kills it with SIGKILL and waits for its end. */
  kill(): Promise<void>;
  /** Waits for its end; returns the signal that ended it. */
  ended(): Promise<NodeJS.Signals | null>;
}

const running = new Set<ChildProcess>();

/** Kills what a failed test left running. */
export function killChildren(): void {
  for (const child of running) child.kill("SIGKILL");
}

/** Starts `child.ts` on the folder of a site. */
export async function startChild(task: "write" | "hold" | "form", folder: string, nth = 0): Promise<Child> {
  const worker = await bundledOwner();
  const child = spawn(process.execPath, ["--import", "tsx", script, task, folder, worker.href, `${nth}`], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const exit = once(child, "exit");
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    for (const check of waiting) check();
  });
  return {
    pid: child.pid ?? 0,
    lines,
    reported: (count) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (lines.length >= count) resolve();
        };
        waiting.add(check);
        child.once("exit", () => reject(new Error("the child ended")));
        check();
      }),
    async kill() {
      child.kill("SIGKILL");
      await exit;
      await drained(child);
    },
    async ended() {
      await exit;
      return child.signalCode;
    },
  };
}

async function drained(child: ChildProcess): Promise<void> {
  if (child.stdout !== null && !child.stdout.closed) await once(child.stdout, "close");
}
