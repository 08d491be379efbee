import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/** Why this machine cannot mount a file system for a test; undefined when it can. */
export const noDisks: string | undefined = cannotMount();

function cannotMount(): string | undefined {
  const tried = spawnSync("unshare", ["-m", "sh", "-c", "mount -t tmpfs -o size=64k none /mnt"], { encoding: "utf8" });
  return tried.status === 0 ? undefined : `no tmpfs can be mounted here: ${tried.stderr || String(tried.error)}`;
}

/**
 * A mount namespace that a shell of its own holds: what is mounted there is reached from here through the shell's root, and
 * is gone when the shell ends, however the test does.
 */
export class SmallDisks {
  readonly #shell: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  readonly #reader: Interface;

  constructor() {
    this.#shell = spawn("unshare", ["-m", "sh"], { stdio: ["pipe", "pipe", "inherit"] });
    this.#reader = createInterface({ input: this.#shell.stdout });
    this.#lines = this.#reader[Symbol.asyncIterator]();
  }

  /** Mounts a tmpfs of `mib` on `folder`, which must exist; returns the path by which it is reached. */
  async mount(folder: string, mib: number): Promise<string> {
    await this.run(`mount -t tmpfs -o size=${mib}m none '${folder}'`);
    return this.path(folder);
  }

  /** The path by which `folder` is reached as the namespace sees it. */
  path(folder: string): string {
    return `/proc/${this.#shell.pid}/root${folder}`;
  }

  /** Runs a command there. */
  async run(command: string): Promise<void> {
    this.#shell.stdin.write(`${command}; echo $?\n`);
    const { value } = await this.#lines.next();
    if (value !== "0") throw new Error(`${command}: ${String(value)}`);
  }

  /** Ends the shell, and with it the mounts that nobody uses. */
  async close(): Promise<void> {
    this.#shell.stdin.end();
    if (this.#shell.exitCode === null) await once(this.#shell, "exit");
    this.#reader.close();
  }
}
