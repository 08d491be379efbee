import type { Offset } from "../core/offset.ts";
import type { GapLedger } from "../gaps/gap-ledger.ts";
import { gapsWithin } from "../gaps/gaps-within.ts";
import type { BarrierLosses } from "../ports/barriers.ts";

/** What of a partition is below a barrier, and the topic epochs that it was read under. */
export interface LossRange {
  readonly partition: number;
  readonly to: Offset;
  readonly topicEpochs: readonly number[];
  /** Whether those are all epochs of its log. */
  readonly allEpochs: boolean;
}

/**
 * Dead letters and gaps below a barrier, from the whole gap ledger, where both are entered before what is behind them is
 * acknowledged: whoever asks about a record of his own does not know whether it was passed over before the barrier was set.
 * An entry of dead letters spans an hour: one that reaches beyond the barrier makes the number "at most".
 * @throws KvFault
 */
export async function lossesOf(
  ledger: GapLedger,
  source: string,
  ranges: readonly LossRange[],
): Promise<BarrierLosses> {
  const answers = await Promise.all(
    ranges
      .filter(({ to }) => to > 0)
      .map(async (range) => {
        const whole = { ...range, from: 0 };
        return { range, ...(await gapsWithin(ledger, { source, partition: range.partition }, whole)) };
      }),
  );
  let [deadLetters, gaps, gapOffsets] = [0, 0, 0];
  let [exact, complete] = [true, true];
  for (const { range, found, complete: whole } of answers) {
    complete &&= whole && range.allEpochs;
    for (const { gap } of found) {
      const end = Math.min(gap.to ?? range.to, range.to);
      if (gap.cause === "dead-letter") {
        deadLetters += gap.records ?? 0;
        exact &&= end === gap.to;
      } else {
        gaps += 1;
        gapOffsets += end - gap.from;
      }
    }
  }
  return { deadLetters, gaps, gapOffsets, exact: exact && complete, complete };
}
