import type { OwnerGroup } from "./owner-group.ts";
import { ATTEMPTS_MAX, controlOrder } from "./control-cell.ts";

const START_ADDRESS = { space: "start", key: new Uint8Array(0) } as const;

/**
 * Orders of control writes: (start number, attempt), each handed out once. The start number is above every one that any
 * process used before, because a used one is durable at W owners and R are asked; it is taken when it is first needed.
 */
export class ControlOrders {
  readonly #group: OwnerGroup;
  #start: Promise<number> | undefined;
  #attempt = 0;

  constructor(group: OwnerGroup) {
    this.#group = group;
  }

  /** A new order, above all that were handed out. @throws KvFault while no start number can be had */
  async next(): Promise<number> {
    for (;;) {
      const starting = (this.#start ??= this.#allot());
      const start = await starting;
      if (this.#start !== starting) continue;
      this.#attempt += 1;
      if (this.#attempt <= ATTEMPTS_MAX) return controlOrder(start, this.#attempt);
      this.#start = undefined;
    }
  }

  async #allot(): Promise<number> {
    try {
      const group = this.#group;
      const [answer] = await group.read([START_ADDRESS], group.writeAcks);
      const start = (answer?.winner?.order ?? 0) + 1;
      const write = [{ ...START_ADDRESS, order: start, bytes: new Uint8Array(0) }];
      await group.write(write, await group.measure(write));
      this.#attempt = 0;
      return start;
    } catch (error) {
      this.#start = undefined;
      throw error;
    }
  }
}
