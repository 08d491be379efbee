import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, totalmem } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const RESULTS = fileURLToPath(new URL("../../bench/results/", import.meta.url));

/** What a soak run or a bench measured, by name; names end in their unit. */
export type Figures = Readonly<Record<string, number | string | boolean>>;

/**
 * Writes the figures of a run with what is needed to compare them later (when, which commit, which machine) to
 * `bench/results/NAME-DATE.json` and returns the file's path.
 */
export function writeSoakResult(name: string, figures: Figures, folder: string = RESULTS): string {
  const date = new Date().toISOString();
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name}-${date.replaceAll(/[:.]/g, "-")}.json`);
  const result = {
    name,
    date,
    commit: commit(),
    node: process.version,
    cores: availableParallelism(),
    cpu: cpus()[0]?.model ?? "unknown",
    memoryMiB: Math.round(totalmem() / 1024 / 1024),
    figures,
  };
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
  return file;
}

/** The commit that was measured; says so when files differ from it. */
function commit(): string {
  const git = (...args: readonly string[]): string => execFileSync("git", args, { encoding: "utf8" }).trim();
  try {
    const changed = git("status", "--porcelain", "--untracked-files=no") !== "";
    return `${git("rev-parse", "HEAD")}${changed ? " and changes" : ""}`;
  } catch {
    return "unknown (no git checkout)";
  }
}
