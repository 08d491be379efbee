import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** How a script ended. */
export interface ScriptResult {
  readonly code: number | string;
  readonly output: string;
}

/**
 * Runs CommonJS text in a Node of its own, with kafkajs as published and no guards, from the repository's folder.
 * The script gets `args` as `process.argv.slice(1)`.
 */
export async function runScript(text: string, args: readonly string[] = [], timeoutMs = 60_000): Promise<ScriptResult> {
  return new Promise((resolve) => {
    const options = { cwd: ROOT, timeout: timeoutMs, maxBuffer: 1 << 24 };
    execFile(process.execPath, ["-e", text, ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : (error.code ?? "killed"), output: stdout + stderr });
    });
  });
}
