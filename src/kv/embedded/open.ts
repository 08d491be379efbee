import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import { ChunkPool } from "./chunk-pool.ts";
import { type TakenDirectories, takeDirectories } from "./directories.ts";
import type { Deployment } from "./formation.ts";
import { formDeployment } from "./forming.ts";
import { Healer } from "./healer.ts";
import { OWNERS, type OwnerName } from "./identity.ts";
import { OwnerGroup } from "./owner-group.ts";
import { OwnerLink } from "./owner-link.ts";
import { type SpawnOwner, spawnOwnerProcess } from "./owner-process.ts";
import { EmbeddedPlane } from "./plane.ts";
import type { OwnerReason } from "./protocol.ts";

export interface EmbeddedPlaneLimits {
  /** Writes wait while an owner that is up has more bytes than this waiting. Default 64 MiB. */
  readonly pendingBytes?: number;
  /** Largest body of a cell, in bytes. Default 8 MiB. */
  readonly bodyBytesMax?: number;
  /** Address space reserved per owner, in bytes; a store grows beyond by itself. Default 64 GiB. */
  readonly mapSizeBytes?: number;
  /** An owner's transaction gathers waiting writes until it has this many bytes. Default 16 MiB. */
  readonly commitBytes?: number;
  /** An owner that answers nothing for this long while work waits is taken down. Default 10,000 ms. */
  readonly stallMs?: number;
  /** So is one for which writes wait this long while a quorum has nothing to do. Default 5,000 ms. */
  readonly behindMs?: number;
  /** How long after going down an owner is looked at again: at first, and at most. Default 1,000 and 60,000 ms. */
  readonly retryInitialMs?: number;
  readonly retryMaxMs?: number;
  /** How fast a new incarnation merges the others, in bytes of one of them per second. Default 64 MiB. */
  readonly mergeBytesPerSecond?: number;
  /** How fast owners that are up are compared. Default 8 MiB. */
  readonly compareBytesPerSecond?: number;
  /** From the end of one comparison to the next, and after a start or a return. Default 6 h and 30,000 ms. */
  readonly compareEveryMs?: number;
  readonly compareSoonMs?: number;
  /** How often owners are asked whether they are still there. Default 5,000 ms. */
  readonly pulseMs?: number;
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
/** What {@link EmbeddedPlaneLimits} says that is not given. */
export const PLANE_DEFAULTS = {
  pendingBytes: 64 * MIB,
  bodyBytesMax: 8 * MIB,
  mapSizeBytes: 64 * 1024 * MIB,
  commitBytes: 16 * MIB,
  freeBytesMin: 64 * MIB,
  stallMs: 10_000,
  behindMs: 5_000,
  closeMs: 10_000,
  retryInitialMs: 1_000,
  retryMaxMs: 60_000,
  mergeBytesPerSecond: 64 * MIB,
  compareBytesPerSecond: 8 * MIB,
  compareEveryMs: 6 * 3_600_000,
  compareSoonMs: 30_000,
  pulseMs: 5_000,
} as const satisfies Required<EmbeddedPlaneLimits>;
const ANSWER_BYTES = 16 * MIB;

/**
 * Opens the plane over three directories, or makes it at the first start. It opens with owners that are not up, too, and
 * then refuses what it cannot do: `owners()` says why. Owners that are not up are brought back by themselves where that is
 * safe.
 * @throws StreamsError CONFIG_INVALID when two directories are the same
 * @throws KvFault KV_ENGINE when another process uses one of them
 */
export function openEmbeddedPlane(options: EmbeddedPlaneOptions): Promise<EmbeddedPlane> {
  return openWith(options, spawnOwnerProcess);
}

/** As {@link openEmbeddedPlane}, with a choice of how owners' processes are started. */
export async function openWith(options: EmbeddedPlaneOptions, spawn: SpawnOwner): Promise<EmbeddedPlane> {
  const limits = { ...PLANE_DEFAULTS, ...options.limits };
  const { clock, logger, writeAcks } = options;
  const directories = await takeDirectories(options.directories);
  const listener: { plane?: EmbeddedPlane } = {};
  const links = OWNERS.map((owner) => {
    const { mapSizeBytes, commitBytes, freeBytesMin, stallMs, closeMs } = limits;
    const directory = directories.paths[owner];
    return new OwnerLink(owner, {
      setup: { owner, directory, mapSizeBytes, commitBytes, freeBytesMin, answerBytes: ANSWER_BYTES },
      spawn,
      clock,
      stallMs,
      closeMs,
      onChange: (link, change) => listener.plane?.linkChanged(link, change),
    });
  });
  const pool = new ChunkPool();
  const group = new OwnerGroup(links, { writeAcks, bodyBytesMax: limits.bodyBytesMax, pool });
  const { pendingBytes, behindMs } = limits;
  const plane = new EmbeddedPlane(group, { clock, pendingBytes, behindMs, logger, release: directories.release });
  listener.plane = plane;
  const beginHealing = (deployment: Deployment): void => {
    plane.heal(new Healer(group, deployment, { ...limits, clock, logger, directories, busy: () => plane.busy }));
  };
  try {
    const deployment = await formDeployment(links, directories.refused);
    if (deployment === undefined) formLater(links, { plane, directories, clock, logger, limits, beginHealing });
    else beginHealing(deployment);
  } catch (error) {
    await plane.close();
    throw error;
  }
  return plane;
}

interface Formers {
  readonly plane: EmbeddedPlane;
  readonly directories: TakenDirectories;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: Required<EmbeddedPlaneLimits>;
  readonly beginHealing: (deployment: Deployment) => void;
}

/** While no directory tells which deployment this is, because disks are away at a boot, all are looked at again. */
function formLater(links: readonly OwnerLink[], formers: Formers): void {
  const { plane, directories, clock, logger, limits, beginHealing } = formers;
  const form = async (): Promise<void> => {
    if (plane.closing) return;
    const refused = new Map<OwnerName, OwnerReason>();
    for (const { owner } of links) {
      const reason = await directories.retake(owner, true);
      if (reason !== undefined) refused.set(owner, reason);
    }
    const deployment = await formDeployment(links, refused);
    if (plane.closing) return;
    if (deployment === undefined) formLater(links, formers);
    else beginHealing(deployment);
  };
  clock.after(limits.retryMaxMs, () => {
    form().catch((error: unknown) => {
      logger.error({ detail: String(error) }, "looking at the owners again failed");
      formLater(links, formers);
    });
  });
}
