import { mergeAnswers, needsWriteBack } from "../quorum.ts";
import type { CellScan, CellWrite, ScanPage, ScannedCell } from "../../ports/kv-plane.ts";
import { type CellRange, keyText } from "./protocol.ts";
import { compareStored, decodeStored, eachEntry, storeKey } from "./wire.ts";

/** What one owner holds of a range, packed and sorted by key; unless it is `complete`, nothing is said of what follows. */
export interface RangeAnswer {
  readonly packed: Buffer;
  readonly complete: boolean;
}

/** A page, and those of its cells that fewer than W owners answered. */
interface MergedPage extends ScanPage {
  readonly writeBack: readonly CellWrite[];
}

/** One owner's page ends when it has about this many bytes. */
const PAGE_BYTES = 512 * 1024;

/** What each owner is asked for a page of `scan`. */
export function rangeOf({ space, from, to, limit }: CellScan): CellRange {
  const text = (key: Uint8Array): string => keyText(storeKey({ space, key }));
  return { from: text(from), to: text(to), limit, bytes: PAGE_BYTES };
}

interface Entry {
  readonly key: Buffer;
  readonly value: Buffer;
}

/**
 * Merges what distinct owners answered, as far as each of them speaks of it: beyond the first page that ended early, the
 * keys of the others may be missing there, too.
 */
export function mergePage(answers: readonly RangeAnswer[], { space, limit }: CellScan, writeAcks: number): MergedPage {
  const lists = answers.map(({ packed }) => entriesOf(packed));
  const horizon = firstEnd(answers, lists);
  const at = lists.map(() => 0);
  const cells: ScannedCell[] = [];
  const writeBack: CellWrite[] = [];
  for (;;) {
    const heads = lists.map((list, index) => list[at[index] ?? 0]);
    const first = lowest(heads);
    if (first === undefined || (horizon !== undefined && first.compare(horizon) > 0)) break;
    if (cells.length === limit) return { cells, writeBack, next: after(cells.at(-1)) };
    const held = heads.map((entry) => (entry?.key.equals(first) === true ? entry.value : undefined));
    for (const [index, value] of held.entries()) if (value !== undefined) at[index] = (at[index] ?? 0) + 1;
    const merged = mergeAnswers(held, compareStored);
    if (merged.winner === undefined) continue;
    const cell = { key: new Uint8Array(first.subarray(1)), ...decodeStored(merged.winner) };
    cells.push(cell);
    if (needsWriteBack(merged, writeAcks)) writeBack.push({ space, ...cell });
  }
  return { cells, writeBack, next: horizon === undefined ? undefined : after(cells.at(-1)) };
}

function entriesOf(packed: Buffer): readonly Entry[] {
  const entries: Entry[] = [];
  eachEntry(packed, (key, value) => entries.push({ key, value }));
  return entries;
}

/** Last key of the page that ended first, of those that ended early. */
function firstEnd(answers: readonly RangeAnswer[], lists: readonly (readonly Entry[])[]): Buffer | undefined {
  return lowest(answers.map(({ complete }, index) => (complete ? undefined : lists[index]?.at(-1))));
}

function lowest(entries: readonly (Entry | undefined)[]): Buffer | undefined {
  let first: Buffer | undefined;
  for (const entry of entries) {
    if (entry !== undefined && (first === undefined || entry.key.compare(first) < 0)) first = entry.key;
  }
  return first;
}

/** The least key above a cell's. */
function after(last: ScannedCell | undefined): Uint8Array | undefined {
  if (last === undefined) return undefined;
  const next = new Uint8Array(last.key.length + 1);
  next.set(last.key);
  return next;
}
