import { compareBytes } from "../core/cell.ts";
import type { KeyRange } from "../core/counting/keys.ts";
import { type FoundSlot, readSlotKey, type SlotName } from "../core/counting/reading.ts";
import { decodeSlot } from "../core/counting/slot.ts";
import type { SummedRow } from "../ledgers/counting-ledgers.ts";
import type { KvPlane, ScannedCell } from "../ports/kv-plane.ts";
import type { CountedRows } from "./counted-rows.ts";

/** A slot that is summed, as it was found under its key. */
export interface NamedSlot extends FoundSlot {
  readonly name: SlotName;
  readonly row: SummedRow;
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
  /** Which slots are summed: those of recounts under way and of replaced rows are not. */
  readonly rows: Pick<CountedRows, "learned" | "knew" | "learn" | "rowOf">;
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
    const { wanted, next }: Page = await readPage(plane, scan, from);
    for (const slot of wanted) if (!groups.take(slot)) return groups.endAt(slot.cell.key);
    from = next;
  }
  return groups.end();
}

/** A slot of a page that may belong into the answer. */
interface Wanted {
  readonly group: string;
  readonly name: SlotName;
  readonly cell: ScannedCell;
}

interface Page {
  readonly wanted: readonly Wanted[];
  readonly next: Uint8Array | undefined;
}

/** Reads a page, and once more where it has slots of partitions whose rows were not known when it was begun. */
async function readPage<Item>(plane: KvPlane, scan: CounterScan<Item>, from: Uint8Array): Promise<Page> {
  const { range, budget, rows } = scan;
  for (;;) {
    const { learned } = rows;
    const page = await plane.scan({ space: "slot", from, to: range.to, limit: PAGE_CELLS });
    budget.cells -= page.cells.length;
    const { wanted, skip } = choose(scan, page.cells);
    const unknown = new Set<number>();
    for (const { name } of wanted) if (!rows.knew(name.owner.partition, learned)) unknown.add(name.owner.partition);
    if (unknown.size === 0) return { wanted, next: furtherOf(page.next, skip) };
    await rows.learn([...unknown]);
  }
}

/** What of a page is wanted, and where to go on if what it ends with is not. */
function choose<Item>({ groupOf, skipTo }: CounterScan<Item>, cells: readonly ScannedCell[]) {
  const wanted: Wanted[] = [];
  let skip: Uint8Array | undefined;
  for (const cell of cells) {
    if (skip !== undefined && compareBytes(cell.key, skip) < 0) continue;
    const name = readSlotKey(cell.key);
    const group = groupOf(name);
    if (group === undefined) skip = skipTo?.(name);
    else wanted.push({ group, name, cell });
  }
  return { wanted, skip };
}

function furtherOf(next: Uint8Array | undefined, skip: Uint8Array | undefined): Uint8Array | undefined {
  return next === undefined || skip === undefined || compareBytes(next, skip) >= 0 ? next : skip;
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
  take({ group, name, cell: { key, order, bytes } }: Wanted): boolean {
    const row = this.#scan.rows.rowOf(name.owner);
    if (row === undefined) return true;
    if (this.#open?.name !== group) {
      this.#close();
      if (this.#ended === this.#scan.groupsMax) return false;
      this.#open = { name: group, key, slots: [] };
    }
    this.#open.slots.push({ name, owner: name.owner, row, ...decodeSlot({ order, bytes }) });
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
