import { execFileSync } from "node:child_process";
import { lstatSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** Root of the repository. */
export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** A file under version control, or about to be. */
export interface SourceFile {
  /** Relative to the root, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** Every file that git knows or would add, with text in it. */
export function repositoryFiles(): readonly SourceFile[] {
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return listed
    .split("\0")
    .filter((path) => path !== "" && lstatSync(join(ROOT, path), { throwIfNoEntry: false })?.isFile() === true)
    .map((path) => ({ path, bytes: readFileSync(join(ROOT, path)) }))
    .filter(({ bytes }) => !bytes.includes(0))
    .map(({ path, bytes }) => ({ path, text: bytes.toString("utf8") }));
}

/** Whether a file is TypeScript or JavaScript that people write. */
export function isCode({ path }: SourceFile): boolean {
  return /\.(?:ts|mts|cts|mjs|js)$/.test(path) && !path.endsWith(".d.mts");
}

/** Whether a path is `place` itself or lies within it. */
export function isWithin(path: string, place: string): boolean {
  return place === "" || path === place || path.startsWith(`${place}/`);
}
