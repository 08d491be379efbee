import { spawn } from "node:child_process";

/** How a command ended. `code` is undefined when it could not be started or did not end by itself. */
export interface CommandResult {
  readonly code: number | undefined;
  /** What it wrote to stdout alone, trimmed. */
  readonly stdout: string;
  /** What it wrote, both streams in order of arrival, trimmed; at most the last 64 KiB. */
  readonly output: string;
  /** Why there is no code: not found, over its time limit, cancelled. */
  readonly failure: string | undefined;
}

/** Options of {@link runCommand}. */
export interface CommandOptions {
  /** Milliseconds after which the command is killed. */
  readonly timeoutMs: number;
  readonly cwd?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const OUTPUT_LIMIT = 64 * 1024;

/**
 * Runs a command to its end and returns how it ended; a command that cannot be started, that takes too long or that is
 * cancelled is a result, too. Never rejects.
 */
export function runCommand(command: string, args: readonly string[], options: CommandOptions): Promise<CommandResult> {
  return new Promise((resolve) => {
    let output = "";
    let stdout = "";
    const child = spawn(command, [...args], {
      cwd: options.cwd,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: options.timeoutMs,
      killSignal: "SIGKILL",
      signal: options.signal,
    });
    const finish = (code: number | undefined, failure: string | undefined): void =>
      resolve({ code, stdout: stdout.trim(), output: output.trim(), failure });
    child.stdout.on("data", (chunk: Buffer) => {
      stdout = (stdout + chunk.toString("utf8")).slice(-OUTPUT_LIMIT);
      output = (output + chunk.toString("utf8")).slice(-OUTPUT_LIMIT);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString("utf8")).slice(-OUTPUT_LIMIT);
    });
    child.once("error", (error: NodeJS.ErrnoException) => finish(undefined, failureOf(command, error)));
    child.once("close", (code, signal) => {
      if (code !== null) finish(code, undefined);
      else finish(undefined, `${command} was ended by ${String(signal)} (its limit is ${options.timeoutMs} ms)`);
    });
  });
}

function failureOf(command: string, error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return `${command} was not found`;
  if (error.name === "AbortError") return `${command} was cancelled`;
  return `${command} could not be run: ${error.message}`;
}
