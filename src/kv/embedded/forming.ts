import { randomUUID } from "node:crypto";
import { type Found, type OwnerVerdict, judgeFormation } from "./formation.ts";
import { FORMAT_VERSION, type Identity, type OwnerName } from "./identity.ts";
import type { OwnerLink } from "./owner-link.ts";
import { OwnerDown } from "./pending.ts";
import type { OwnerReason } from "./protocol.ts";
import { hasStore } from "./store-file.ts";

/**
 * Looks at the three directories, makes a new deployment where `judgeFormation` finds a first start, and puts every owner
 * into its state: up, lost or down. Directories in `refused` are not touched.
 */
export async function formDeployment(
  links: readonly OwnerLink[],
  refused: ReadonlyMap<OwnerName, OwnerReason>,
): Promise<void> {
  const found = new Map<OwnerName, Found>();
  await Promise.all(links.map(async (link) => found.set(link.owner, await look(link, refused.get(link.owner)))));
  const of = (owner: OwnerName): Found => found.get(owner) ?? { found: "unreadable" };
  const formation = judgeFormation({ a: of("a"), b: of("b"), c: of("c") });
  if (formation.formation === "new") await formNew(links);
  else await Promise.all(links.map((link) => putInState(link, formation.owners[link.owner])));
}

/** Finds out whose directory it is. An empty one is not written to: whether it may be is not known yet. */
async function look(link: OwnerLink, refused: OwnerReason | undefined): Promise<Found> {
  const unreadable = (reason: OwnerReason): Found => {
    link.takeDown(reason);
    return { found: "unreadable" };
  };
  if (refused !== undefined) return unreadable(refused);
  try {
    if (!hasStore(link.directory)) return { found: "empty" };
  } catch (error) {
    return unreadable({ code: "OWNER_DIRECTORY", text: error instanceof Error ? error.message : String(error) });
  }
  return await unlessDown<Found>(
    async () => {
      const identity = await link.open();
      return identity === undefined ? { found: "empty" } : { found: "identity", identity };
    },
    { found: "unreadable" },
  );
}

async function putInState(link: OwnerLink, verdict: OwnerVerdict): Promise<void> {
  switch (verdict.verdict) {
    case "serve":
      link.serve(verdict.identity);
      return;
    case "complete":
      await formOne(link, verdict.identity);
      return;
    case "lost":
      link.markLost(verdict.reason);
      return;
    case "refuse":
      link.takeDown(verdict.reason);
      return;
    case "unreadable":
      return;
  }
}

/** The two phases of a first start; see `formation.ts`. */
async function formNew(links: readonly OwnerLink[]): Promise<void> {
  const deployment = randomUUID();
  const incarnations = { a: randomUUID(), b: randomUUID(), c: randomUUID() };
  const identityOf = (owner: OwnerName): Identity => ({
    format: FORMAT_VERSION,
    deployment,
    owner,
    phase: "forming",
    incarnations,
  });
  const forming = await Promise.all(
    links.map((link) =>
      unlessDown(async () => {
        if (!link.running) await link.open();
        await link.identify(identityOf(link.owner));
        return true;
      }, false),
    ),
  );
  if (forming.includes(false)) {
    const text = "the first start needs all three owners, and one of them failed";
    for (const link of links) link.takeDown({ code: "OWNER_NOT_FORMED", text });
    return;
  }
  for (const link of links) await formOne(link, identityOf(link.owner));
}

/** The second phase for one owner. */
async function formOne(link: OwnerLink, identity: Identity): Promise<void> {
  const formed: Identity = { ...identity, phase: "formed" };
  await unlessDown(async () => {
    await link.identify(formed);
    link.serve(formed);
  }, undefined);
}

/** An owner that goes down meanwhile is in its state already. */
async function unlessDown<Result>(task: () => Promise<Result>, otherwise: Result): Promise<Result> {
  try {
    return await task();
  } catch (error) {
    if (error instanceof OwnerDown) return otherwise;
    throw error;
  }
}
