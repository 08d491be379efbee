import { existsSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { type SpawnOwner, watchWorker } from "../../../src/kv/embedded/owner-thread.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

let bundle: Promise<URL> | undefined;

/**
 * Owners' threads that start from one bundled file: where Node cannot run TypeScript, each thread would otherwise start a
 * compiler of its own. The contract test uses the real way.
 */
export async function spawnBundled(): Promise<SpawnOwner> {
  return spawnFrom(await bundledWorker());
}

/** The bundled file. */
export function bundledWorker(): Promise<URL> {
  bundle ??= bundleWorker();
  return bundle;
}

/** Threads that start from a bundled file. */
export function spawnFrom(entry: URL): SpawnOwner {
  return (setup, events) => watchWorker(new Worker(entry, { workerData: setup }), events);
}

async function bundleWorker(): Promise<URL> {
  // Below node_modules, so that the bundle finds lmdb.
  const outDir = join(root, "node_modules", ".cache", "kv-owner-worker", `${process.pid}`);
  removeLeftovers(dirname(outDir));
  // Loaded here, because child processes import this module for the rest of it.
  const { build } = await import("vite");
  await build({
    root,
    configFile: false,
    logLevel: "silent",
    build: {
      ssr: join(root, "src", "kv", "embedded", "owner-worker.ts"),
      outDir,
      emptyOutDir: true,
      rollupOptions: { external: ["lmdb"], output: { entryFileNames: "owner-worker.mjs" } },
    },
  });
  return pathToFileURL(join(outDir, "owner-worker.mjs"));
}

/** Removes the bundles of processes that are gone. */
function removeLeftovers(folder: string): void {
  if (!existsSync(folder)) return;
  for (const pid of readdirSync(folder)) {
    if (!existsSync(join("/proc", pid))) rmSync(join(folder, pid), { recursive: true, force: true });
  }
}
