import type { OrderedBytes } from "../../core/cell.ts";
import {
  type Acks,
  type CellAddress,
  type CellReceipt,
  type CellScan,
  type CellWrite,
  type ControlStore,
  KvFault,
  type KvPlane,
  type OwnerAnswer,
  type OwnerStatus,
  type ScanPage,
} from "../../ports/kv-plane.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import { StreamsError } from "../../errors.ts";
import { needsWriteBack } from "../quorum.ts";
import { planReceipts } from "../receipts.ts";
import { Admission } from "./admission.ts";
import { storedValues } from "./answers.ts";
import { EmbeddedControlStore } from "./control-store.ts";
import type { Healer } from "./healer.ts";
import type { OwnerGroup } from "./owner-group.ts";
import type { OwnerLink } from "./owner-link.ts";
import { OwnerDown } from "./pending.ts";
import { checkAddress, checkScan } from "./packing.ts";
import { mergePage, rangeOf } from "./ranges.ts";
import { decodeStored, storeKey } from "./wire.ts";
import { WriteGroups } from "./write-groups.ts";

export interface PlaneOptions {
  readonly clock: Clock;
  /** Writes wait while an owner that is sent them has more bytes than this waiting. */
  readonly pendingBytes: number;
  /** An owner that makes writes wait for this long, and that a quorum can do without, is taken down. */
  readonly behindMs: number;
  readonly logger: Logger;
  /** Gives the directories up. */
  readonly release: () => Promise<void>;
}

/** Keys that are read and merged in one go. */
const RESTORE_KEYS = 2_048;

/** The KV plane over three LMDB environments of this process. Made by `openEmbeddedPlane`. */
export class EmbeddedPlane implements KvPlane {
  readonly control: ControlStore;
  readonly #group: OwnerGroup;
  readonly #options: PlaneOptions;
  readonly #admission: Admission;
  readonly #groups: WriteGroups;
  readonly #listeners = new Set<() => void>();
  #healer: Healer | undefined;
  #cancelBehind: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(group: OwnerGroup, options: PlaneOptions) {
    this.#group = group;
    this.#options = options;
    this.#admission = new Admission(() => group.backlog(), options.pendingBytes);
    this.#groups = new WriteGroups((cells, bytes, handed) => group.write(cells, bytes, handed));
    this.control = new EmbeddedControlStore(group);
  }

  /** See the port. @throws KvFault; InvariantViolation for what is beyond the limits, before an owner is asked */
  async write(batch: readonly CellWrite[]): Promise<Acks> {
    const group = this.#group;
    const bytes = await group.measure(batch);
    group.require("a write", group.writeAcks);
    const entered = this.#admission.enter(bytes);
    this.#watchBehind();
    await entered;
    return await this.#groups.write(batch, bytes, () => this.#admission.release(bytes));
  }

  /** See the port. @throws as {@link write} */
  async writeWithReceipts(batch: readonly CellWrite[]): Promise<readonly CellReceipt[]> {
    await this.#group.measure(batch);
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

  /** See the port. @throws KvFault; InvariantViolation for a range that makes no sense */
  async scan(range: CellScan): Promise<ScanPage> {
    checkScan(range);
    const group = this.#group;
    const asked = rangeOf(range);
    const answers = await group.ask("a scan", group.writeAcks, (link) => link.store.range(asked));
    const { cells, next, writeBack } = mergePage(answers, range, group.writeAcks);
    await this.#writeBack(writeBack);
    return { cells, next };
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

  /** See the port. */
  async repair(owner: string, acceptLoss: boolean): Promise<void> {
    if (this.#healer === undefined || this.#closing !== undefined) {
      throw new StreamsError("KV_REPAIR_REFUSED", "no owner tells yet which deployment this is");
    }
    await this.#healer.repair(owner, acceptLoss);
  }

  /** Compares the owners that are up and gives each what it missed, once. @throws StreamsError KV_REPAIR_REFUSED */
  async compareOwners(): Promise<void> {
    await this.#healer?.compare();
  }

  /** From now on owners that are not up are brought back. */
  heal(healer: Healer): void {
    this.#healer = healer;
    if (this.#closing === undefined) healer.start();
  }

  get closing(): boolean {
    return this.#closing !== undefined;
  }

  /** Whether writes wait for the owners, or soon will. */
  get busy(): boolean {
    return this.#group.backlog() > this.#options.pendingBytes / 2;
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
    await this.#writeBack(writeBack);
    return merged.map((answer) => answer.winner);
  }

  /** Not through the admission: it is bounded by the answers, and those who wait there may be waiting for this. */
  async #writeBack(cells: readonly CellWrite[]): Promise<void> {
    if (cells.length > 0) await this.#group.write(cells, await this.#group.measure(cells));
  }

  #stateChanged(link: OwnerLink): void {
    const group = this.#group;
    if (!link.up) group.ownerLost(link.owner);
    if (this.#closing !== undefined) return;
    this.#report(link);
    this.#healer?.stateChanged(link);
    if (group.up().length < group.writeAcks) this.#admission.refuseAll(group.noQuorum("a write", group.writeAcks));
    for (const listener of this.#listeners) listener();
  }

  /** An owner that is slower than the others costs a moment, not the pace of its disk for ever. */
  #watchBehind(): void {
    if (this.#cancelBehind !== undefined || !this.#admission.waiting) return;
    const { clock, behindMs, pendingBytes } = this.#options;
    const suspects = this.#group.behind(pendingBytes);
    this.#cancelBehind = clock.after(behindMs, () => {
      this.#cancelBehind = undefined;
      if (!this.#admission.waiting) return;
      for (const link of this.#group.behind(pendingBytes)) {
        if (!suspects.includes(link)) continue;
        const text = `writes waited ${behindMs} ms for it, with ${link.pendingBytes} bytes to write`;
        link.takeDown({ code: "OWNER_BEHIND", text });
      }
      this.#watchBehind();
    });
  }

  #report(link: OwnerLink): void {
    const { owner, reason, state } = link;
    if (state === "merging") this.#options.logger.warn({ owner }, "KV owner merges what the others hold");
    else if (reason === undefined) this.#options.logger.info({ owner }, "KV owner is up");
    else this.#options.logger.error({ owner, code: reason.code, detail: reason.text }, "KV owner is not up");
  }

  async #close(): Promise<void> {
    this.#group.close();
    this.#healer?.close();
    this.#cancelBehind?.();
    this.#admission.refuseAll(new KvFault("KV_CLOSED", "the KV plane is closed"));
    await Promise.all(this.#group.links.map((link) => link.close()));
    await this.#options.release();
  }
}

async function inspectOwner(link: OwnerLink, address: CellAddress): Promise<OwnerAnswer> {
  const { owner } = link;
  if (!link.up) return { owner, answer: "unavailable" };
  try {
    const [stored] = storedValues(await link.store.read([address]));
    return stored === undefined ? { owner, answer: "absent" } : { owner, answer: "holds", cell: decodeStored(stored) };
  } catch (error) {
    if (error instanceof OwnerDown) return { owner, answer: "unavailable" };
    throw error;
  }
}
