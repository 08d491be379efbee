import { updateRecord, readRecord } from "../control/json-record.ts";
import { CountingLedgerRecord, recordNames } from "../control/records.ts";
import { type CountingLedger, type CountingRow, EMPTY_COUNTING_LEDGER } from "../core/ledger/counting-ledger.ts";
import { type Binding, summedLogs } from "../core/topic/binding.ts";
import type { ControlStore } from "../ports/kv-plane.ts";

/** Which ledger: one partition of a source, in one log. */
export interface LedgerName {
  readonly source: string;
  readonly partition: number;
  readonly log: number;
}

/** A row that readers sum, and whose it is. */
export interface SummedRow extends CountingRow {
  readonly partition: number;
  readonly log: number;
}

/** The ledgers of counting kinds, as runners, recounts and readers share them. */
export class CountingLedgers {
  readonly #control: ControlStore;

  constructor(control: ControlStore) {
    this.#control = control;
  }

  /** An empty ledger where nobody has read yet. @throws KvFault; InvariantViolation for a foreign record */
  async read({ source, partition, log }: LedgerName): Promise<CountingLedger> {
    const stored = await readRecord(this.#control, recordNames.ledger(source, partition, log), CountingLedgerRecord);
    return fromRecord(stored?.value);
  }

  /**
   * Changes a ledger by compare-and-set until it took; `change` may run several times, and changes nothing by returning what it
   * was given. Returns what stands afterwards. @throws KvFault, and whatever `change` throws
   */
  async update(
    { source, partition, log }: LedgerName,
    change: (ledger: CountingLedger) => CountingLedger,
  ): Promise<CountingLedger> {
    const name = recordNames.ledger(source, partition, log);
    const stored = await updateRecord(this.#control, name, CountingLedgerRecord, (present) => {
      const before = fromRecord(present);
      const after = change(before);
      return after === before && present !== undefined ? present : toRecord(after);
    });
    return fromRecord(stored.value);
  }

  /** The rows of a partition that readers sum, over every log whose rows are in the sums. @throws KvFault */
  async summed(
    source: string,
    binding: Pick<Binding, "log" | "past">,
    partition: number,
  ): Promise<readonly SummedRow[]> {
    const ledgers = await Promise.all(
      summedLogs(binding).map(async (log) => ({ log, ledger: await this.read({ source, partition, log }) })),
    );
    return ledgers.flatMap(({ log, ledger }) =>
      ledger.rows.filter(({ number }) => ledger.listed.includes(number)).map((row) => ({ ...row, partition, log })),
    );
  }
}

function fromRecord(record: CountingLedgerRecord | undefined): CountingLedger {
  return record === undefined ? EMPTY_COUNTING_LEDGER : { ...record, holder: record.holder ?? undefined };
}

function toRecord({ rows, nextNumber, listed, former, holder }: CountingLedger): CountingLedgerRecord {
  return { rows: [...rows], nextNumber, listed: [...listed], former: [...former], holder: holder ?? null };
}
