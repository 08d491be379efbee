import { type Calibration, calibrate } from "../core/counting/calibration.ts";
import { actionKey, rollupRange, slotRange } from "../core/counting/keys.ts";
import { readRecord } from "../control/json-record.ts";
import { RevisionRecord, recordNames } from "../control/records.ts";
import { invariant } from "../core/invariant.ts";
import { countingOf } from "../core/source.ts";
import { StreamsError } from "../errors.ts";
import type { KvPlane } from "../ports/kv-plane.ts";
import type { CountedRows } from "./counted-rows.ts";
import { memberOf } from "./counter-questions.ts";
import { type NamedSlot, type ScanBudget, scanGroups } from "./counter-scan.ts";
import type { SourceOfKind } from "./source-of-kind.ts";

/** Which pairs are summed: those of a campaign, or the one with an article. */
export interface CalibrationAsked {
  readonly campaign: string;
  readonly article: string | undefined;
  readonly rows: CountedRows;
  readonly budget: ScanBudget;
}

/**
 * Sums pairs by the revision that they were counted under, which says their edges.
 * @throws StreamsError ANSWER_TOO_LARGE when that takes more than the budget; KvFault
 */
export async function readCalibration(
  plane: KvPlane,
  { namespace, source }: SourceOfKind,
  { campaign, article, rows, budget }: CalibrationAsked,
): Promise<Calibration> {
  const range =
    article === undefined
      ? rollupRange(namespace, campaign, "article")
      : slotRange(actionKey(namespace, campaign, "article", article));
  const sums = new Map<number, readonly bigint[]>();
  const { next } = await scanGroups(plane, {
    range,
    start: undefined,
    groupOf: (name) => `${memberOf(name) ?? ""}`,
    rows,
    itemsOf: (slots) => {
      for (const slot of slots) add(sums, slot);
      return [];
    },
    groupsMax: Number.MAX_SAFE_INTEGER,
    budget,
  });
  if (next !== undefined) {
    throw new StreamsError("ANSWER_TOO_LARGE", "the campaign has too many articles to be summed at once: ask for one");
  }
  const pairs = [...sums].map(async ([revision, counters]) => ({
    counters,
    edges: await edgesOf(plane, source, revision),
  }));
  return calibrate(await Promise.all(pairs));
}

function add(sums: Map<number, readonly bigint[]>, { row: { revision }, counters }: NamedSlot): void {
  const sum = sums.get(revision);
  const alike = sum === undefined || sum.length === counters.length;
  invariant(alike, "SLOT_SHAPE", `pairs of different shapes under revision ${revision}`);
  sums.set(revision, sum === undefined ? counters : sum.map((value, index) => value + (counters[index] ?? 0n)));
}

async function edgesOf(plane: KvPlane, source: string, revision: number): Promise<readonly number[]> {
  const record = await readRecord(plane.control, recordNames.revision(source, revision), RevisionRecord);
  invariant(record !== undefined, "REVISION_UNKNOWN", `revision ${revision} of ${source} is not stored`);
  return countingOf(record.value.definition).scoreEdges;
}
