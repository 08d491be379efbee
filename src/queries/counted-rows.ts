import { BindingRecord, recordNames } from "../control/records.ts";
import { readRecord } from "../control/json-record.ts";
import { asOf, type PartitionAsOf } from "../core/counting/reading.ts";
import type { SlotOwner } from "../core/counting/keys.ts";
import { invariant } from "../core/invariant.ts";
import { copyKey } from "../core/keys.ts";
import { decodeCopy } from "../core/partition/copy.ts";
import { topicEpochOf } from "../core/topic/binding.ts";
import { CountingLedgers, type SummedRow } from "../ledgers/counting-ledgers.ts";
import type { KvPlane } from "../ports/kv-plane.ts";

/** Ledgers that are read at once: each is decoded in one turn of the event loop, others are to have turns in between. */
const LEDGERS_AT_ONCE = 8;

/** Name of a row among those of its source. */
function rowName({ partition, log, row }: Omit<SlotOwner, "source">): string {
  return `${partition}/${log}/${row}`;
}

/**
 * Which rows of a source are summed, for one answer. A partition's ledger is read when slots of it are met, and what was met is
 * then read again: slots count only where the list was read before them, or the row of a recount that was exchanged in between
 * would be summed half.
 *
 * 1. the copies, which say how far each partition is applied: all that they vouch for lies in rows that are listed later;
 * 2. the ledgers of a partition, `learn`;
 * 3. its slots, each page of which began after that, see `knew`;
 * 4. the ledgers again, `stillHold`.
 */
export class CountedRows {
  readonly source: string;
  readonly asOf: readonly PartitionAsOf[];
  readonly #plane: KvPlane;
  readonly #binding: BindingRecord | undefined;
  /** By name, those of learned partitions. */
  readonly #rows = new Map<string, SummedRow>();
  /** Learned partitions, with how many were learned before. */
  readonly #learned = new Map<number, number>();

  private constructor(
    plane: KvPlane,
    source: string,
    binding: BindingRecord | undefined,
    applied: readonly PartitionAsOf[],
  ) {
    this.#plane = plane;
    this.source = source;
    this.#binding = binding;
    this.asOf = applied;
  }

  /** Reads the copies. @throws KvFault */
  static async open(plane: KvPlane, source: string): Promise<CountedRows> {
    const binding = await bindingOf(plane, source);
    const applied = binding === undefined ? [] : await appliedOf(plane, source, binding);
    return new CountedRows(plane, source, binding, applied);
  }

  /** How many partitions are learned: to be asked before slots are read, and told to {@link knew} after. */
  get learned(): number {
    return this.#learned.size;
  }

  /** Whether a partition was among the first `learned`. */
  knew(partition: number, learned: number): boolean {
    return (this.#learned.get(partition) ?? learned) < learned;
  }

  /** Reads the ledgers of partitions; those that are known stay as they were. @throws KvFault */
  async learn(partitions: readonly number[]): Promise<void> {
    for (const [partition, rows] of await this.#read(this.#binding, partitions)) {
      if (this.#learned.has(partition)) continue;
      for (const row of rows) this.#rows.set(rowName({ ...row, row: row.number }), row);
      this.#learned.set(partition, this.#learned.size);
    }
  }

  /** The row of a slot, if it is summed. */
  rowOf(owner: SlotOwner): SummedRow | undefined {
    invariant(this.#learned.has(owner.partition), "ROWS_UNKNOWN", `partition ${owner.partition} was not learned`);
    return owner.source === this.source ? this.#rows.get(rowName(owner)) : undefined;
  }

  /** Reads again whether everything that was summed still is: rows were added, perhaps, and none exchanged. @throws KvFault */
  async stillHold(): Promise<boolean> {
    const now = await this.#read(await bindingOf(this.#plane, this.source), [...this.#learned.keys()]);
    const names = new Set(now.flatMap(([, rows]) => rows.map((row) => rowName({ ...row, row: row.number }))));
    return [...this.#rows.keys()].every((name) => names.has(name));
  }

  async #read(binding: BindingRecord | undefined, partitions: readonly number[]) {
    const ledgers = new CountingLedgers(this.#plane.control);
    const found: (readonly [partition: number, rows: readonly SummedRow[]])[] = [];
    for (let from = 0; from < partitions.length; from += LEDGERS_AT_ONCE) {
      const some = partitions.slice(from, from + LEDGERS_AT_ONCE).map(async (partition) => {
        const rows = binding === undefined ? [] : await ledgers.summed(this.source, binding, partition);
        return [partition, rows] as const;
      });
      found.push(...(await Promise.all(some)));
    }
    return found;
  }
}

async function bindingOf(plane: KvPlane, source: string): Promise<BindingRecord | undefined> {
  return (await readRecord(plane.control, recordNames.binding(source), BindingRecord))?.value;
}

async function appliedOf(plane: KvPlane, source: string, binding: BindingRecord): Promise<readonly PartitionAsOf[]> {
  const partitions = partitionsOf(binding);
  const copies = await plane.restore(
    partitions.map((partition) => ({
      space: "copy",
      key: copyKey(source, topicEpochOf(binding, partition) ?? 0, partition),
    })),
  );
  const applied = partitions.map((partition, index) => {
    const cell = copies[index];
    return [partition, cell === undefined ? undefined : decodeCopy(cell.bytes).watermark] as const;
  });
  return asOf(partitions, new Map(applied));
}

/** Every partition that any log of the source has had. */
function partitionsOf(binding: BindingRecord): readonly number[] {
  const counts = [...binding.epochs, ...(binding.past ?? []).flatMap(({ epochs }) => epochs)];
  return Array.from({ length: Math.max(...counts.map((entry) => entry.partitions)) }, (_, index) => index);
}
