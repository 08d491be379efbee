import type { Offset } from "../core/offset.ts";
import type { GapLedger } from "../gaps/gap-ledger.ts";
import { gapsWithin } from "../gaps/gaps-within.ts";
import type { BarrierLosses } from "../ports/barriers.ts";

/** A range of a barrier and the topic epochs that it was read under. */
export interface LossRange {
  readonly partition: number;
  readonly from: Offset;
  readonly to: Offset;
  readonly topicEpochs: readonly number[];
}

/**
 * Dead letters and gaps within the ranges, from the gap ledger, where both are entered before what is behind them is
 * acknowledged. An entry of dead letters spans an hour: one that reaches beyond a range makes the number "at most".
 * @throws KvFault
 */
export async function lossesOf(
  ledger: GapLedger,
  source: string,
  ranges: readonly LossRange[],
): Promise<BarrierLosses> {
  const answers = await Promise.all(
    ranges
      .filter(({ from, to }) => from < to)
      .map(async (range) => ({ range, ...(await gapsWithin(ledger, { source, partition: range.partition }, range)) })),
  );
  let [deadLetters, gaps, gapOffsets, exact] = [0, 0, 0, true];
  for (const { range, found, complete } of answers) {
    exact &&= complete;
    for (const { gap } of found) {
      const end = Math.min(gap.to ?? range.to, range.to);
      const begin = Math.max(gap.from, range.from);
      if (gap.cause === "dead-letter") {
        deadLetters += gap.records ?? 0;
        exact &&= begin === gap.from && end === gap.to;
      } else {
        gaps += 1;
        gapOffsets += end - begin;
      }
    }
  }
  return { deadLetters, gaps, gapOffsets, exact };
}
