import { type OrderedBytes, compareOrdered } from "../../src/core/cell.ts";
import { StreamsError } from "../../src/errors.ts";
import {
  type Acks,
  type CasOutcome,
  type CellAddress,
  type CellReceipt,
  type CellScan,
  type CellWrite,
  type ControlRecord,
  type ControlStore,
  KvFault,
  type KvPlane,
  type OwnerAnswer,
  type OwnerStatus,
  type ScanPage,
} from "../../src/ports/kv-plane.ts";

export type PlaneCall = "read" | "set" | "write" | "restore" | "scan";

/** An in-memory KV plane with faults as verbs: what it acknowledged survives `crash`, like a plane that flushed at W. */
export class MemoryPlane implements KvPlane {
  readonly cells = new Map<string, OrderedBytes>();
  readonly records = new Map<string, ControlRecord>();
  /** Every write call, for assertions on what was written before what. */
  readonly journal: { readonly space: string; readonly order: number }[] = [];
  away = false;
  /** Called with the name before a control record is read or set, and with the space before cells are written or restored. */
  before: (call: PlaneCall, name: string) => Promise<void> | void = () => {};
  /** Called after a control record was set: a throw is an answer that was lost. */
  after: (name: string) => void = () => {};
  #tag = 0;
  /** Calls of `write` that wait at the gate; undefined: the gate is open. */
  #gate: { readonly opened: Promise<void>; readonly open: () => void } | undefined;

  readonly control: ControlStore = {
    read: async (name) => {
      await this.before("read", name);
      return this.#answer(() => this.records.get(name));
    },
    compareAndSet: async (name, expected, value) => {
      await this.before("set", name);
      const outcome = await this.#answer(() => this.#compareAndSet(name, expected, value));
      this.after(name);
      return outcome;
    },
    list: (prefix, limit = 1_000) =>
      this.#answer(() =>
        [...this.records.keys()]
          .filter((name) => name.startsWith(prefix))
          .toSorted()
          .slice(0, limit),
      ),
  };

  /** Writes wait until `openGate`. */
  closeGate(): void {
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    this.#gate = { opened, open };
  }

  openGate(): void {
    this.#gate?.open();
    this.#gate = undefined;
  }

  async write(batch: readonly CellWrite[]): Promise<Acks> {
    await this.#gate?.opened;
    for (const write of batch) await this.before("write", `${write.space}/${Buffer.from(write.key).toString()}`);
    return this.#answer(() => {
      for (const write of batch) this.#merge(write);
      return { count: 2, owners: ["a", "b"] };
    });
  }

  async writeWithReceipts(batch: readonly CellWrite[]): Promise<readonly CellReceipt[]> {
    return this.#answer(() => batch.map((write) => this.#merge(write)));
  }

  async restore(addresses: readonly CellAddress[]): Promise<readonly (OrderedBytes | undefined)[]> {
    for (const { space } of addresses) await this.before("restore", space);
    return this.#answer(() => addresses.map((address) => this.cells.get(keyOf(address))));
  }

  async scan({ space, from, to, limit }: CellScan): Promise<ScanPage> {
    await this.before("scan", space);
    return this.#answer(() => {
      const [first, end] = [from, to].map((key) => keyOf({ space, key }));
      const keys = [...this.cells.keys()]
        .filter((key) => key.startsWith(`${space}/`) && key >= (first ?? "") && key < (end ?? ""))
        .toSorted();
      const cells = keys.slice(0, limit).flatMap((name) => {
        const cell = this.cells.get(name);
        return cell === undefined
          ? []
          : [{ key: new Uint8Array(Buffer.from(name.slice(space.length + 1), "hex")), ...cell }];
      });
      const last = cells.at(-1);
      return { cells, next: last === undefined || keys.length <= limit ? undefined : Uint8Array.of(...last.key, 0) };
    });
  }

  /** Three owners that hold the same; those in `unavailable` do not answer. */
  readonly unavailable = new Set<string>();

  inspect(address: CellAddress): Promise<readonly OwnerAnswer[]> {
    return this.#answer(() => {
      const cell = this.cells.get(keyOf(address));
      return ["a", "b", "c"].map((owner): OwnerAnswer => {
        if (this.unavailable.has(owner)) return { owner, answer: "unavailable" };
        return cell === undefined ? { owner, answer: "absent" } : { owner, answer: "holds", cell };
      });
    });
  }

  repair(owner: string): Promise<void> {
    return Promise.reject(new StreamsError("KV_REPAIR_REFUSED", `owner ${owner} is up`));
  }

  owners(): readonly OwnerStatus[] {
    return [];
  }

  onChange(): () => void {
    return () => {};
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #merge(write: CellWrite): CellReceipt {
    const key = keyOf(write);
    const present = this.cells.get(key);
    this.journal.push({ space: write.space, order: write.order });
    const order = present === undefined ? 1 : compareOrdered(write, present);
    if (order > 0) this.cells.set(key, { order: write.order, bytes: Uint8Array.from(write.bytes) });
    const outcome = order > 0 ? "applied" : order === 0 ? "already-applied" : "superseded";
    return { outcome, storedOrder: Math.max(write.order, present?.order ?? 0) };
  }

  #compareAndSet(name: string, expected: string | undefined, value: Uint8Array): CasOutcome {
    const current = this.records.get(name);
    if (current?.tag !== expected) return { outcome: "conflict", current };
    this.#tag += 1;
    const record = { tag: `${this.#tag}`, value: Uint8Array.from(value) };
    this.records.set(name, record);
    return { outcome: "written", record };
  }

  async #answer<T>(answer: () => T): Promise<T> {
    await Promise.resolve();
    if (this.away) throw new KvFault("KV_NO_QUORUM", "fewer than 2 owners are up");
    return answer();
  }
}

function keyOf(address: CellAddress): string {
  return `${address.space}/${Buffer.from(address.key).toString("hex")}`;
}
