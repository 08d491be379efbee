import { LedgerRecord, StartRecordSchema, StopRecord, recordNames } from "../control/records.ts";
import { createRecord, updateRecord } from "../control/json-record.ts";
import { type Ledger, EMPTY_LEDGER, coverFrom } from "../core/ledger/ledger.ts";
import { invariant } from "../core/invariant.ts";
import type { Offset } from "../core/offset.ts";
import { firstStartOf } from "../core/topic/binding.ts";
import type { Stop } from "../core/partition/stop.ts";
import type { RunnerContext } from "./runner-context.ts";

/** A stop on its way to the store. */
export interface UnrecordedStop {
  readonly stop: Stop;
  readonly since: number;
  /** The furthest that can have been applied when it happened. */
  readonly reach: Offset;
}

/** The small state of one partition that the KV plane keeps: start record, stop, ledger. */
export class PartitionStore {
  readonly #context: RunnerContext;
  readonly #partition: number;

  constructor(context: RunnerContext, partition: number) {
    this.#context = context;
    this.#partition = partition;
  }

  get #name(): string {
    return this.#context.inForce.definition.name;
  }

  /** Resolves the source's one moment for this partition and records it before anything is read (I5). @throws SourceFault, KvFault */
  async recordFirstStart(logStart: Offset): Promise<void> {
    const { source, plane, binding } = this.#context;
    const first = firstStartOf(binding, this.#partition, logStart);
    const from =
      "at" in first ? first.at : ((await source.offsetsAt(first.timestampMs)).get(this.#partition) ?? logStart);
    const name = recordNames.start(this.#name, this.#partition);
    await createRecord(plane.control, name, StartRecordSchema, {
      from,
      before: null,
      copyBefore: null,
      settled: false,
    });
  }

  /** A commit after the start at `from` was confirmed: from now on the commit decides. A later start record stays. @throws KvFault */
  async settleStart(from: Offset): Promise<void> {
    const name = recordNames.start(this.#name, this.#partition);
    await updateRecord(this.#context.plane.control, name, StartRecordSchema, (present) => {
      invariant(present !== undefined, "START_RECORD_GONE", `${name} is missing`);
      return present.from === from && !present.settled ? { ...present, settled: true } : present;
    });
  }

  /** Makes the stop outlive this process (I13). @throws KvFault */
  async recordStop({ stop, since, reach }: UnrecordedStop): Promise<void> {
    const name = recordNames.stop(this.#name, this.#partition);
    await updateRecord(this.#context.plane.control, name, StopRecord, (present) =>
      present === undefined || present.stop === null || present.reach < reach ? { stop, since, reach } : present,
    );
  }

  /** Covers what will be read from `position` on, and loads every revision that may be needed. @throws KvFault */
  async coverLedger(position: Offset, applied: Offset): Promise<Ledger> {
    const { plane, inForce, verdicts } = this.#context;
    const name = recordNames.ledger(this.#name, this.#partition);
    const stored = await updateRecord(plane.control, name, LedgerRecord, (present) => {
      const covered = coverFrom(present ?? EMPTY_LEDGER, position, applied, inForce.revision);
      return covered === present ? present : { rows: [...covered.rows], nextNumber: covered.nextNumber };
    });
    const needed = stored.value.rows.filter((row) => row.until === null || row.until > position);
    await verdicts.load(needed.map((row) => row.revision));
    return stored.value;
  }
}
