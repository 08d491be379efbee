import { existsSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type SpawnOwner, startOwner } from "../../../src/kv/embedded/owner-process.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

let bundle: Promise<URL> | undefined;

/**
 * Owners' processes that start from one bundled file: where Node cannot run TypeScript, each process would otherwise start a
 * compiler of its own. The contract test uses the real way.
 */
export async function spawnBundled(): Promise<SpawnOwner> {
  return spawnFrom(await bundledOwner());
}

/** The bundled file. */
export function bundledOwner(): Promise<URL> {
  bundle ??= bundleOwner();
  return bundle;
}

/** Processes that start from a bundled file. */
export function spawnFrom(entry: URL): SpawnOwner {
  return (setup, events) => startOwner([fileURLToPath(entry)], setup, events);
}

async function bundleOwner(): Promise<URL> {
  // Below node_modules, so that the bundle finds its packages.
  const outDir = join(root, "node_modules", ".cache", "kv-owner", `${process.pid}`);
  removeLeftovers(dirname(outDir));
  // Loaded here, because child processes import this module for the rest of it.
  const { build } = await import("vite");
  await build({
    root,
    configFile: false,
    logLevel: "silent",
    build: {
      ssr: join(root, "src", "kv", "embedded", "owner-main.ts"),
      outDir,
      emptyOutDir: true,
      rollupOptions: { external: ["lmdb", "@node-rs/crc32"], output: { entryFileNames: "owner-main.mjs" } },
    },
  });
  return pathToFileURL(join(outDir, "owner-main.mjs"));
}

/** Removes the bundles of processes that are gone. */
function removeLeftovers(folder: string): void {
  if (!existsSync(folder)) return;
  for (const pid of readdirSync(folder)) {
    if (!existsSync(join("/proc", pid))) rmSync(join(folder, pid), { recursive: true, force: true });
  }
}
