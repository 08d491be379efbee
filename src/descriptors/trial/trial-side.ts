import { countRecords } from "../../core/counting/count-records.ts";
import { Tally } from "../../core/counting/tally.ts";
import { isFault, type RecordFault } from "../../core/fault.ts";
import { OFFSET_LIMIT, type Offset } from "../../core/offset.ts";
import { judge } from "../../fleet/fold.ts";
import type { Verdict } from "../../fleet/verdicts.ts";
import type { UnknownFieldCounts } from "../../ports/decoder.ts";
import type { RecordBatch } from "../../ports/record-batch.ts";

/** Examples of one code. */
const EXAMPLES_MAX = 5;
/** Unknown fields that are told. */
const UNKNOWN_MAX = 100;

/** One record that a side refuses: never what it holds. */
interface Example {
  readonly partition: number;
  readonly offset: string;
  readonly path?: string;
}

/** What one descriptor and mapping make of the records. */
export interface SideResult {
  readonly failed: number;
  /** Share of the records, from 0 to 1. */
  readonly failureRate: number;
  readonly codes: readonly {
    readonly code: string;
    readonly text: string;
    readonly count: number;
    readonly examples: readonly Example[];
  }[];
  readonly unknownFields: readonly { readonly path: string; readonly count: number }[];
}

/** Judges records by one verdict, the runner's own code, and applies nothing. Keeps numbers and offsets. */
export class TrialSide {
  readonly #verdict: Verdict;
  readonly #codes = new Map<string, { text: string; count: number; readonly examples: Example[] }>();
  #records = 0;
  #failed = 0;

  /** `verdict`: of this trial's own, so that what it decodes is not counted as read. */
  constructor(verdict: Verdict) {
    this.#verdict = verdict;
  }

  get failed(): number {
    return this.#failed;
  }

  get unknown(): UnknownFieldCounts {
    return this.#verdict.decoder.unknownFields();
  }

  take(batch: RecordBatch): void {
    this.#records += batch.count;
    const verdict = this.#verdict;
    const note = (index: number, fault: RecordFault) => this.#note(batch.partition, batch.offsetAt(index), fault);
    if (verdict.counting) {
      const tally = new Tally(verdict.counter.families);
      countRecords(batch, 0, batch.count, verdict.counter, tally, (index, fault) => {
        note(index, fault);
        return "pass";
      });
      return;
    }
    const { revision } = verdict;
    const ledger = { rows: [{ number: 1, from: 0, until: OFFSET_LIMIT, revision }], nextNumber: 2 };
    for (let index = 0; index < batch.count; index += 1) {
      const { result } = judge(batch, index, { ledger, verdictOf: () => verdict });
      if (isFault(result)) note(index, result);
    }
  }

  #note(partition: number, offset: Offset, { code, text, path }: RecordFault): void {
    this.#failed += 1;
    const of = this.#codes.get(code) ?? { text, count: 0, examples: [] };
    this.#codes.set(code, of);
    of.count += 1;
    if (of.examples.length < EXAMPLES_MAX) {
      of.examples.push({ partition, offset: `${offset}`, ...(path === undefined ? {} : { path }) });
    }
  }

  result(): SideResult {
    const codes = [...this.#codes].map(([code, of]) => ({ code, ...of })).toSorted((a, b) => b.count - a.count);
    return {
      failed: this.#failed,
      failureRate: this.#records === 0 ? 0 : this.#failed / this.#records,
      codes,
      unknownFields: fieldsOf(this.unknown),
    };
  }
}

/** Unknown fields, the most frequent first. */
export function fieldsOf(counts: UnknownFieldCounts): readonly { readonly path: string; readonly count: number }[] {
  return [...counts]
    .map(([path, count]) => ({ path, count }))
    .toSorted((a, b) => b.count - a.count)
    .slice(0, UNKNOWN_MAX);
}
