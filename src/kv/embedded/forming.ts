import { randomUUID } from "node:crypto";
import { type Deployment, type Found, type OwnerVerdict, judgeFormation } from "./formation.ts";
import { FORMAT_VERSION, type Identity, type OwnerName } from "./identity.ts";
import type { OwnerLink } from "./owner-link.ts";
import { OwnerDown } from "./pending.ts";
import type { OwnerReason } from "./protocol.ts";
import { hasStore } from "./store-file.ts";

/**
 * Looks at the three directories, makes a new deployment where `judgeFormation` finds a first start, and puts every owner
 * into its state: up, lost or down; one that must merge first stays down. Directories in `refused` are not touched. Returns
 * the deployment that they belong to; undefined while nobody knows.
 */
export async function formDeployment(
  links: readonly OwnerLink[],
  refused: ReadonlyMap<OwnerName, OwnerReason>,
): Promise<Deployment | undefined> {
  const found = new Map<OwnerName, Found>();
  await Promise.all(links.map(async (link) => found.set(link.owner, await look(link, refused.get(link.owner)))));
  const of = (owner: OwnerName): Found => found.get(owner) ?? { found: "unreadable" };
  const formation = judgeFormation({ a: of("a"), b: of("b"), c: of("c") });
  if (formation.formation === "new") return await formNew(links);
  const { deployment, owners } = formation;
  await Promise.all(links.map((link) => putInState(link, owners[link.owner], deployment)));
  return deployment;
}

/** Finds out whose directory it is. An empty one is not written to: whether it may be is not known yet. */
export async function look(link: OwnerLink, refused?: OwnerReason): Promise<Found> {
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

async function putInState(link: OwnerLink, verdict: OwnerVerdict, deployment: Deployment | undefined): Promise<void> {
  switch (verdict.verdict) {
    case "serve":
    case "complete":
      await serve(link, verdict.identity, deployment);
      return;
    case "merge":
      link.takeDown({ code: "OWNER_STALE", text: "what it acknowledged is void: it counts after merging both others" });
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
async function formNew(links: readonly OwnerLink[]): Promise<Deployment | undefined> {
  const incarnations = { a: randomUUID(), b: randomUUID(), c: randomUUID() };
  const deployment: Deployment = { deployment: randomUUID(), membership: { generation: 1, incarnations } };
  const identityOf = (owner: OwnerName): Identity => ({
    format: FORMAT_VERSION,
    ...deployment,
    owner,
    phase: "forming",
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
    for (const link of links) if (link.running) link.takeDown({ code: "OWNER_NOT_FORMED", text });
    return undefined;
  }
  for (const link of links) await serve(link, identityOf(link.owner), deployment);
  return deployment;
}

/** Lets an owner count; one whose directory does not say yet what is in force is told first. */
async function serve(link: OwnerLink, found: Identity, deployment: Deployment | undefined): Promise<void> {
  const identity: Identity = { ...found, phase: "formed", membership: deployment?.membership ?? found.membership };
  const known = found.phase === "formed" && found.membership.generation === identity.membership.generation;
  await unlessDown(async () => {
    if (!known) await link.identify(identity);
    link.serve(identity);
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
