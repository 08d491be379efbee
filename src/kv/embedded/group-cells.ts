import { compareBytes, compareOrdered } from "../../core/cell.ts";
import { inKeyOrder } from "./key-order.ts";
import type { StoreWrite } from "./wire.ts";

/** Cells that are sorted or merged before other work of the main thread gets a turn: a few milliseconds. */
const CELLS_PER_TURN = 2_048;

/**
 * The cells of some batches in the order of their keys; of those with one address, the one that all owners would keep. Sorts a
 * part of them at a time, then merges the parts; `turn` is awaited in between.
 */
export async function inOrder(
  batches: readonly (readonly StoreWrite[])[],
  turn: () => Promise<void>,
): Promise<readonly StoreWrite[]> {
  const cells = batches.flat();
  let runs: (readonly StoreWrite[])[] = [];
  for (let from = 0; from < cells.length; from += CELLS_PER_TURN) {
    if (from > 0) await turn();
    runs.push(winners(inKeyOrder(cells.slice(from, from + CELLS_PER_TURN))));
  }
  while (runs.length > 1) {
    const merged: (readonly StoreWrite[])[] = [];
    for (let at = 0; at < runs.length; at += 2) merged.push(await merge(runs[at] ?? [], runs[at + 1] ?? [], turn));
    runs = merged;
  }
  return runs[0] ?? [];
}

/** Of sorted cells with one address, which stand side by side, the one that wins. */
function winners(cells: readonly StoreWrite[]): readonly StoreWrite[] {
  const kept: StoreWrite[] = [];
  for (const cell of cells) {
    const last = kept.at(-1);
    if (last === undefined || last.space !== cell.space || compareBytes(last.key, cell.key) !== 0) kept.push(cell);
    else if (compareOrdered(cell, last) > 0) kept[kept.length - 1] = cell;
  }
  return kept;
}

/** Two sorted runs as one. Equal keys of different spaces may leave a loser among them: owners find it out too. */
async function merge(
  left: readonly StoreWrite[],
  right: readonly StoreWrite[],
  turn: () => Promise<void>,
): Promise<readonly StoreWrite[]> {
  const merged: StoreWrite[] = [];
  let [l, r] = [0, 0];
  for (;;) {
    const [a, b] = [left[l], right[r]];
    if (a === undefined || b === undefined) break;
    if (merged.length % CELLS_PER_TURN === CELLS_PER_TURN - 1) await turn();
    const order = compareBytes(a.key, b.key);
    const same = order === 0 && a.space === b.space;
    merged.push(same ? (compareOrdered(a, b) < 0 ? b : a) : order <= 0 ? a : b);
    if (same || order <= 0) l += 1;
    if (same || order > 0) r += 1;
  }
  return merged.concat(left.slice(l), right.slice(r));
}
