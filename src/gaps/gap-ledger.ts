import { BindingRecord, recordNames } from "../control/records.ts";
import { GapRecord } from "../control/log-records.ts";
import { PagedLog, placeText } from "../control/paged-log.ts";
import { readRecord } from "../control/json-record.ts";
import { enterLetters, enterRanges, type Gap, type LetterMark, sameRange } from "../core/gaps/gap.ts";
import type { ControlStore } from "../ports/kv-plane.ts";

/** One partition of a source. */
export interface GapOwner {
  readonly source: string;
  readonly partition: number;
}

/** What was passed over, per partition, durably (I12). */
export class GapLedger {
  readonly #control: ControlStore;
  readonly #log: PagedLog<typeof GapRecord>;

  constructor(control: ControlStore) {
    this.#control = control;
    this.#log = new PagedLog(control, GapRecord);
  }

  /** Enters the dead letters of one batch; call it before their offsets are acknowledged. May be repeated. @throws KvFault */
  async enterLetters(
    { source, partition }: GapOwner,
    topicEpoch: number,
    letters: readonly LetterMark[],
    nowMs: number,
  ): Promise<void> {
    await this.#log.change(recordNames.gaps(source, partition), (entries) =>
      same(entries, enterLetters(entries, topicEpoch, letters, nowMs)),
    );
  }

  /**
   * Enters ranges that a call passed over, before anything behind them is read. May be repeated: what the call entered in
   * the open page, or in the one before it, stays. Returns the entries' ids. @throws KvFault
   */
  async enterRanges(owner: GapOwner, ranges: readonly Gap[]): Promise<readonly string[]> {
    if (ranges.length === 0) return [];
    const name = recordNames.gaps(owner.source, owner.partition);
    const open = await this.#log.openPage(name);
    const before = open.page === 0 ? undefined : await this.#log.page(name, open.page - 1);
    const earlier = before === undefined ? [] : idsOf(owner, before.page, before.entries, ranges);
    if (earlier.length > 0) return earlier;
    const page = await this.#log.change(name, (entries) => same(entries, enterRanges(entries, ranges)));
    return idsOf(owner, page.page, page.entries, ranges);
  }

  /** The page of a partition's entries by its number; undefined for the one that is open. @throws KvFault */
  page({ source, partition }: GapOwner, page: number | undefined) {
    const name = recordNames.gaps(source, partition);
    return page === undefined ? this.#log.openPage(name) : this.#log.page(name, page);
  }

  /** Names of all sources that are defined. @throws KvFault */
  async sources(): Promise<readonly string[]> {
    const names = await this.#control.list(recordNames.sources);
    return names.map((name) => name.slice(recordNames.sources.length));
  }

  /** How many partitions a source has, or had in a log that was given up. @throws KvFault */
  async partitionsOf(source: string): Promise<number> {
    const binding = (await readRecord(this.#control, recordNames.binding(source), BindingRecord))?.value;
    const all = [...(binding?.epochs ?? []), ...(binding?.past ?? []).flatMap(({ epochs }) => epochs)];
    return Math.max(0, ...all.map(({ partitions }) => partitions));
  }
}

/** Spells the id of an entry, `articles/3/0-7`. */
export function gapId({ source, partition }: GapOwner, page: number, index: number): string {
  return `${source}/${partition}/${placeText({ page, index })}`;
}

function idsOf(owner: GapOwner, page: number, entries: readonly Gap[], ranges: readonly Gap[]): readonly string[] {
  return entries.flatMap((entry, index) =>
    ranges.some((range) => sameRange(entry, range)) ? [gapId(owner, page, index)] : [],
  );
}

/** The record's schema speaks of mutable arrays; an unchanged list stays the same object, so that nothing is written. */
function same(before: readonly GapRecord[], after: readonly Gap[]): readonly GapRecord[] {
  if (after === before) return before;
  return after.map((gap) => ({ ...gap, codes: gap.codes.map((entry) => ({ ...entry })) }));
}
