import { FORMAT_VERSION, type Identity, type Membership, OWNERS, type OwnerName } from "./identity.ts";
import type { OwnerReason } from "./protocol.ts";

/**
 * Decides what three directories are, without I/O.
 *
 * First start, as steps; a crash may fall between any two of them:
 *
 * 1. All three directories are looked at. Only when none of them is `formed`, and none is out of reach, a new deployment
 *    is made.
 * 2. `forming` of the new deployment is written and flushed in all three.
 * 3. Only then `formed` is written and flushed, in one after another.
 * 4. Only when that is done, or has failed for an owner that is then down, the plane takes writes.
 *
 * Crash before 3: nobody is `formed`, so nothing was ever acknowledged: step 1 finds a first start again and begins anew.
 * Crash within 3: somebody is `formed`, hence all three had been `forming` of the same deployment, and an owner that still
 * is has never acknowledged anything: it is completed. An *empty* directory beside a `formed` one is a loss, never a late
 * first start, because step 2 had filled it.
 */

/** What was found in one owner's directory. */
export type Found =
  /** No store, or one in which no identity was ever flushed. */
  | { readonly found: "empty" }
  | { readonly found: "identity"; readonly identity: Identity }
  /** It cannot be looked at, for a reason of its own. */
  | { readonly found: "unreadable" };

export type OwnerVerdict =
  | { readonly verdict: "serve"; readonly identity: Identity }
  /** Serve after the second phase of a formation that was cut short. */
  | { readonly verdict: "complete"; readonly identity: Identity }
  /** It holds nothing that is wrong, but may lack what it once acknowledged: it counts after merging both others. */
  | { readonly verdict: "merge"; readonly identity: Identity }
  | { readonly verdict: "lost" | "refuse"; readonly reason: OwnerReason }
  /** Down already, with its own reason. */
  | { readonly verdict: "unreadable" };

/** The deployment that the directories belong to. */
export interface Deployment {
  readonly deployment: string;
  readonly membership: Membership;
}

export type Formation =
  | { readonly formation: "new" }
  | {
      readonly formation: "known";
      /** Undefined while no directory tells. */
      readonly deployment: Deployment | undefined;
      readonly owners: Readonly<Record<OwnerName, OwnerVerdict>>;
    };

/** Judges what was found in the directories of a, b, c. */
export function judgeFormation(found: Readonly<Record<OwnerName, Found>>): Formation {
  const identities = OWNERS.flatMap((owner) => {
    const entry = found[owner];
    return entry.found === "identity" ? [entry.identity] : [];
  });
  const known = identities.filter(({ phase, format }) => phase !== "forming" || format !== FORMAT_VERSION);
  const unreadable = OWNERS.filter((owner) => found[owner].found === "unreadable");
  if (known.length === 0 && unreadable.length === 0) return { formation: "new" };
  const deployment = commonDeployment(known.filter(({ format }) => format === FORMAT_VERSION));
  const judge = (owner: OwnerName): OwnerVerdict => judgeOwner(owner, found[owner], deployment, unreadable);
  return { formation: "known", deployment, owners: { a: judge("a"), b: judge("b"), c: judge("c") } };
}

/** Judges what was found in the directory of an owner that was not up, while the deployment is known. */
export function judgeReturn(owner: OwnerName, found: Found, deployment: Deployment): OwnerVerdict {
  return judgeOwner(owner, found, deployment, []);
}

/** The deployment that most directories belong to; undefined when none does or two are as many. */
function commonDeployment(known: readonly Identity[]): Deployment | undefined {
  const counts = new Map<string, number>();
  for (const { deployment } of known) counts.set(deployment, (counts.get(deployment) ?? 0) + 1);
  const ranked = [...counts].toSorted(([, a], [, b]) => b - a);
  const [first, second] = ranked;
  if (first === undefined || (second !== undefined && second[1] === first[1])) return undefined;
  const [deployment] = first;
  const [membership] = known
    .filter((identity) => identity.deployment === deployment)
    .map((identity) => identity.membership)
    .toSorted((a, b) => b.generation - a.generation);
  return membership === undefined ? undefined : { deployment, membership };
}

function judgeOwner(
  owner: OwnerName,
  found: Found,
  deployment: Deployment | undefined,
  unreadable: readonly OwnerName[],
): OwnerVerdict {
  if (found.found === "unreadable") return { verdict: "unreadable" };
  if (found.found === "identity") return judgeIdentity(owner, found.identity, deployment, unreadable);
  return { verdict: "lost", reason: { code: "OWNER_EMPTY", text: emptyText(deployment, unreadable) } };
}

function emptyText(deployment: Deployment | undefined, unreadable: readonly OwnerName[]): string {
  return deployment === undefined && unreadable.length > 0
    ? `the directory is empty, and owner ${unreadable.join(", ")} cannot be read to tell whether this is a first start`
    : "the directory is empty, but the other owners hold a deployment: its data is lost";
}

function judgeIdentity(
  owner: OwnerName,
  identity: Identity,
  deployment: Deployment | undefined,
  unreadable: readonly OwnerName[],
): OwnerVerdict {
  const refuse = (code: OwnerReason["code"], text: string): OwnerVerdict => ({
    verdict: "refuse",
    reason: { code, text },
  });
  if (identity.format !== FORMAT_VERSION) {
    const text = `it has format ${identity.format}, and this release reads and writes format ${FORMAT_VERSION}`;
    return refuse("OWNER_FORMAT", text);
  }
  if (deployment === undefined && identity.phase === "forming") {
    return refuse(
      "OWNER_NOT_FORMED",
      `the first start was cut short and owner ${unreadable.join(", ")} cannot be read`,
    );
  }
  if (identity.deployment !== deployment?.deployment) {
    return refuse("OWNER_FOREIGN", `the directory belongs to deployment ${identity.deployment}, not to the others'`);
  }
  if (identity.owner !== owner) {
    return refuse("OWNER_SWAPPED", `the directory belongs to owner ${identity.owner}: check the order of directories`);
  }
  const { membership } = deployment;
  const isVoid = identity.membership.incarnations[owner] !== membership.incarnations[owner];
  if (isVoid || identity.phase === "merging") return { verdict: "merge", identity };
  return { verdict: identity.phase === "formed" ? "serve" : "complete", identity };
}
