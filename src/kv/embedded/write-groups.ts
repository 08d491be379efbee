import { inTurns } from "../../core/steps.ts";
import type { Acks } from "../../ports/kv-plane.ts";
import { inKeyOrder } from "./key-order.ts";
import { nextTurn } from "./turns.ts";
import { entryBytes, type StoreWrite } from "./wire.ts";

/** Groups that are sent and not acknowledged; the next one gathers meanwhile. */
const IN_FLIGHT = 2;
/** A group takes no further batch that would make it larger than this. */
const GROUP_BYTES = 16 * 1024 * 1024;
/** While a group is under way, a smaller one gathers on: the owners are busy, and what meets in a group is written once. */
const SECOND_BYTES = GROUP_BYTES / 2;

/** Sends cells of `bytes` to the owners; `handed` is called once they are on their way, or failed before. */
export type SendCells = (cells: readonly StoreWrite[], bytes: number, handed: () => void) => Promise<Acks>;

interface Waiting {
  readonly batch: readonly StoreWrite[];
  readonly bytes: number;
  readonly handed: () => void;
  readonly settle: (acks: Promise<Acks>) => void;
}

/**
 * Batches that wait for others go together, in the order of their keys. An owner's transaction copies each page that it
 * changes: a batch of one partition has keys all over the store, so that each of its cells may cost a page, and the next
 * partition's batch costs the same pages again. With a million slots, grouped ones cost an owner a third of that.
 */
export class WriteGroups {
  readonly #send: SendCells;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #inFlight = 0;

  constructor(send: SendCells) {
    this.#send = send;
  }

  /** Sends a batch, alone or with others: they are acknowledged, or fail, together. @throws what sending throws */
  write(batch: readonly StoreWrite[], bytes: number, handed: () => void): Promise<Acks> {
    return new Promise((resolve) => {
      this.#waiting.push({ batch, bytes, handed, settle: resolve });
      this.#waitingBytes += bytes;
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#waiting.length > 0 && this.#mayGo()) {
      const group = this.#take();
      this.#inFlight += 1;
      const acks = this.#sendGroup(group);
      for (const { settle } of group) settle(acks);
      const next = (): void => {
        this.#inFlight -= 1;
        this.#pump();
      };
      acks.then(next, next);
    }
  }

  #mayGo(): boolean {
    return this.#inFlight === 0 || (this.#inFlight < IN_FLIGHT && this.#waitingBytes >= SECOND_BYTES);
  }

  #take(): readonly Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const waiting of this.#waiting) {
      if (count > 0 && bytes + waiting.bytes > GROUP_BYTES) break;
      bytes += waiting.bytes;
      count += 1;
    }
    this.#waitingBytes -= bytes;
    return this.#waiting.splice(0, count);
  }

  async #sendGroup(group: readonly Waiting[]): Promise<Acks> {
    const cells = await inTurns(inKeyOrder(group.flatMap(({ batch }) => batch)), nextTurn);
    const bytes = cells.reduce((sum, cell) => sum + entryBytes(cell), 0);
    return await this.#send(cells, bytes, () => {
      for (const { handed } of group) handed();
    });
  }
}
