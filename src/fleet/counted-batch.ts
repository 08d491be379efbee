import { BatchCount } from "../core/counting/batch-count.ts";
import { indexAtOrAbove, type OnFault } from "../core/counting/count-records.ts";
import { invariant } from "../core/invariant.ts";
import { type CountingLedger, countingRowAt } from "../core/ledger/counting-ledger.ts";
import type { Offset } from "../core/offset.ts";
import type { Steps } from "../core/steps.ts";
import type { DeadLetter } from "../ports/dead-letters.ts";
import type { CellWrite } from "../ports/kv-plane.ts";
import type { RecordBatch } from "../ports/record-batch.ts";
import type { Applied, ApplyTask } from "./applier.ts";
import { fingerprintOf, letterOf, type Poison, stopAt } from "./fold.ts";
import type { CountingVerdict } from "./verdicts.ts";

/** What counting a batch depends on beside the batch. */
export interface CountedContext {
  /** With a reservation that covers the batch. */
  readonly ledger: CountingLedger;
  readonly topicEpoch: number;
  readonly verdictOf: (revision: number) => CountingVerdict;
  readonly suffixOf: (row: number) => Uint8Array;
  /** Wall clock, only for a letter's "first seen". */
  readonly nowMs: number;
}

/** Records that are to be counted, from `from` on. */
export interface CountTask extends Pick<ApplyTask, "from" | "allowPoisonTo" | "breaker"> {
  readonly batch: RecordBatch;
}

/** A batch that was decoded and added up; what the slots hold is not known yet. */
export interface CountedBatch {
  readonly count: BatchCount;
  readonly records: number;
  readonly letters: readonly DeadLetter[];
  readonly poison: Poison | undefined;
  readonly fingerprint: Applied["fingerprint"];
  /**
   * How far reading comes with this batch. Holes and control records behind its last record included: a reservation that is given
   * back to below them would leave them in no row, and a group that is reset to one of them could not begin there.
   */
  readonly sentTo: Offset;
}

/** A counted batch that was folded into its slots: kept until it is at W, and sent again as it is. */
export interface FoldedBatch extends Omit<CountedBatch, "count"> {
  readonly writes: readonly CellWrite[];
}

/** Judges and adds up the records of a batch, each under the row that covers its offset (I17). @throws InvariantViolation */
export function* countBatch(task: CountTask, context: CountedContext): Steps<CountedBatch> {
  const { batch, breaker } = task;
  const first = indexAtOrAbove(batch, task.from);
  const letters: DeadLetter[] = [];
  let poison: Poison | undefined;
  let judged = first;
  const onFault: OnFault = (index, fault) => {
    breaker.appliedRun(batch, judged, index);
    judged = index + 1;
    const row = countingRowAt(context.ledger, batch.offsetAt(index));
    invariant(row !== undefined, "LEDGER_UNCOVERED", `offset ${batch.offsetAt(index)} was judged without a row`);
    const verdict = context.verdictOf(row.revision);
    poison = stopAt(batch.offsetAt(index), verdict, fault, task);
    if (poison !== undefined) return "stop";
    letters.push(letterOf(batch, index, verdict, fault, context));
    return "pass";
  };
  const counterOf = (revision: number) => context.verdictOf(revision).counter;
  const count = yield* BatchCount.of(batch, first, { ...context, counterOf, onFault });
  breaker.appliedRun(batch, judged, count.end);
  const last = count.end > first ? count.end - 1 : undefined;
  return {
    count,
    records: count.end - first,
    letters,
    poison,
    fingerprint: last === undefined ? undefined : fingerprintOf(batch, last),
    sentTo: poison?.offset ?? batch.next,
  };
}
