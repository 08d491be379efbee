import { type OrderedBytes, compareOrdered } from "../../src/core/cell.ts";
import type { Clock } from "../../src/ports/clock.ts";
import { type Acks, type CellAddress, type CellWrite, KvFault } from "../../src/ports/kv-plane.ts";
import { MemoryPlane } from "./memory-plane.ts";

const OWNERS = ["a", "b", "c"] as const;
const QUORUM = 2;

/**
 * A plane whose slots are held by three owners, each of which gets a write when it likes: what is not at W yet is found by some
 * readers and not by others, and a write that nobody waits for any more still lands. All else is as in the plane it extends.
 */
export class QuorumPlane extends MemoryPlane {
  readonly #clock: Clock;
  readonly #random: (below: number) => number;
  readonly #slots = OWNERS.map(() => new Map<string, OrderedBytes>());
  /** Longest that a write is on its way to an owner, in milliseconds. */
  delayMs = 200;
  /** Of so many writes one fails: it lands where it likes, and nobody says so. 0: none. */
  failing = 0;

  constructor(clock: Clock, random: (below: number) => number) {
    super();
    this.#clock = clock;
    this.#random = random;
  }

  override async write(batch: readonly CellWrite[]): Promise<Acks> {
    const slots = batch.filter(({ space }) => space === "slot");
    const others = batch.filter(({ space }) => space !== "slot");
    if (others.length > 0 || slots.length === 0) await super.write(others);
    if (slots.length === 0) return { count: QUORUM, owners: OWNERS.slice(0, QUORUM) };
    const answered: string[] = [];
    const fails = this.away || (this.failing > 0 && this.#random(this.failing) === 0);
    await new Promise<void>((resolve, reject) => {
      for (const [index, owner] of OWNERS.entries()) {
        if (fails && this.#random(2) === 0) continue;
        this.#clock.after(this.#random(this.delayMs), () => {
          for (const write of slots) this.#merge(index, write);
          answered.push(owner);
          if (answered.length === QUORUM && !fails) resolve();
        });
      }
      const fault = new KvFault("KV_NO_QUORUM", "fewer than 2 owners have answered");
      if (fails) this.#clock.after(this.#random(this.delayMs), () => reject(fault));
    });
    return { count: QUORUM, owners: answered.slice(0, QUORUM) };
  }

  override async restore(addresses: readonly CellAddress[]): Promise<readonly (OrderedBytes | undefined)[]> {
    if (addresses.every(({ space }) => space !== "slot")) return super.restore(addresses);
    await new Promise<void>((resolve) => this.#clock.after(this.#random(20), resolve));
    if (this.away) throw new KvFault("KV_NO_QUORUM", "fewer than 2 owners are up");
    const silent = this.#random(OWNERS.length);
    const asked = [...OWNERS.keys()].filter((index) => index !== silent);
    return addresses.map((address) => {
      const found = this.#newest(asked, keyOf(address));
      // Answers that differ are written back before they are obeyed.
      if (found !== undefined) for (const index of asked) this.#merge(index, { ...address, ...found });
      return found;
    });
  }

  /** Every slot as a quorum holds it. */
  slots(): ReadonlyMap<string, OrderedBytes> {
    const keys = new Set(this.#slots.flatMap((held) => [...held.keys()]));
    return new Map(
      [...keys].flatMap((key) => {
        const held = this.#slots.flatMap((slots) => slots.get(key) ?? []).toSorted((a, b) => compareOrdered(b, a));
        const found = held[QUORUM - 1];
        return found === undefined ? [] : [[key, found] as const];
      }),
    );
  }

  #newest(owners: readonly number[], key: string): OrderedBytes | undefined {
    let newest: OrderedBytes | undefined;
    for (const index of owners) {
      const held = this.#slots[index]?.get(key);
      if (held !== undefined && (newest === undefined || compareOrdered(held, newest) > 0)) newest = held;
    }
    return newest;
  }

  #merge(index: number, write: CellWrite): void {
    const key = keyOf(write);
    const held = this.#slots[index]?.get(key);
    if (held !== undefined && compareOrdered(write, held) <= 0) return;
    this.#slots[index]?.set(key, { order: write.order, bytes: Uint8Array.from(write.bytes) });
  }
}

function keyOf({ key }: CellAddress): string {
  return Buffer.from(key).toString("hex");
}
