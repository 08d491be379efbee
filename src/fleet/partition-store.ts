import { LedgerRecord, StartRecordSchema, StopRecord, recordNames } from "../control/records.ts";
import { createRecord, readRecord, updateRecord } from "../control/json-record.ts";
import { type Ledger, EMPTY_LEDGER, coverFrom } from "../core/ledger/ledger.ts";
import { invariant } from "../core/invariant.ts";
import type { Offset } from "../core/offset.ts";
import { firstStartOf, logOf } from "../core/topic/binding.ts";
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

  get #log(): number {
    return logOf(this.#context.binding);
  }

  /**
   * Resolves the source's one moment for this partition and records it before anything is read (I5). In a log that an
   * operator opened, a commit of the log before may still stand: the start record knows of it.
   * @throws SourceFault, KvFault
   */
  async recordFirstStart(logStart: Offset, committed: Offset | undefined): Promise<void> {
    const { source, plane, binding } = this.#context;
    const first = firstStartOf(binding, this.#partition, logStart);
    const from =
      "at" in first ? first.at : ((await source.offsetsAt(first.timestampMs)).get(this.#partition) ?? logStart);
    const name = recordNames.start(this.#name, this.#partition, this.#log);
    const left = this.#log === 0 || committed === undefined ? undefined : committed;
    await createRecord(plane.control, name, StartRecordSchema, {
      from,
      before: left ?? null,
      copyBefore: null,
      settled: false,
      ...(left === undefined ? {} : { reach: left }),
    });
  }

  /** A commit after the start at `from` was confirmed: from now on the commit decides. A later start record stays. @throws KvFault */
  async settleStart(from: Offset): Promise<void> {
    const { control } = this.#context.plane;
    const stopName = recordNames.stop(this.#name, this.#partition, this.#log);
    const stopRecord = await readRecord(control, stopName, StopRecord);
    if (stopRecord?.value.resumed !== undefined) return this.#settleResumption(stopName, from);
    const name = recordNames.start(this.#name, this.#partition, this.#log);
    await updateRecord(control, name, StartRecordSchema, (present) => {
      invariant(present !== undefined, "START_RECORD_GONE", `${name} is missing`);
      return present.from === from && !present.settled ? { ...present, settled: true } : present;
    });
  }

  async #settleResumption(name: string, from: Offset): Promise<void> {
    await updateRecord(this.#context.plane.control, name, StopRecord, (present) => {
      invariant(present?.resumed !== undefined, "START_RECORD_GONE", `${name} has lost its resumption`);
      const { start } = present.resumed;
      if (start.from !== from || start.settled) return present;
      return { ...present, resumed: { ...present.resumed, start: { ...start, settled: true } } };
    });
  }

  /**
   * Makes the stop outlive this process (I13). One that an operator has cleared meanwhile is not recorded again:
   *
   * 1. the stop is written, but the answer is lost, so that it is to be written again after a wait;
   * 2. an operator reads it and resumes the partition: the record says so, and which stop it cleared;
   * 3. the second attempt finds its own stop cleared, and leaves it so.
   *
   * @throws KvFault
   */
  async recordStop({ stop, since, reach }: UnrecordedStop): Promise<void> {
    const name = recordNames.stop(this.#name, this.#partition, this.#log);
    await updateRecord(this.#context.plane.control, name, StopRecord, (present) => {
      if (present === undefined) return { stop, since, reach };
      const { resumed } = present;
      if (resumed !== undefined && resumed.stopSince === since && resumed.code === stop.code) return present;
      return present.stop === null || present.reach < reach ? { ...present, stop, since, reach } : present;
    });
  }

  /** Covers what will be read from `position` on, and loads every revision that may be needed. @throws KvFault */
  async coverLedger(position: Offset, applied: Offset): Promise<Ledger> {
    const { plane, inForce, verdicts } = this.#context;
    const name = recordNames.ledger(this.#name, this.#partition, this.#log);
    const stored = await updateRecord(plane.control, name, LedgerRecord, (present) => {
      const covered = coverFrom(present ?? EMPTY_LEDGER, position, applied, inForce.revision);
      return covered === present ? present : { rows: [...covered.rows], nextNumber: covered.nextNumber };
    });
    const needed = stored.value.rows.filter((row) => row.until === null || row.until > position);
    await verdicts.load(needed.map((row) => row.revision));
    return stored.value;
  }
}
