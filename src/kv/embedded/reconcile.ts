import type { OwnerName } from "./identity.ts";
import type { OwnerLink } from "./owner-link.ts";
import { type KeyText, type Span, keyText } from "./protocol.ts";
import { compareStored, eachEntry } from "./wire.ts";

/**
 * Brings owners together, span by span, while writes flow.
 *
 * Every owner is sent the same writes in the same order, so owners that are asked in one turn answer for the same moment of
 * the stream of writes, and differ only in what one of them missed. What differs is read from each, and merged into the
 * others; it is sent after every write that was in it, so that an owner that missed nothing is never changed by it.
 */

/** Cells of one span take about this many bytes. */
const SPAN_BYTES = 1024 * 1024;

/** What became of one span. */
export interface SpanOutcome {
  /** Where the next span begins; undefined at the end. */
  readonly next: KeyText | undefined;
  /** The most that one owner holds of it. */
  readonly cells: number;
  readonly bytes: number;
  /** How many cells each owner had missed. */
  readonly missed: ReadonlyMap<OwnerName, number>;
}

/**
 * Compares what `links` hold after `after` for about a megabyte, and merges what differs into all of them.
 * @throws OwnerDown when one of them goes down
 */
export async function reconcileSpan(links: readonly OwnerLink[], after: KeyText | undefined): Promise<SpanOutcome> {
  const open: Span = { after, upTo: undefined, bytes: SPAN_BYTES };
  const first = await Promise.all(links.map((link) => link.store.digest(open)));
  const lasts = first.flatMap(({ complete, last }) => (complete || last === undefined ? [] : [last]));
  // The one that stopped first: beyond it, the others' answers say nothing about it.
  const [next] = lasts.toSorted(compareKeyText);
  const most = { cells: Math.max(...first.map((a) => a.cells)), bytes: Math.max(...first.map((a) => a.bytes)) };
  const alike = { next, ...most, missed: new Map<OwnerName, number>() };
  if (areAlike(first)) return alike;
  const span: Span = { after, upTo: next, bytes: next === undefined ? Number.MAX_SAFE_INTEGER : SPAN_BYTES };
  if (next !== undefined && areAlike(await Promise.all(links.map((link) => link.store.digest(span))))) return alike;
  return { ...alike, missed: await exchange(links, span) };
}

function areAlike(answers: readonly { readonly hash: string; readonly complete: boolean }[]): boolean {
  return answers.every(({ hash, complete }) => hash === answers[0]?.hash && complete === answers[0].complete);
}

async function exchange(links: readonly OwnerLink[], span: Span): Promise<Map<OwnerName, number>> {
  const held = await Promise.all(links.map((link) => link.store.scan(span)));
  const missed = new Map<OwnerName, number>();
  await Promise.all(
    links.map(async (link, index) => {
      const own = packedOf(held, index);
      const others = held.flatMap(({ cells, packed }, of) =>
        of === index || cells === 0 || packed.equals(own) ? [] : [packed],
      );
      // By what it showed, not by what it says that merging changed: it may be the one that is wrong.
      missed.set(link.owner, countMissed(own, others));
      await Promise.all(others.map((packed) => link.store.absorb(packed)));
    }),
  );
  return missed;
}

/** How many keys of `others` have a cell that is not in `own`, or a larger one. */
function countMissed(own: Buffer, others: readonly Buffer[]): number {
  if (others.length === 0) return 0;
  const present = new Map<KeyText, Buffer>();
  eachEntry(own, (key, value) => present.set(keyText(key), value));
  const missed = new Set<KeyText>();
  for (const packed of others) {
    eachEntry(packed, (key, value) => {
      const before = present.get(keyText(key));
      if (before === undefined || compareStored(value, before) > 0) missed.add(keyText(key));
    });
  }
  return missed.size;
}

function packedOf(held: readonly { readonly packed: Buffer }[], index: number): Buffer {
  return held[index]?.packed ?? Buffer.alloc(0);
}

/** Compares as the bytes that the texts stand for: each character is one byte. */
function compareKeyText(a: KeyText, b: KeyText): number {
  return a < b ? -1 : Number(a > b);
}
