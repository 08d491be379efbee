import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const SUPERVISOR = fileURLToPath(new URL("supervise.sh", import.meta.url));

/** A long-lived child that ends when this process does, however this process ends. */
export interface SupervisedProcess {
  /** The child's own pid, not its supervisor's. */
  readonly pid: number;
  /** Settles when the child has ended: its exit code (128 + signal number after a signal). */
  readonly exited: Promise<number>;
  /** True once {@link exited} has settled. */
  hasExited(): boolean;
  /** SIGTERM, then SIGKILL after `deadlineMs`; returns when the child has ended. */
  stop(deadlineMs: number): Promise<void>;
  /** SIGKILL; returns when the child has ended. */
  kill(): Promise<void>;
}

/** What {@link startSupervised} starts. */
export interface SupervisedOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** File that the child's output is appended to. */
  readonly logFile: string;
  /** Folder that is removed when this process ends without having stopped the child. */
  readonly removeWhenOrphaned: string | undefined;
}

/**
 * Starts a child under `supervise.sh`. The supervisor is a session of its own, so Ctrl-C reaches only this process,
 * which then stops its children in order; and it holds the reading end of a pipe whose other end dies with us.
 *
 * @throws Error when the supervisor cannot be run.
 */
export async function startSupervised(options: SupervisedOptions): Promise<SupervisedProcess> {
  const supervisor = spawn(
    "sh",
    [SUPERVISOR, options.logFile, options.removeWhenOrphaned ?? "", options.command, ...options.args],
    { detached: true, stdio: ["pipe", "pipe", "ignore"] },
  );
  // A child that is gone already makes the pipe fail; its exit is reported by `exited`.
  supervisor.stdin.on("error", () => undefined);
  let ended = false;
  const exited = new Promise<number>((resolve) => {
    supervisor.once("exit", (code) => {
      ended = true;
      supervisor.stdin.destroy();
      resolve(code ?? 128);
    });
  });
  const pid = await firstLine(supervisor);
  release(supervisor);
  return {
    pid,
    exited,
    hasExited: () => ended,
    stop: (deadlineMs) => end(supervisor, pid, exited, "SIGTERM", deadlineMs),
    kill: () => end(supervisor, pid, exited, "SIGKILL", 10_000),
  };
}

async function firstLine(supervisor: ChildProcess & { readonly stdout: NodeJS.ReadableStream }): Promise<number> {
  const failed = once(supervisor, "error").then(([error]: unknown[]) => {
    throw error instanceof Error ? error : new Error(String(error));
  });
  const lines = createInterface({ input: supervisor.stdout });
  const closed = once(lines, "close").then(() => ["nothing"]);
  const [line]: unknown[] = await Promise.race([once(lines, "line"), failed, closed]);
  const pid = Number(line);
  if (!Number.isSafeInteger(pid) || pid <= 1)
    throw new Error(`the supervisor answered ${String(line)} instead of a pid`);
  return pid;
}

/** Lets this process end although the child runs: the pipe closes then and the supervisor ends the child. */
function release(supervisor: ChildProcess): void {
  supervisor.unref();
  for (const stream of [supervisor.stdin, supervisor.stdout]) {
    if (stream !== null && "unref" in stream && typeof stream.unref === "function") stream.unref();
  }
}

async function end(
  supervisor: ChildProcess,
  pid: number,
  exited: Promise<number>,
  first: "SIGTERM" | "SIGKILL",
  deadlineMs: number,
): Promise<void> {
  if (supervisor.exitCode !== null || supervisor.signalCode !== null) return;
  supervisor.ref();
  signalIfAlive(pid, first);
  const timer = setTimeout(() => signalIfAlive(pid, "SIGKILL"), deadlineMs);
  await exited;
  clearTimeout(timer);
}

function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // Ended between the check and the signal: what was wanted.
    if (!(error instanceof Error) || !("code" in error) || error.code !== "ESRCH") throw error;
  }
}
