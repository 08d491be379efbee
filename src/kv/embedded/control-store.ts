import type { OrderedBytes } from "../../core/cell.ts";
import { invariant } from "../../core/invariant.ts";
import { type CasOutcome, type ControlRecord, type ControlStore, KEY_BYTES_MAX } from "../../ports/kv-plane.ts";
import { decodeControl, encodeAbsent, encodePresent } from "./control-cell.ts";
import { listNames } from "./control-names.ts";
import type { OwnerGroup } from "./owner-group.ts";
import { SerialByName } from "./serial.ts";
import { ControlOrders } from "./start-number.ts";
import type { StoreAddress } from "./wire.ts";

const NAMES_DEFAULT = 1_000;

/**
 * Control records on the owners of the plane.
 *
 * A compare-and-set that reached fewer than W owners has lost or won, and nobody knows. The danger is a value that one
 * owner keeps, that a later read does not meet, and that surfaces when the others are gone:
 *
 * 1. owner a takes attempt 5, then goes down; b and c hold attempt 4; the caller gets a KvFault.
 * 2. A read meets b and c. Before it answers attempt 4's value, that value is written again, as attempt 6, at W.
 * 3. Owner a comes back with attempt 5: every read from now on meets attempt 6 and it stays lost.
 *
 * The same holds for absence, which is written as a cell of its own. A name is *settled* when nothing above what W owners
 * hold can exist anywhere: when this process wrote it, or when every owner of the deployment was heard and answered alike.
 */
export class EmbeddedControlStore implements ControlStore {
  readonly #group: OwnerGroup;
  readonly #orders: ControlOrders;
  readonly #serial = new SerialByName();
  readonly #settled = new Set<string>();

  constructor(group: OwnerGroup) {
    this.#group = group;
    this.#orders = new ControlOrders(group);
  }

  /** See the port. @throws KvFault */
  read(name: string): Promise<ControlRecord | undefined> {
    const address = addressOf(name);
    return this.#serial.run(name, async () => decodeControl(await this.#readSettled(name, address)));
  }

  /** See the port. A KvFault leaves the outcome unknown; the next read settles it. @throws KvFault */
  compareAndSet(name: string, expected: string | undefined, value: Uint8Array): Promise<CasOutcome> {
    const address = addressOf(name);
    return this.#serial.run(name, async () => {
      const current = decodeControl(await this.#readSettled(name, address));
      if (current?.tag !== expected) return { outcome: "conflict", current };
      const order = await this.#orders.next();
      const cell = { order, bytes: encodePresent(order, value) };
      await this.#settle(name, address, cell);
      const record = decodeControl(cell);
      invariant(record !== undefined, "KV_CONTROL_CELL", "a written record is absent");
      return { outcome: "written", record };
    });
  }

  /**
   * See the port; sorted by their UTF-8 bytes. A name whose only write has an unknown outcome may be missing now and there
   * later: reading it by name settles that. @throws KvFault
   */
  async list(prefix: string, limit: number = NAMES_DEFAULT): Promise<readonly string[]> {
    const present: string[] = [];
    for await (const names of listNames(this.#group, prefix, limit)) {
      const records = await Promise.all(names.map((name) => this.read(name)));
      present.push(...names.filter((_, index) => records[index] !== undefined));
      if (present.length >= limit) break;
    }
    return present.slice(0, limit);
  }

  /** Reads what may be obeyed: settled, and held by W owners. */
  async #readSettled(name: string, address: StoreAddress): Promise<OrderedBytes | undefined> {
    const group = this.#group;
    const everybody = group.links.length;
    const settled = this.#settled.has(name);
    const [answer] = await group.read([address], settled ? group.writeAcks : everybody);
    const winner = answer?.winner;
    const alike = answer?.alike ?? 0;
    if (alike === everybody || (settled && alike >= group.writeAcks)) {
      this.#settled.add(name);
      return winner;
    }
    const order = await this.#orders.next();
    const cell = { order, bytes: winner?.bytes ?? encodeAbsent() };
    await this.#settle(name, address, cell);
    return cell;
  }

  async #settle(name: string, address: StoreAddress, cell: OrderedBytes): Promise<void> {
    this.#settled.delete(name);
    const write = [{ ...address, ...cell }];
    const bytes = await this.#group.measure(write);
    await this.#group.write(write, bytes);
    this.#settled.add(name);
  }
}

function addressOf(name: string): StoreAddress {
  const key = Buffer.from(name, "utf8");
  invariant(key.length > 0 && key.length <= KEY_BYTES_MAX, "KV_CONTROL_NAME", `a name of ${key.length} bytes`);
  return { space: "control", key };
}
