import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../src/clock.ts";
import { type EmbeddedPlaneLimits, type EmbeddedPlaneOptions, openWith } from "../../../src/kv/embedded/open.ts";
import { spawnBundled } from "./bundled.ts";
import type { EmbeddedPlane } from "../../../src/kv/embedded/plane.ts";
import type { SpawnOwner } from "../../../src/kv/embedded/owner-process.ts";
import type { Logger } from "../../../src/ports/logger.ts";

export const MIB = 1024 * 1024;

export const text = (value: string): Uint8Array => new TextEncoder().encode(value);

/** A logger that keeps its lines. */
export function memoryLogger(): Logger & { readonly lines: { readonly level: string; readonly fields: object }[] } {
  const lines: { level: string; fields: object }[] = [];
  const at =
    (level: string) =>
    (fields: object): void => {
      lines.push({ level, fields });
    };
  const logger = { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  return { ...logger, child: () => memoryLogger() };
}

/** Three directories of one test, and the planes opened over them. */
export interface Site {
  readonly root: string;
  readonly directories: readonly [string, string, string];
  open(options?: SiteOptions): Promise<EmbeddedPlane>;
  /** Closes what is open and removes everything. */
  destroy(): Promise<void>;
}

export interface SiteOptions {
  readonly writeAcks?: 2 | 3;
  readonly limits?: EmbeddedPlaneLimits;
  readonly spawn?: SpawnOwner;
  readonly clock?: EmbeddedPlaneOptions["clock"];
  readonly directories?: readonly [string, string, string];
}

export function makeSite(): Site {
  return siteAt(mkdtempSync(join(tmpdir(), "ysearch-kv-")));
}

export function siteAt(root: string): Site {
  const directories = [join(root, "a"), join(root, "b"), join(root, "c")] as const;
  const planes: EmbeddedPlane[] = [];
  return {
    root,
    directories,
    async open(options = {}) {
      const plane = await openWith(
        {
          directories: options.directories ?? directories,
          writeAcks: options.writeAcks ?? 2,
          limits: { mapSizeBytes: 256 * MIB, ...options.limits },
          clock: options.clock ?? systemClock,
          logger: memoryLogger(),
        },
        options.spawn ?? (await spawnBundled()),
      );
      planes.push(plane);
      return plane;
    },
    async destroy() {
      await Promise.all(planes.map((plane) => plane.close()));
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Takes an owner's directory away from a closed site, as a disk that is not mounted: the owner starts lost. */
export function takeAway(site: Site, index: 0 | 1 | 2): void {
  renameSync(site.directories[index], `${site.directories[index]}.away`);
}

/** Brings it back as it was. */
export function bringBack(site: Site, index: 0 | 1 | 2): void {
  rmSync(site.directories[index], { recursive: true, force: true });
  renameSync(`${site.directories[index]}.away`, site.directories[index]);
}
