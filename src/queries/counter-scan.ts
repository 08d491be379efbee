import { compareBytes } from "../core/cell.ts";
import type { KeyRange } from "../core/counting/keys.ts";
import { type FoundSlot, readSlotKey, type SlotName } from "../core/counting/reading.ts";
import { decodeSlot } from "../core/counting/slot.ts";
import type { KvPlane, ScannedCell } from "../ports/kv-plane.ts";

/** A slot as it was found under its key. */
export interface NamedSlot extends FoundSlot {
  readonly name: SlotName;
  readonly offset: number;
}

/** How many cells may still be looked at; scans of one question share it. */
export interface ScanBudget {
  cells: number;
}

/** What a scan looks for. */
export interface CounterScan<Item> {
  readonly range: KeyRange;
  /** Where an earlier scan of the range left off: a key in it. */
  readonly start: Uint8Array | undefined;
  /** What belongs together in an answer; equal ones follow each other in the order of keys. Undefined: not wanted. */
  readonly groupOf: (name: SlotName) => string | undefined;
  /** Where to go on behind a slot that is not wanted; undefined, or not beyond it: at the next one. */
  readonly skipTo?: (name: SlotName) => Uint8Array | undefined;
  /** Whether a slot is summed; those of recounts under way and of replaced rows are not. */
  readonly counts: (name: SlotName) => boolean;
  /** Makes what is answered of a whole group, slots in the order of keys, at least one. */
  readonly itemsOf: (slots: readonly NamedSlot[]) => readonly Item[];
  readonly groupsMax: number;
  readonly budget: ScanBudget;
}

/** What whole groups came to. `next` is the key to go on at; undefined: the range was read to its end. */
export interface Scanned<Item> {
  readonly items: readonly Item[];
  readonly next: Uint8Array | undefined;
}

/** Cells of one page of the plane's. */
const PAGE_CELLS = 2_000;

/**
 * Reads a range group by group, up to so many, or until the budget is used up: then with fewer, perhaps none, and a `next`.
 * A group is never divided, so one of them may take more. What is made of a group is made when it ends, page by page: no
 * turn of the event loop sums them all. @throws KvFault
 */
export async function scanGroups<Item>(plane: KvPlane, scan: CounterScan<Item>): Promise<Scanned<Item>> {
  const { range, budget } = scan;
  const groups = new Groups(scan);
  let from: Uint8Array | undefined = scan.start ?? range.from;
  while (from !== undefined && compareBytes(from, range.to) < 0) {
    if (budget.cells <= 0 && groups.mayEnd()) return groups.endAt(from);
    const page = await plane.scan({ space: "slot", from, to: range.to, limit: PAGE_CELLS });
    budget.cells -= page.cells.length;
    let skip: Uint8Array | undefined;
    for (const cell of page.cells) {
      if (skip !== undefined && compareBytes(cell.key, skip) < 0) continue;
      const name = readSlotKey(cell.key);
      const group = scan.groupOf(name);
      if (group === undefined) skip = scan.skipTo?.(name);
      else if (!groups.take(group, name, cell)) return groups.endAt(cell.key);
    }
    from = page.next === undefined || skip === undefined || compareBytes(page.next, skip) >= 0 ? page.next : skip;
  }
  return groups.end();
}

/** The groups of a scan: the one that is open, and what came of those before. */
class Groups<Item> {
  readonly #scan: CounterScan<Item>;
  readonly #items: Item[] = [];
  #ended = 0;
  #open: { readonly name: string; readonly key: Uint8Array; readonly slots: NamedSlot[] } | undefined;

  constructor(scan: CounterScan<Item>) {
    this.#scan = scan;
  }

  /** Takes a slot of a group; false when there are groups enough without it. */
  take(group: string, name: SlotName, { key, order, bytes }: ScannedCell): boolean {
    if (!this.#scan.counts(name)) return true;
    if (this.#open?.name !== group) {
      this.#close();
      if (this.#ended === this.#scan.groupsMax) return false;
      this.#open = { name: group, key, slots: [] };
    }
    this.#open.slots.push({ name, owner: name.owner, ...decodeSlot({ order, bytes }) });
    return true;
  }

  /** Whether ending here is progress: only a first group that is still open must be read on. */
  mayEnd(): boolean {
    return this.#open === undefined || this.#ended > 0;
  }

  /** Ends at a key, or at the beginning of the group that is open there. */
  endAt(key: Uint8Array): Scanned<Item> {
    return { items: this.#items, next: this.#open?.key ?? key };
  }

  end(): Scanned<Item> {
    this.#close();
    return { items: this.#items, next: undefined };
  }

  #close(): void {
    if (this.#open === undefined) return;
    this.#items.push(...this.#scan.itemsOf(this.#open.slots));
    this.#ended += 1;
    this.#open = undefined;
  }
}
