import { compareBytes, compareOrdered } from "../../core/cell.ts";
import type { Steps } from "../../core/steps.ts";
import type { StoreWrite } from "./wire.ts";

/** Bytes of a key that one sort looks at: with the place of its cell they fit into a double exactly. */
const HEAD_BYTES = 4;
const PLACES = 2 ** 20;
/** Runs of cells that are alike in what was looked at, and no longer than this, are sorted by comparing the rest of their keys. */
const RUN_MAX = 32;
/** Cells looked at in a piece: a few milliseconds. */
const CELLS_PER_STEP = 4_096;

const NOTHING = new Uint8Array(0);

/**
 * The cells in the order of their keys; of those with one address, the one that all owners would keep. Takes a fraction of what
 * comparing all keys would: numbers are sorted, by the engine itself. More than 2^20 cells stay as they are.
 */
export function* inKeyOrder(cells: readonly StoreWrite[]): Steps<readonly StoreWrite[]> {
  if (cells.length < 2 || cells.length > PLACES) return cells;
  const order = new Uint32Array(cells.length);
  for (let place = 0; place < order.length; place += 1) order[place] = place;
  const sorting = new Sorting(cells);
  yield* sorting.arrange(order, 0);
  return yield* sorting.winners(order);
}

class Sorting {
  readonly #cells: readonly StoreWrite[];
  /** By place in the whole order: 1 where the sorted numbers have shown that the key before it is another. */
  readonly #fresh: Uint8Array;
  #looked = 0;

  constructor(cells: readonly StoreWrite[]) {
    this.#cells = cells;
    this.#fresh = new Uint8Array(cells.length + 1);
  }

  /** Arranges the places in `order` by the keys of their cells, which are alike up to `looked`: shorter ones are filled with zeros. */
  *arrange(order: Uint32Array, looked: number): Steps<void> {
    if (order.length <= RUN_MAX) {
      this.#compare(order, looked);
      return;
    }
    const shared = yield* this.#sharedBytes(order, looked);
    const heads = new Float64Array(order.length);
    for (let index = 0; index < heads.length; index += 1) {
      if (this.#due()) yield;
      heads[index] = headOf(this.#key(order, index), shared) * PLACES + index;
    }
    heads.sort();
    const before = order.slice();
    let start = 0;
    for (let index = 0; index < heads.length; index += 1) {
      if (this.#due()) yield;
      order[index] = before[(heads[index] ?? 0) % PLACES] ?? 0;
      const ends = Math.floor((heads[index] ?? 0) / PLACES) !== Math.floor((heads[index + 1] ?? -1) / PLACES);
      if (!ends) continue;
      this.#fresh[order.byteOffset / Uint32Array.BYTES_PER_ELEMENT + index + 1] = 1;
      const run = order.subarray(start, index + 1);
      if (run.length > 1) yield* this.#arrangeRun(run, shared + HEAD_BYTES);
      start = index + 1;
    }
  }

  /** Of the cells in this order those that win: the ones with one address stand side by side. */
  *winners(order: Uint32Array): Steps<readonly StoreWrite[]> {
    const kept: StoreWrite[] = [];
    let last: StoreWrite | undefined;
    for (let index = 0; index < order.length; index += 1) {
      if (this.#due()) yield;
      const cell = this.#cells[order[index] ?? 0];
      if (cell === undefined) continue;
      const same = last !== undefined && this.#fresh[index] !== 1 && last.space === cell.space;
      if (!same || last === undefined || compareBytes(last.key, cell.key) !== 0) kept.push(cell);
      else if (compareOrdered(cell, last) > 0) kept[kept.length - 1] = cell;
      else continue;
      last = cell;
    }
    return kept;
  }

  *#arrangeRun(run: Uint32Array, looked: number): Steps<void> {
    const goesOn = run.some((place) => (this.#cells[place]?.key.length ?? 0) > looked);
    if (!goesOn) run.sort((a, b) => (this.#cells[a]?.key.length ?? 0) - (this.#cells[b]?.key.length ?? 0));
    else if (run.length <= RUN_MAX) this.#compare(run, looked);
    else yield* this.arrange(run, looked);
  }

  #compare(run: Uint32Array, looked: number): void {
    run.sort((a, b) => compareFrom(this.#cells[a]?.key ?? NOTHING, this.#cells[b]?.key ?? NOTHING, looked));
  }

  /** How many bytes all keys begin with alike, at least `looked` where zeros fill the shorter ones. */
  *#sharedBytes(order: Uint32Array, looked: number): Steps<number> {
    const first = this.#key(order, 0);
    let shared = first.length;
    for (let index = 1; index < order.length; index += 1) {
      if (this.#due()) yield;
      const key = this.#key(order, index);
      let at = Math.min(looked, shared);
      while (at < shared && first[at] === key[at]) at += 1;
      shared = at;
    }
    return Math.max(looked, shared);
  }

  #key(order: Uint32Array, index: number): Uint8Array {
    return this.#cells[order[index] ?? 0]?.key ?? NOTHING;
  }

  /** Whether a piece is done. */
  #due(): boolean {
    this.#looked = (this.#looked + 1) % CELLS_PER_STEP;
    return this.#looked === 0;
  }
}

/** Compares what follows the first `from` bytes, in which the keys are alike but for zeros at the end of the shorter one. */
function compareFrom(a: Uint8Array, b: Uint8Array, from: number): number {
  const shared = Math.min(a.length, b.length);
  for (let index = from; index < shared; index += 1) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** The bytes from `from` on, as a number that sorts as they do. */
function headOf(key: Uint8Array, from: number): number {
  let head = 0;
  for (let at = from; at < from + HEAD_BYTES; at += 1) head = head * 256 + (key[at] ?? 0);
  return head;
}
