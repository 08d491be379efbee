import { type Merged, mergeAnswers, needsWriteBack } from "../quorum.ts";
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
const PAGE_BYTES = 256 * 1024;

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
  const lists = listsOf(answers);
  const horizon = firstEnd(answers, lists);
  const cells: ScannedCell[] = [];
  const writeBack: CellWrite[] = [];
  for (const { key, merged } of mergeLists(lists)) {
    if (horizon !== undefined && key.compare(horizon) > 0) break;
    if (cells.length === limit) return { cells, writeBack, next: after(cells.at(-1)) };
    if (merged.winner === undefined) continue;
    const cell = { key: new Uint8Array(key.subarray(1)), ...decodeStored(merged.winner) };
    cells.push(cell);
    if (needsWriteBack(merged, writeAcks)) writeBack.push({ space, ...cell });
  }
  return { cells, writeBack, next: horizon === undefined ? undefined : after(cells.at(-1)) };
}

/** Every key of any list, in order, with what the lists say of it. */
function* mergeLists(
  lists: readonly (readonly Entry[])[],
): Generator<{ readonly key: Buffer; readonly merged: Merged<Buffer> }, void, undefined> {
  const [one = []] = lists;
  if (lists.every((list) => list === one)) {
    for (const { key, value } of one) yield { key, merged: { winner: value, alike: lists.length } };
    return;
  }
  const at = lists.map(() => 0);
  for (;;) {
    const heads = lists.map((list, index) => list[at[index] ?? 0]);
    const key = lowest(heads);
    if (key === undefined) return;
    const held = heads.map((entry) => (entry?.key.equals(key) === true ? entry.value : undefined));
    for (const [index, value] of held.entries()) if (value !== undefined) at[index] = (at[index] ?? 0) + 1;
    yield { key, merged: mergeAnswers(held, compareStored) };
  }
}

/** The cells of each answer; equal answers share theirs. */
function listsOf(answers: readonly RangeAnswer[]): readonly (readonly Entry[])[] {
  const lists: (readonly Entry[])[] = [];
  for (const [index, { packed }] of answers.entries()) {
    const same = answers.findIndex((other) => other.packed.equals(packed));
    lists.push(same < index ? (lists[same] ?? []) : entriesOf(packed));
  }
  return lists;
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
