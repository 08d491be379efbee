import type { OrderedBytes } from "../../core/cell.ts";
import {
  type Acks,
  type CellAddress,
  type CellReceipt,
  type CellWrite,
  type ControlStore,
  KvFault,
  type KvPlane,
  type OwnerAnswer,
  type OwnerStatus,
} from "../../ports/kv-plane.ts";
import type { Logger } from "../../ports/logger.ts";
import { needsWriteBack } from "../quorum.ts";
import { planReceipts } from "../receipts.ts";
import { Admission } from "./admission.ts";
import { EmbeddedControlStore } from "./control-store.ts";
import type { OwnerGroup } from "./owner-group.ts";
import type { OwnerLink } from "./owner-link.ts";
import { OwnerDown } from "./pending.ts";
import { checkAddress } from "./packing.ts";
import { decodeStored, storeKey } from "./wire.ts";

export interface PlaneOptions {
  /** Writes wait while an owner that is up has more bytes than this waiting. */
  readonly pendingBytes: number;
  readonly logger: Logger;
  /** Gives the directories up. */
  readonly release: () => Promise<void>;
}

/** Keys that are read and merged in one go. */
const RESTORE_KEYS = 4_096;

/** The KV plane over three LMDB environments of this process. Made by `openEmbeddedPlane`. */
export class EmbeddedPlane implements KvPlane {
  readonly control: ControlStore;
  readonly #group: OwnerGroup;
  readonly #options: PlaneOptions;
  readonly #admission: Admission;
  readonly #listeners = new Set<() => void>();
  #closing: Promise<void> | undefined;

  constructor(group: OwnerGroup, options: PlaneOptions) {
    this.#group = group;
    this.#options = options;
    this.#admission = new Admission(() => group.backlog(), options.pendingBytes);
    this.control = new EmbeddedControlStore(group);
  }

  /** See the port. @throws KvFault; InvariantViolation for what is beyond the limits, before an owner is asked */
  async write(batch: readonly CellWrite[]): Promise<Acks> {
    const group = this.#group;
    const bytes = group.measure(batch);
    group.require("a write", group.writeAcks);
    await this.#admission.enter(bytes);
    return await group.write(batch, bytes, () => this.#admission.release(bytes));
  }

  /** See the port. @throws as {@link write} */
  async writeWithReceipts(batch: readonly CellWrite[]): Promise<readonly CellReceipt[]> {
    this.#group.measure(batch);
    const held = await this.restore(batch);
    const { receipts, writes } = planReceipts(batch, held, (cell) => Buffer.from(storeKey(cell)).toString("latin1"));
    if (writes.length > 0) await this.write(writes);
    return receipts;
  }

  /** See the port. @throws KvFault; InvariantViolation for a key that is too long */
  async restore(addresses: readonly CellAddress[]): Promise<readonly (OrderedBytes | undefined)[]> {
    for (const address of addresses) checkAddress(address);
    const restored: (OrderedBytes | undefined)[] = [];
    for (let from = 0; from < addresses.length; from += RESTORE_KEYS) {
      const part = await this.#restorePart(addresses.slice(from, from + RESTORE_KEYS));
      restored.push(...part);
    }
    return restored;
  }

  /** See the port. */
  async inspect(address: CellAddress): Promise<readonly OwnerAnswer[]> {
    checkAddress(address);
    return await Promise.all(this.#group.links.map((link) => inspectOwner(link, address)));
  }

  /** See the port. */
  owners(): readonly OwnerStatus[] {
    return this.#group.status();
  }

  /** See the port. */
  onChange(listener: () => void): () => void {
    // A wrapper of its own, so that one function registered twice is called twice and ended once at a time.
    const entry = (): void => listener();
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  /** See the port. Calling it again waits for the same end. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** To be called by the links' owner: a link changed. */
  linkChanged(link: OwnerLink, change: "state" | "backlog"): void {
    if (change === "state") this.#stateChanged(link);
    this.#admission.recheck();
  }

  async #restorePart(addresses: readonly CellAddress[]): Promise<(OrderedBytes | undefined)[]> {
    const group = this.#group;
    const merged = await group.read(addresses, group.writeAcks);
    const writeBack = addresses.flatMap((address, index) => {
      const answer = merged[index];
      if (answer?.winner === undefined || !needsWriteBack(answer, group.writeAcks)) return [];
      return [{ space: address.space, key: address.key, ...answer.winner }];
    });
    // Not through the admission: it is bounded by the answers, and those who wait there may be waiting for this.
    if (writeBack.length > 0) await group.write(writeBack, group.measure(writeBack));
    return merged.map((answer) => answer.winner);
  }

  #stateChanged(link: OwnerLink): void {
    const group = this.#group;
    if (!link.up) group.ownerLost(link.owner);
    if (this.#closing !== undefined) return;
    this.#report(link);
    if (group.up().length < group.writeAcks) this.#admission.refuseAll(group.noQuorum("a write", group.writeAcks));
    for (const listener of this.#listeners) listener();
  }

  #report(link: OwnerLink): void {
    const { owner, reason } = link;
    if (reason === undefined) this.#options.logger.info({ owner }, "KV owner is up");
    else this.#options.logger.error({ owner, code: reason.code, detail: reason.text }, "KV owner is not up");
  }

  async #close(): Promise<void> {
    this.#group.close();
    this.#admission.refuseAll(new KvFault("KV_CLOSED", "the KV plane is closed"));
    await Promise.all(this.#group.links.map((link) => link.close()));
    await this.#options.release();
  }
}

async function inspectOwner(link: OwnerLink, address: CellAddress): Promise<OwnerAnswer> {
  const { owner } = link;
  if (!link.up) return { owner, answer: "unavailable" };
  try {
    const [stored] = await link.read([address]);
    return stored === undefined ? { owner, answer: "absent" } : { owner, answer: "holds", cell: decodeStored(stored) };
  } catch (error) {
    if (error instanceof OwnerDown) return { owner, answer: "unavailable" };
    throw error;
  }
}
