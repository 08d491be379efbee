import { StreamsError } from "../../errors.ts";
import type { Logger } from "../../ports/logger.ts";
import { AntiEntropy } from "./anti-entropy.ts";
import { Crashes } from "./crashes.ts";
import { DeploymentState } from "./deployment.ts";
import type { TakenDirectories } from "./directories.ts";
import { type Deployment, type Found, judgeReturn } from "./formation.ts";
import { look } from "./forming.ts";
import type { Identity } from "./identity.ts";
import { type MergeSurroundings, beginMerging, mergeUntilItCounts } from "./merging.ts";
import type { OwnerGroup } from "./owner-group.ts";
import type { OwnerLink } from "./owner-link.ts";
import { OwnerDown } from "./pending.ts";
import { REPLACED, isFinal, isVoiding, refused } from "./owner-reasons.ts";
import { Pulse } from "./pulse.ts";
import { Retries, type RetriesOptions } from "./retries.ts";
import { SerialByName } from "./serial.ts";
import { requireSpace } from "./disk-space.ts";
import { discardSetAside, setStoreAside } from "./store-aside.ts";

export interface HealerOptions extends RetriesOptions {
  readonly logger: Logger;
  readonly directories: TakenDirectories;
  /** Bytes per second of comparing: to merge a new incarnation, and continuously. */
  readonly mergeBytesPerSecond: number;
  readonly compareBytesPerSecond: number;
  readonly compareEveryMs: number;
  readonly compareSoonMs: number;
  /** How often owners are asked whether they are still there. */
  readonly pulseMs: number;
  /** Free bytes that a disk must have for a store to be opened on it. */
  readonly freeBytesMin: number;
  /** Whether writes wait for the owners. */
  readonly busy: () => boolean;
}

/** Brings owners back that are not up, and keeps those that are alike. */
export class Healer {
  readonly #group: OwnerGroup;
  readonly #options: HealerOptions;
  readonly #deployment: DeploymentState;
  readonly #antiEntropy: AntiEntropy;
  readonly #walks = new SerialByName();
  readonly #crashes = new Crashes();
  readonly #retries: Retries;
  readonly #pulse: Pulse;
  readonly #busyWith = new Set<OwnerLink>();
  /** Owners for which an operator gave up what only lost owners held. */
  readonly #lossAccepted = new Set<OwnerLink>();
  #changed: (() => void)[] = [];
  /** Merges that wait for their turn to walk, or have it. */
  #merges = 0;
  #closing = false;

  constructor(group: OwnerGroup, deployment: Deployment, options: HealerOptions) {
    const { clock, logger, busy } = options;
    this.#group = group;
    this.#options = options;
    this.#deployment = new DeploymentState(group.links, deployment);
    this.#retries = new Retries(options);
    this.#pulse = new Pulse(group, clock, options.pulseMs);
    this.#antiEntropy = new AntiEntropy(group, {
      clock,
      logger,
      pace: { clock, busy, bytesPerSecond: options.compareBytesPerSecond },
      everyMs: options.compareEveryMs,
      soonMs: options.compareSoonMs,
      alone: (task) => this.#walks.run("walk", task),
      mustYield: () => this.#merges > 0,
    });
  }

  /** Takes over the owners as they are. */
  start(): void {
    for (const link of this.#group.links) {
      if (!link.receives) this.#later(link);
      // A process that died right after a merge has left it.
      if (link.up) this.#inBackground(discardSetAside(link.directory));
    }
    this.#antiEntropy.soon();
    this.#pulse.start();
  }

  /** To be called after an owner's state changed. */
  stateChanged(link: OwnerLink): void {
    for (const settle of this.#changed.splice(0)) settle();
    if (this.#closing) return;
    if (link.up) {
      this.#antiEntropy.soon();
      return;
    }
    const { reason } = link;
    if (this.#isDamaged(link)) return;
    if (isVoiding(reason)) this.#inBackground(this.#deployment.voidIncarnation(link.owner));
    if (!link.receives) this.#later(link);
  }

  /** Compares the owners that are up now, once. */
  compare(): Promise<void> {
    return this.#antiEntropy.round();
  }

  /**
   * Makes a new, empty incarnation of an owner that is not up, and begins to merge the others into it. What its directory
   * held is set aside until that is done. Resolves when merging has begun.
   * @throws StreamsError KV_REPAIR_REFUSED when it is up, when not all others are (unless `acceptLoss`), or when the directory
   *   belongs to somebody else
   */
  async repair(owner: string, acceptLoss: boolean): Promise<void> {
    const link = this.#group.links.find((candidate) => candidate.owner === owner);
    if (link === undefined) throw new StreamsError("KV_OWNER_UNKNOWN", `there is no owner ${owner}`);
    if (link.state === "merging" && acceptLoss) return this.#acceptLoss(link);
    if (link.receives) throw refused(`owner ${owner} is ${link.state}: there is nothing to repair`);
    if (this.#busyWith.has(link)) throw refused(`owner ${owner} is being looked at: try again`);
    const peers = this.#others(link).filter((peer) => peer.up);
    if (peers.length < (acceptLoss ? 1 : this.#group.links.length - 1)) {
      throw refused(`a new owner ${owner} takes what both others hold, and ${peers.length} of them are up`);
    }
    if (acceptLoss) this.#lossAccepted.add(link);
    try {
      await this.#occupied(link, () => this.#renew(link));
    } catch (error) {
      this.#lossAccepted.delete(link);
      if (error instanceof StreamsError) throw error;
      throw refused(error instanceof Error ? error.message : String(error));
    }
  }

  /** Ends everything that is under way. */
  close(): void {
    this.#closing = true;
    this.#antiEntropy.close();
    this.#pulse.close();
    for (const link of this.#group.links) this.#retries.cancel(link);
    for (const settle of this.#changed.splice(0)) settle();
  }

  #acceptLoss(link: OwnerLink): void {
    this.#lossAccepted.add(link);
    for (const settle of this.#changed.splice(0)) settle();
  }

  #peersNeeded(link: OwnerLink): number {
    return this.#lossAccepted.has(link) ? 1 : this.#group.links.length - 1;
  }

  async #renew(link: OwnerLink): Promise<void> {
    const { directories } = this.#options;
    this.#retries.cancel(link);
    const away = await directories.retake(link.owner, true);
    if (away !== undefined) throw refused(away.text);
    const found = await look(link);
    if (found.found === "identity") {
      const verdict = judgeReturn(link.owner, found, this.#deployment.current);
      if (verdict.verdict === "refuse") throw refused(verdict.reason.text);
    }
    // Before anything is changed: what is refused has changed nothing, and LMDB must never meet a full disk.
    requireSpace(link.directory, [], this.#options.freeBytesMin);
    link.takeDown({ code: "OWNER_EMPTY", text: "it is being repaired" });
    const told = await this.#deployment.voidIncarnation(link.owner);
    if (told.length < this.#peersNeeded(link)) throw refused("an owner went down meanwhile");
    // Not before: until the others know, what it holds may be what W counts on.
    const putBack = setStoreAside(link.directory);
    await this.#unlessDown(link, () => link.open());
    if (!directories.holds(link.owner)) link.takeDown(REPLACED);
    if (link.running) await this.#beginMerging(link);
    if (link.receives) return;
    const { reason } = link;
    link.takeDown(reason ?? REPLACED);
    putBack();
    throw refused(`owner ${link.owner} cannot be opened: ${reason?.text ?? "unknown"}`);
  }

  /** Whether it ended once too often for its data to be whole, for which it is then taken down. */
  #isDamaged(link: OwnerLink): boolean {
    if (!this.#crashes.tooMany(link)) return false;
    link.takeDown({ code: "OWNER_CORRUPT", text: `it failed again and again: ${link.reason?.text ?? ""}` });
    return true;
  }

  #later(link: OwnerLink): void {
    if (this.#closing || isFinal(link.reason)) return;
    // While too few owners are up everything waits: a minute more of that is worse than a look too many.
    const urgent = this.#group.up().length < this.#group.writeAcks;
    this.#retries.later(link, () => this.#inBackground(this.#attempt(link)), urgent);
  }

  async #attempt(link: OwnerLink): Promise<void> {
    if (this.#closing || link.receives || this.#busyWith.has(link) || isFinal(link.reason)) return;
    await this.#occupied(link, async () => {
      const away = await this.#options.directories.retake(link.owner, false);
      if (away !== undefined) return link.takeDown(away);
      const found = await look(link);
      if (!this.#options.directories.holds(link.owner)) return link.takeDown(REPLACED);
      await this.#comeBack(link, found);
    });
  }

  /** One task at a time for an owner; it is looked at again afterwards when it is still not back. */
  async #occupied(link: OwnerLink, task: () => Promise<void>): Promise<void> {
    this.#busyWith.add(link);
    try {
      await task();
    } finally {
      this.#busyWith.delete(link);
      if (!link.receives) this.#later(link);
    }
  }

  async #comeBack(link: OwnerLink, found: Found): Promise<void> {
    if (found.found === "identity") await this.#deployment.adopt(found.identity);
    const verdict = judgeReturn(link.owner, found, this.#deployment.current);
    switch (verdict.verdict) {
      case "serve":
      case "complete":
        if (link.wentBack) await this.#goBack(link);
        else await this.#unlessDown(link, () => this.#serve(link, verdict.identity));
        return;
      case "merge":
        await this.#beginMerging(link);
        return;
      case "lost":
        link.markLost(verdict.reason);
        return;
      case "refuse":
        link.takeDown(verdict.reason);
        return;
      case "unreadable":
        this.#isDamaged(link);
    }
  }

  async #serve(link: OwnerLink, found: Identity): Promise<void> {
    const identity = await this.#deployment.form(link, found);
    link.serve(identity);
    this.#retries.settle(link, () => this.#crashes.forget(link));
  }

  /** What is there is older than what it acknowledged: a copy that was put in its place, or a lost page. */
  async #goBack(link: OwnerLink): Promise<void> {
    this.#options.logger.error({ owner: link.owner }, "KV owner came back older than it was: it merges the others");
    await this.#deployment.voidIncarnation(link.owner);
    if (link.running) await this.#beginMerging(link);
  }

  async #beginMerging(link: OwnerLink): Promise<void> {
    await this.#unlessDown(link, () => beginMerging(link, this.#deployment.identityOf(link.owner, "merging")));
    if (link.state === "merging") this.#inBackground(this.#merge(link));
  }

  async #merge(link: OwnerLink): Promise<void> {
    const { life } = link;
    try {
      await this.#unlessDown(link, () => this.#mergeUntilItCounts(link));
    } catch (error) {
      // Nobody would go on with it.
      if (link.life === life) link.takeDown({ code: "OWNER_FAILED", text: String(error) });
      throw error;
    }
    if (!link.up || link.life !== life) return;
    this.#lossAccepted.delete(link);
    this.#retries.settle(link, () => this.#crashes.forget(link));
    this.#inBackground(discardSetAside(link.directory));
  }

  async #mergeUntilItCounts(link: OwnerLink): Promise<void> {
    const { clock, busy, logger, mergeBytesPerSecond } = this.#options;
    const surroundings: MergeSurroundings = {
      deployment: this.#deployment,
      pace: { clock, busy, bytesPerSecond: mergeBytesPerSecond },
      logger,
      alone: async (task) => {
        this.#merges += 1;
        await this.#walks.run("walk", task).finally(() => (this.#merges -= 1));
      },
      nextChange: () => new Promise((resolve) => this.#changed.push(resolve)),
      others: this.#others(link),
      peersNeeded: () => this.#peersNeeded(link),
      closing: () => this.#closing,
    };
    await mergeUntilItCounts(link, surroundings);
  }

  #others(link: OwnerLink): readonly OwnerLink[] {
    return this.#group.links.filter((other) => other !== link);
  }

  async #unlessDown(link: OwnerLink, task: () => Promise<unknown>): Promise<void> {
    try {
      await task();
    } catch (error) {
      if (!(error instanceof OwnerDown)) throw error;
      this.#options.logger.warn({ owner: link.owner, detail: error.message }, "an owner went down on its way back");
    }
  }

  #inBackground(task: Promise<unknown>): void {
    task.catch((error: unknown) => this.#options.logger.error({ detail: String(error) }, "healing an owner failed"));
  }
}
