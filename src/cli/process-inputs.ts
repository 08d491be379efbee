import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readBounded } from "../config/index.ts";
import type { CliInputs } from "./inputs.ts";
import { readToken } from "./read-token.ts";

/** The surroundings of this process, without what only the whole program can do. */
export function processInputs(): Omit<CliInputs, "serve" | "sourceFaults" | "pause"> {
  return {
    argv: process.argv.slice(2),
    env: process.env,
    cwd: process.cwd(),
    readFile: readBounded,
    version: packageVersion(),
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    readToken: () => readToken(process.stdin, (text) => void process.stderr.write(text)),
  };
}

/** Version of this package, from the nearest package.json above this file, built or not. */
export function packageVersion(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const version = versionIn(join(folder, "package.json"));
    if (version !== undefined) return version;
    if (dirname(folder) === folder) return "unknown";
    folder = dirname(folder);
  }
}

function versionIn(file: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
  const parsed: unknown = JSON.parse(text);
  return typeof parsed === "object" && parsed !== null && "version" in parsed ? String(parsed.version) : undefined;
}
