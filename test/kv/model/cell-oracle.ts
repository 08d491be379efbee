import { type OrderedBytes, compareOrdered } from "../../../src/core/cell.ts";
import type { CellReceipt } from "../../../src/ports/kv-plane.ts";

/** What must be true of cells, whatever happens: what was acknowledged stays, and no read goes backwards. */
export class CellOracle {
  /** Per key: the least that a read that begins now may answer. */
  readonly #least = new Map<string, OrderedBytes>();
  /** Per key: everything that was ever sent. */
  readonly #sent = new Map<string, OrderedBytes[]>();

  /** A write begins. */
  sent(key: string, cell: OrderedBytes): void {
    this.#sent.set(key, [...(this.#sent.get(key) ?? []), cell]);
  }

  /** It was acknowledged, or a read answered it. */
  raise(key: string, cell: OrderedBytes): void {
    const least = this.#least.get(key);
    if (least === undefined || compareOrdered(cell, least) > 0) this.#least.set(key, cell);
  }

  /** What a read that begins now must answer at least. */
  least(key: string): OrderedBytes | undefined {
    return this.#least.get(key);
  }

  /** A read that began when `least` was the least has answered. @throws when it may not answer this */
  read(key: string, least: OrderedBytes | undefined, answer: OrderedBytes | undefined): void {
    if (answer === undefined) {
      if (least !== undefined) throw new Error(`${key} is gone: ${show(least)}`);
      return;
    }
    if (least !== undefined && compareOrdered(answer, least) < 0) {
      throw new Error(`${key} went back from ${show(least)} to ${show(answer)}`);
    }
    const known = (this.#sent.get(key) ?? []).some((cell) => compareOrdered(cell, answer) === 0);
    if (!known) throw new Error(`${key} is ${show(answer)}, which nobody wrote`);
    this.raise(key, answer);
  }

  /** A write with receipts that began when `least` was the least has answered. @throws when it may not say this */
  receipt(key: string, cell: OrderedBytes, least: OrderedBytes | undefined, receipt: CellReceipt): void {
    const { outcome, storedOrder } = receipt;
    const below = least !== undefined && compareOrdered(cell, least) < 0;
    if (storedOrder < Math.max(cell.order, least?.order ?? 0)) {
      throw new Error(`${key} at ${show(cell)} says ${outcome} with ${storedOrder}, at least ${show(least)}`);
    }
    if (below && outcome !== "superseded") throw new Error(`${key} says ${outcome} below ${show(least)}`);
    this.raise(key, cell);
  }
}

function show(cell: OrderedBytes | undefined): string {
  return cell === undefined ? "absent" : `${cell.order}:${Buffer.from(cell.bytes).toString("hex")}`;
}
