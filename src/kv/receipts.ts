import { type OrderedBytes, compareOrdered } from "../core/cell.ts";
import type { CellReceipt, CellWrite } from "../ports/kv-plane.ts";

/** What a job's batch did, and the cells of it that need writing. */
export interface ReceiptPlan {
  /** By index of the batch. */
  readonly receipts: readonly CellReceipt[];
  /** The cells that are newer than what the plane holds. */
  readonly writes: readonly CellWrite[];
}

/**
 * Judges each cell of a batch against what the plane held before it (`held`, by index, undefined is absent) and against
 * the cells of the same key earlier in the batch. Equal order and bytes are already applied; anything below is superseded.
 */
export function planReceipts(
  batch: readonly CellWrite[],
  held: readonly (OrderedBytes | undefined)[],
  identify: (cell: CellWrite) => string,
): ReceiptPlan {
  const present = new Map<string, OrderedBytes | undefined>();
  const receipts: CellReceipt[] = [];
  const writes: CellWrite[] = [];
  for (const [index, cell] of batch.entries()) {
    const id = identify(cell);
    const before = present.has(id) ? present.get(id) : held[index];
    const difference = before === undefined ? 1 : compareOrdered(cell, before);
    if (before === undefined || difference > 0) {
      receipts.push({ outcome: "applied", storedOrder: cell.order });
      writes.push(cell);
      present.set(id, cell);
    } else {
      receipts.push({ outcome: difference === 0 ? "already-applied" : "superseded", storedOrder: before.order });
      present.set(id, before);
    }
  }
  return { receipts, writes };
}
