import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import { ChunkPool } from "./chunk-pool.ts";
import { takeDirectories } from "./directories.ts";
import { formDeployment } from "./forming.ts";
import { OWNERS } from "./identity.ts";
import { OwnerGroup } from "./owner-group.ts";
import { OwnerLink } from "./owner-link.ts";
import { type SpawnOwner, spawnOwnerThread } from "./owner-thread.ts";
import { EmbeddedPlane } from "./plane.ts";

export interface EmbeddedPlaneLimits {
  /** Writes wait while an owner that is up has more bytes than this waiting. Default 64 MiB. */
  readonly pendingBytes?: number;
  /** Largest body of a cell, in bytes. Default 8 MiB. */
  readonly bodyBytesMax?: number;
  /** Address space reserved per owner, in bytes; a store grows beyond by itself. Default 64 GiB. */
  readonly mapSizeBytes?: number;
  /** An owner's transaction gathers waiting writes until it has this many bytes. Default 16 MiB. */
  readonly commitBytes?: number;
  /** An owner that answers nothing for this long while work waits is taken down. Default 30,000 ms. */
  readonly stallMs?: number;
  /** An owner goes down, as full, before its disk has fewer free bytes than this. Default 64 MiB. */
  readonly freeBytesMin?: number;
  /** At closing, an owner has this long to finish what waits. Default 10,000 ms. */
  readonly closeMs?: number;
}

export interface EmbeddedPlaneOptions {
  /** The directories of owners a, b, c: three disks in earnest. Made with mode 0700 where they are missing. */
  readonly directories: readonly [string, string, string];
  /** W: how many owners must hold a write durably before it counts. */
  readonly writeAcks: 2 | 3;
  readonly limits?: EmbeddedPlaneLimits;
  readonly clock: Clock;
  readonly logger: Logger;
}

const MIB = 1024 * 1024;
const DEFAULTS = {
  pendingBytes: 64 * MIB,
  bodyBytesMax: 8 * MIB,
  mapSizeBytes: 64 * 1024 * MIB,
  commitBytes: 16 * MIB,
  freeBytesMin: 64 * MIB,
  stallMs: 30_000,
  closeMs: 10_000,
} as const satisfies Required<EmbeddedPlaneLimits>;
const ANSWER_BYTES = 16 * MIB;

/**
 * Opens the plane over three directories, or makes it at the first start. It opens with owners that are not up, too, and
 * then refuses what it cannot do: `owners()` says why.
 * @throws StreamsError CONFIG_INVALID when two directories are the same
 * @throws KvFault KV_ENGINE when another process uses one of them
 */
export function openEmbeddedPlane(options: EmbeddedPlaneOptions): Promise<EmbeddedPlane> {
  return openWithThreads(options, spawnOwnerThread);
}

/** As {@link openEmbeddedPlane}, with a choice of how owners' threads are started. */
export async function openWithThreads(options: EmbeddedPlaneOptions, spawn: SpawnOwner): Promise<EmbeddedPlane> {
  const limits = { ...DEFAULTS, ...options.limits };
  const directories = await takeDirectories(options.directories);
  const pool = new ChunkPool();
  const listener: { plane?: EmbeddedPlane } = {};
  const links = OWNERS.map((owner) => {
    const { mapSizeBytes, commitBytes, freeBytesMin, stallMs, closeMs } = limits;
    const directory = directories.paths[owner];
    return new OwnerLink(owner, {
      setup: { owner, directory, mapSizeBytes, commitBytes, freeBytesMin, answerBytes: ANSWER_BYTES },
      spawn,
      pool,
      clock: options.clock,
      stallMs,
      closeMs,
      onChange: (link, change) => listener.plane?.linkChanged(link, change),
    });
  });
  const group = new OwnerGroup(links, { writeAcks: options.writeAcks, bodyBytesMax: limits.bodyBytesMax, pool });
  const plane = new EmbeddedPlane(group, {
    pendingBytes: limits.pendingBytes,
    logger: options.logger,
    release: directories.release,
  });
  listener.plane = plane;
  try {
    await formDeployment(links, directories.refused);
  } catch (error) {
    await plane.close();
    throw error;
  }
  return plane;
}
