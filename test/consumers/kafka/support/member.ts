import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { onTestFinished, vi } from "vitest";

const SCRIPT = fileURLToPath(new URL("member-process.ts", import.meta.url));
const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** A group member in a process of its own (see `member-process.ts`). It is killed when the test is finished. */
export class Member {
  readonly #child: ChildProcess;
  readonly lines: string[] = [];

  constructor(broker: string, topic: string, group: string, sessionMs: number) {
    const args = ["--import", "tsx", SCRIPT, broker, topic, group, String(sessionMs)];
    this.#child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["pipe", "pipe", "inherit"] });
    this.#child.stdout?.on("data", (chunk: Buffer) => this.lines.push(...chunk.toString().trim().split("\n")));
    onTestFinished(async () => this.signal("SIGKILL"));
  }

  async until(prefix: string): Promise<string> {
    return vi.waitFor(
      () => {
        const line = this.lines.findLast((candidate) => candidate.startsWith(prefix));
        if (line === undefined) throw new Error(`no line ${prefix} in ${this.lines.join(" | ")}`);
        return line.slice(prefix.length).trim();
      },
      { timeout: 20_000, interval: 20 },
    );
  }

  /** Sends a signal; after SIGKILL resolves when the process is gone. */
  async signal(signal: NodeJS.Signals): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, "exit");
    this.#child.kill(signal);
    if (signal === "SIGKILL") await gone;
  }

  /** Has it commit under its first assignment, as soon as it runs; answered by a line `commit <outcome>`. */
  commit(offset: number): void {
    this.#child.stdin?.write(`${offset}\n`);
  }

  /** Ends its standard input, which stops it, and resolves with its exit code once it has ended by itself. */
  async end(): Promise<unknown> {
    const gone = once(this.#child, "exit");
    this.#child.stdin?.end();
    return (await gone)[0];
  }
}
