import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type SpawnOwner, startOwner } from "../../../src/kv/embedded/owner-process.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

const FOLDER = join(root, "node_modules", ".cache", "kv-owner");
let owner: Promise<URL> | undefined;

/**
 * Owners' processes that start from one bundled file: where Node cannot run TypeScript, each process would otherwise start a
 * compiler of its own. The contract test uses the real way.
 */
export async function spawnBundled(): Promise<SpawnOwner> {
  return spawnFrom(await bundledOwner());
}

/** The bundled file. */
export function bundledOwner(): Promise<URL> {
  owner ??= bundle(join(root, "src", "kv", "embedded", "owner-main.ts"), "owner-main");
  return owner;
}

/** Processes that start from a bundled file. */
export function spawnFrom(entry: URL): SpawnOwner {
  return (setup, events) => startOwner([fileURLToPath(entry)], setup, events);
}

/** Bundles a script of ours into one file that Node runs as it is. */
export async function bundle(script: string, name: string): Promise<URL> {
  // Below node_modules, so that the bundle finds its packages.
  const outDir = join(FOLDER, `${process.pid}`, name);
  removeLeftovers(FOLDER);
  // Loaded here, because child processes import this module for the rest of it.
  const { build } = await import("vite");
  await build({
    root,
    configFile: false,
    logLevel: "silent",
    build: {
      ssr: script,
      outDir,
      emptyOutDir: true,
      rollupOptions: { external: ["lmdb", "@node-rs/crc32", "vite"], output: { entryFileNames: `${name}.mjs` } },
    },
  });
  return pathToFileURL(join(outDir, `${name}.mjs`));
}

/** Removes the bundles of processes that are gone. */
function removeLeftovers(folder: string): void {
  if (!existsSync(folder)) return;
  for (const pid of readdirSync(folder)) {
    if (!existsSync(join("/proc", pid))) rmSync(join(folder, pid), { recursive: true, force: true });
  }
}
