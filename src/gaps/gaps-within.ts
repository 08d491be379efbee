import type { Gap } from "../core/gaps/gap.ts";
import type { Offset } from "../core/offset.ts";
import { type GapLedger, type GapOwner, gapId } from "./gap-ledger.ts";

/** Pages read for one answer, newest first. */
export const GAP_PAGES_MAX = 64;

/** An entry with its id. */
export interface FoundGap {
  readonly id: string;
  readonly gap: Gap;
}

/** Entries that overlap a range. */
export interface GapsWithin {
  /** Newest first. */
  readonly found: readonly FoundGap[];
  /** Whether the whole ledger of the partition was looked through. */
  readonly complete: boolean;
}

/** A range `[from, to)` of one partition's log; the topic epochs under which it was, or is, read. */
export interface GapRange {
  readonly topicEpochs: readonly number[];
  readonly from: Offset;
  readonly to: Offset;
}

/** The entries of the gap ledger that overlap a range. @throws KvFault */
export async function gapsWithin(ledger: GapLedger, owner: GapOwner, range: GapRange): Promise<GapsWithin> {
  const { topicEpochs, from, to } = range;
  const found: FoundGap[] = [];
  let page = await ledger.page(owner, undefined);
  for (let reads = 1; ; reads += 1) {
    for (let index = page.entries.length - 1; index >= 0; index -= 1) {
      const gap = page.entries[index];
      if (gap === undefined) continue;
      const overlaps = gap.from < to && (gap.to === null || gap.to > from);
      if (overlaps && topicEpochs.includes(gap.topicEpoch)) found.push({ id: gapId(owner, page.page, index), gap });
    }
    if (page.page === 0) return { found, complete: true };
    if (reads === GAP_PAGES_MAX) return { found, complete: false };
    page = await ledger.page(owner, page.page - 1);
  }
}
