import type { Logger } from "../../ports/logger.ts";
import type { DeploymentState } from "./deployment.ts";
import type { Identity } from "./identity.ts";
import type { OwnerLink } from "./owner-link.ts";
import { OwnerDown } from "./pending.ts";
import { type Pace, walk } from "./walk.ts";

/** What merging needs of the plane. */
export interface MergeSurroundings {
  readonly deployment: DeploymentState;
  readonly others: readonly OwnerLink[];
  /** How many of them it must merge. */
  readonly peersNeeded: () => number;
  readonly pace: Pace;
  readonly logger: Logger;
  /** One walk at a time. */
  readonly alone: (task: () => Promise<void>) => Promise<void>;
  /** Resolves at the next change of an owner's state. */
  readonly nextChange: () => Promise<void>;
  readonly closing: () => boolean;
}

/** Passes after which an owner that still lacks something is given up. */
const PASSES_MAX = 4;

/**
 * Brings a new incarnation to where it counts: it takes everything that *both* others hold. One is not enough: what that one
 * missed was acknowledged by the other and by the life that is lost.
 *
 * 1. It is sent every write from now on (`merging`), and counts for nothing.
 * 2. A pass merges what the others hold into it, span by span.
 * 3. A further pass compares every cell of all three, byte for byte by SHA-256 of each span, and must find nothing missing:
 *    every write since 1 reached it as well. If something was, there is one more pass.
 * 4. `formed` is flushed, and it counts.
 *
 * An interruption by another owner begins again at 2; after its own end, its next process begins at 1. With `peersNeeded`
 * below both, an operator has accepted what only lost owners held: another one that merges, too, then gives what it has.
 */
export async function mergeUntilItCounts(link: OwnerLink, surroundings: MergeSurroundings): Promise<void> {
  const { deployment, nextChange, closing, alone, logger, others, peersNeeded } = surroundings;
  // Of one life only: a process that died and came back between two spans has missed what was written meanwhile.
  const { life } = link;
  const goesOn = (): boolean => !closing() && link.state === "merging" && link.life === life;
  while (goesOn()) {
    const lossAccepted = peersNeeded() < others.length;
    const peers = others.filter((peer) => peer.up || (lossAccepted && peer.receives));
    if (peers.length < peersNeeded()) {
      link.progress({ phase: "waiting", cells: 0, bytes: 0, expectedBytes: 0 });
      await nextChange();
      continue;
    }
    await alone(async () => {
      try {
        const lives = peers.map((peer) => peer.life);
        const alike = (): boolean => peers.every((peer, index) => peer.receives && peer.life === lives[index]);
        await merge(link, peers, { ...surroundings, goesOn: () => goesOn() && alike() });
        // It has all: what becomes of the others now does not matter.
        const formed = await deployment.form(link, deployment.identityOf(link.owner, "merging"));
        if (goesOn()) link.serve(formed);
      } catch (error) {
        if (!(error instanceof OwnerDown)) throw error;
        logger.warn({ owner: link.owner, detail: error.message }, "merging was interrupted and begins again");
      }
    });
  }
}

/** Step 1. @throws OwnerDown */
export async function beginMerging(link: OwnerLink, identity: Identity): Promise<void> {
  await link.identify(identity);
  link.beginMerging(identity);
}

async function merge(
  link: OwnerLink,
  peers: readonly OwnerLink[],
  surroundings: MergeSurroundings & { readonly goesOn: () => boolean },
): Promise<void> {
  const { pace, logger, goesOn } = surroundings;
  const expectedBytes = Math.max(...peers.map((peer) => peer.storedBytes));
  for (let pass = 1; pass <= PASSES_MAX; pass += 1) {
    const phase = pass === 1 ? "copy" : "check";
    const totals = await walk([...peers, link], pace, ({ cells, bytes }) => {
      link.progress({ phase, cells, bytes, expectedBytes });
      return goesOn();
    });
    if (!goesOn()) throw new OwnerDown("an owner changed, or the plane is closing");
    const missed = totals.missed.get(link.owner) ?? 0;
    logger.info({ owner: link.owner, phase, cells: totals.cells, missed }, "a new incarnation was compared");
    if (pass > 1 && missed === 0) return;
  }
  link.takeDown({ code: "OWNER_FAILED", text: `it still lacked cells after ${PASSES_MAX} passes over the others` });
  throw new OwnerDown("it lacks cells");
}
