import { LedgerRecord, type Resumption, StartRecordSchema, StopRecord, recordNames } from "../control/records.ts";
import { readRecord } from "../control/json-record.ts";
import { copyKey } from "../core/keys.ts";
import { type Ledger, EMPTY_LEDGER } from "../core/ledger/ledger.ts";
import type { Offset } from "../core/offset.ts";
import { decodeCopy } from "../core/partition/copy.ts";
import type { StartFacts } from "../core/partition/start.ts";
import type { Stop } from "../core/partition/stop.ts";
import type { KvPlane } from "../ports/kv-plane.ts";
import { type BoundsAnswer, type RecordSource, SourceFault } from "../ports/record-source.ts";
import { FreshCall } from "./fresh-call.ts";

/** Everything that is stored or known of one partition when it is assigned. */
export interface PartitionFacts {
  readonly start: StartFacts;
  readonly stop: { readonly stop: Stop; readonly since: number } | undefined;
  readonly ledger: Ledger;
  /** The last resumption by an operator; its start record is the one in `start`. */
  readonly resumed: Resumption | undefined;
}

/** Which partition, and of which log. */
export interface PartitionInLog {
  readonly partition: number;
  readonly topicEpoch: number;
  readonly log: number;
}

/**
 * Gathers the facts of the start decision, in an order that no other owner's work in between can turn into a
 * contradiction: the commit, then the copy (which is written before its commit, so it is never behind it), then the
 * bounds (so that what the copy remembers of the log is never newer than they are). What the broker says is shared by all
 * partitions that ask at the same time, and never from before they asked.
 */
export class FactsReader {
  readonly #name: string;
  readonly #plane: KvPlane;
  readonly #committed: FreshCall<ReadonlyMap<number, Offset | undefined>>;
  readonly #bounds: FreshCall<ReadonlyMap<number, BoundsAnswer>>;

  constructor(name: string, source: RecordSource, plane: KvPlane) {
    this.#name = name;
    this.#plane = plane;
    this.#committed = new FreshCall(() => source.committed());
    this.#bounds = new FreshCall(() => source.bounds());
  }

  /** @throws SourceFault, KvFault: try again later; InvariantViolation on foreign records */
  async read({ partition, topicEpoch, log }: PartitionInLog): Promise<PartitionFacts> {
    const { control } = this.#plane;
    const committed = await this.#committed.fresh();
    const [startRecord, stopRecord, ledger, copies] = await Promise.all([
      readRecord(control, recordNames.start(this.#name, partition, log), StartRecordSchema),
      readRecord(control, recordNames.stop(this.#name, partition, log), StopRecord),
      readRecord(control, recordNames.ledger(this.#name, partition, log), LedgerRecord),
      this.#plane.restore([{ space: "copy", key: copyKey(this.#name, topicEpoch, partition) }]),
    ]);
    const bounds = (await this.#bounds.fresh()).get(partition);
    if (bounds === undefined)
      throw new SourceFault("topic-missing", `partition ${partition} is not in the topic's metadata`);
    if (!bounds.known) throw new SourceFault(bounds.cause, bounds.text);
    const copy = copies[0] === undefined ? undefined : decodeCopy(copies[0].bytes);
    const stop = stopRecord?.value.stop ?? null;
    const resumed = stopRecord?.value.resumed;
    const startsAt = resumed?.start ?? startRecord?.value;
    const stands = stop !== null && (copy?.watermark ?? 0) <= (stopRecord?.value.reach ?? 0);
    return {
      start: {
        startRecord: startsAt,
        committed: committed.get(partition),
        copy,
        bounds: { logStart: bounds.logStart, end: bounds.end },
        unread: log > 0 && startsAt === undefined && copy === undefined,
      },
      stop: !stands ? undefined : { stop, since: stopRecord?.value.since ?? 0 },
      ledger: ledger?.value ?? EMPTY_LEDGER,
      resumed,
    };
  }
}

/** The revisions that judge what may be read now, `inForce` among them. */
export function revisionsOf(facts: PartitionFacts, inForce: number): readonly number[] {
  const { committed, copy, startRecord } = facts.start;
  // A start record that is settled decides nothing: with it every revision since the first start would be compiled.
  const start = startRecord?.settled === true ? undefined : startRecord?.from;
  const known = [committed, copy?.watermark, start].filter((offset) => offset !== undefined);
  const lowest = known.length === 0 ? 0 : Math.min(...known);
  const rows = facts.ledger.rows.filter((row) => row.until === null || row.until > lowest);
  return [...rows.map((row) => row.revision), inForce];
}
