import { BindingRecord, recordNames } from "../control/records.ts";
import { readRecord } from "../control/json-record.ts";
import { asOf, type PartitionAsOf } from "../core/counting/reading.ts";
import { copyKey } from "../core/keys.ts";
import { decodeCopy } from "../core/partition/copy.ts";
import { topicEpochOf } from "../core/topic/binding.ts";
import { CountingLedgers, type SummedRow } from "../ledgers/counting-ledgers.ts";
import type { KvPlane } from "../ports/kv-plane.ts";

/** Which rows of a source are summed, and how far its partitions were applied before they were looked at. */
export interface CountedRows {
  readonly rows: ReadonlyMap<string, SummedRow>;
  readonly asOf: readonly PartitionAsOf[];
}

/** Name of a row among those of its source. */
export function rowName({ partition, log, row }: { partition: number; log: number; row: number }): string {
  return `${partition}/${log}/${row}`;
}

/**
 * Reads what is summed. The copies first: all that they vouch for lies in rows that are listed afterwards.
 * @throws KvFault
 */
export async function countedRows(plane: KvPlane, source: string): Promise<CountedRows> {
  const binding = (await readRecord(plane.control, recordNames.binding(source), BindingRecord))?.value;
  if (binding === undefined) return { rows: new Map(), asOf: [] };
  const counts = [...binding.epochs, ...(binding.past ?? []).flatMap(({ epochs }) => epochs)];
  const partitions = Array.from({ length: Math.max(...counts.map((entry) => entry.partitions)) }, (_, index) => index);
  const copies = await plane.restore(
    partitions.map((partition) => ({
      space: "copy",
      key: copyKey(source, topicEpochOf(binding, partition) ?? 0, partition),
    })),
  );
  const applied = new Map(
    partitions.map((partition, index) => {
      const cell = copies[index];
      return [partition, cell === undefined ? undefined : decodeCopy(cell.bytes).watermark];
    }),
  );
  const ledgers = new CountingLedgers(plane.control);
  const rows = await Promise.all(partitions.map((partition) => ledgers.summed(source, binding, partition)));
  const named = rows.flat().map((row) => [rowName({ ...row, row: row.number }), row] as const);
  return { rows: new Map(named), asOf: asOf(partitions, applied) };
}

/** Whether everything that was summed by `before` still is: rows were added, perhaps, and none exchanged. */
export function stillSummed(before: CountedRows, after: CountedRows): boolean {
  return [...before.rows.keys()].every((name) => after.rows.has(name));
}
