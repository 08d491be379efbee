import { LedgerRecord, StartRecordSchema, StopRecord, recordNames } from "../control/records.ts";
import { readRecord } from "../control/json-record.ts";
import { copyKey } from "../core/keys.ts";
import { type Ledger, EMPTY_LEDGER } from "../core/ledger/ledger.ts";
import type { Offset } from "../core/offset.ts";
import { decodeCopy } from "../core/partition/copy.ts";
import type { StartFacts } from "../core/partition/start.ts";
import type { Stop } from "../core/partition/stop.ts";
import type { KvPlane } from "../ports/kv-plane.ts";
import { type BoundsAnswer, type RecordSource, SourceFault } from "../ports/record-source.ts";

/** Everything that is stored or known of one partition when it is assigned. */
export interface PartitionFacts {
  readonly start: StartFacts;
  readonly stop: { readonly stop: Stop; readonly since: number } | undefined;
  readonly ledger: Ledger;
}

/** What the group and the log say, read once for all partitions of an assignment. */
interface BrokerFacts {
  readonly committed: ReadonlyMap<number, Offset | undefined>;
  readonly bounds: ReadonlyMap<number, BoundsAnswer>;
}

/**
 * Gathers the facts of the start decision. One instance serves one assignment epoch: what the broker says is read once
 * for all partitions that ask at the same time, and never from before the assignment.
 */
export class FactsReader {
  readonly #name: string;
  readonly #source: RecordSource;
  readonly #plane: KvPlane;
  #broker: Promise<BrokerFacts> | undefined;

  constructor(name: string, source: RecordSource, plane: KvPlane) {
    this.#name = name;
    this.#source = source;
    this.#plane = plane;
  }

  /** @throws SourceFault, KvFault: try again later; InvariantViolation on foreign records */
  async read(partition: number, topicEpoch: number): Promise<PartitionFacts> {
    const { control } = this.#plane;
    const broker = await this.#readBroker();
    const bounds = broker.bounds.get(partition);
    if (bounds === undefined)
      throw new SourceFault("topic-missing", `partition ${partition} is not in the topic's metadata`);
    if (!bounds.known) throw new SourceFault(bounds.cause, bounds.text);
    const [startRecord, stopRecord, ledger, copies] = await Promise.all([
      readRecord(control, recordNames.start(this.#name, partition), StartRecordSchema),
      readRecord(control, recordNames.stop(this.#name, partition), StopRecord),
      readRecord(control, recordNames.ledger(this.#name, partition), LedgerRecord),
      this.#plane.restore([{ space: "copy", key: copyKey(this.#name, topicEpoch, partition) }]),
    ]);
    const copy = copies[0] === undefined ? undefined : decodeCopy(copies[0].bytes);
    const stop = stopRecord?.value.stop ?? null;
    const stands = stop !== null && (copy?.watermark ?? 0) <= (stopRecord?.value.reach ?? 0);
    return {
      start: {
        startRecord: startRecord?.value,
        committed: broker.committed.get(partition),
        copy,
        bounds: { logStart: bounds.logStart, end: bounds.end },
      },
      stop: !stands ? undefined : { stop, since: stopRecord?.value.since ?? 0 },
      ledger: ledger?.value ?? EMPTY_LEDGER,
    };
  }

  /** Reads under way are shared; finished ones are not kept. */
  #readBroker(): Promise<BrokerFacts> {
    this.#broker ??= this.#askBroker().finally(() => {
      this.#broker = undefined;
    });
    return this.#broker;
  }

  async #askBroker(): Promise<BrokerFacts> {
    const committed = await this.#source.committed();
    return { committed, bounds: await this.#source.bounds() };
  }
}
