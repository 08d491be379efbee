import { randomUUID } from "node:crypto";
import type { Deployment } from "./formation.ts";
import { FORMAT_VERSION, type Identity, type OwnerName, replaceIncarnation } from "./identity.ts";
import type { OwnerLink } from "./owner-link.ts";
import { OwnerDown } from "./pending.ts";

/**
 * Whose acks count, in this process and in the owners' directories.
 *
 * An incarnation is replaced before its owner may come back:
 *
 * 1. The membership of the next generation is written to the others, and flushed.
 * 2. Only then the owner's own directory is told, with phase `merging`.
 * 3. Only when it has merged both others, phase `formed` is written there.
 *
 * Crash before 1: nothing happened. Crash between: the others know that its acks are void, and its directory, which still
 * says otherwise, is found stale. Crash after 2: it goes on merging. An old disk that is put back is stale in the same way.
 */
export class DeploymentState {
  readonly #links: readonly OwnerLink[];
  #deployment: Deployment;

  constructor(links: readonly OwnerLink[], deployment: Deployment) {
    this.#links = links;
    this.#deployment = deployment;
  }

  get current(): Deployment {
    return this.#deployment;
  }

  /** The identity of `owner` in the present membership. */
  identityOf(owner: OwnerName, phase: Identity["phase"]): Identity {
    return { format: FORMAT_VERSION, ...this.#deployment, owner, phase };
  }

  /**
   * Voids what `owner` acknowledged: step 1 for those that are up. Returns whom it reached; an owner that is away is told
   * when it comes back.
   */
  async voidIncarnation(owner: OwnerName): Promise<readonly OwnerName[]> {
    const membership = replaceIncarnation(this.#deployment.membership, owner, randomUUID());
    this.#deployment = { ...this.#deployment, membership };
    const others = this.#links.filter((link) => link.owner !== owner && link.up);
    const told = await Promise.all(others.map((link) => this.#tell(link)));
    return others.filter((_, index) => told[index]).map((link) => link.owner);
  }

  /**
   * Takes over what an owner that comes back knows better: it was up when an incarnation was replaced that those who are up
   * now never heard of, because they were away then and it was away when this process began. Who is void by that counts no
   * more, and merges.
   */
  async adopt({ format, deployment, membership }: Identity): Promise<void> {
    const { current } = this;
    const newer = membership.generation > current.membership.generation;
    if (format !== FORMAT_VERSION || deployment !== current.deployment || !newer) return;
    this.#deployment = { ...current, membership };
    const isVoid = ({ owner }: OwnerLink): boolean =>
      current.membership.incarnations[owner] !== membership.incarnations[owner];
    for (const link of this.#links.filter((other) => other.receives && isVoid(other))) {
      link.takeDown({ code: "OWNER_STALE", text: "another owner knows that what it acknowledged is void" });
    }
    await Promise.all(this.#links.filter((link) => link.up).map((link) => this.#tell(link)));
  }

  /**
   * Makes the directory of an owner that is about to count say so, in the present membership: `found` is what it says. Not
   * being up, the owner is not told of a change that comes meanwhile, hence again. @throws OwnerDown
   */
  async form(link: OwnerLink, found: Identity): Promise<Identity> {
    let identity = found;
    while (identity.phase !== "formed" || identity.membership.generation !== this.#deployment.membership.generation) {
      identity = this.identityOf(link.owner, "formed");
      await link.identify(identity);
    }
    return identity;
  }

  async #tell(link: OwnerLink): Promise<boolean> {
    try {
      await link.identify(this.identityOf(link.owner, "formed"));
      return true;
    } catch (error) {
      if (error instanceof OwnerDown) return false;
      throw error;
    }
  }
}
