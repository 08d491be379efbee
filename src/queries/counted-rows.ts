import { BindingRecord, recordNames } from "../control/records.ts";
import { readRecord } from "../control/json-record.ts";
import { asOf, type PartitionAsOf } from "../core/counting/reading.ts";
import type { SlotOwner } from "../core/counting/keys.ts";
import { copyKey } from "../core/keys.ts";
import { decodeCopy } from "../core/partition/copy.ts";
import { topicEpochOf } from "../core/topic/binding.ts";
import { CountingLedgers, type SummedRow } from "../ledgers/counting-ledgers.ts";
import type { KvPlane } from "../ports/kv-plane.ts";

/** Rows of a source that are summed, by {@link rowName}. */
export type SummedRows = ReadonlyMap<string, SummedRow>;

/** Which rows of a source are summed, and how far its partitions were applied before they were looked at. */
export interface CountedRows {
  readonly rows: SummedRows;
  readonly asOf: readonly PartitionAsOf[];
}

/** Name of a row among those of its source. */
export function rowName({ partition, log, row }: Omit<SlotOwner, "source">): string {
  return `${partition}/${log}/${row}`;
}

/**
 * Reads what is summed. The copies first: all that they vouch for lies in rows that are listed afterwards.
 * @throws KvFault
 */
export async function countedRows(plane: KvPlane, source: string): Promise<CountedRows> {
  const binding = await bindingOf(plane, source);
  if (binding === undefined) return { rows: new Map(), asOf: [] };
  const partitions = partitionsOf(binding);
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
  return { rows: await rowsOf(plane, source, binding), asOf: asOf(partitions, applied) };
}

/** Reads which rows of a source are summed now. @throws KvFault */
export async function summedRows(plane: KvPlane, source: string): Promise<SummedRows> {
  const binding = await bindingOf(plane, source);
  return binding === undefined ? new Map() : rowsOf(plane, source, binding);
}

/** Whether everything that was summed by `before` still is: rows were added, perhaps, and none exchanged. */
export function stillSummed(before: SummedRows, after: SummedRows): boolean {
  return [...before.keys()].every((name) => after.has(name));
}

async function bindingOf(plane: KvPlane, source: string): Promise<BindingRecord | undefined> {
  return (await readRecord(plane.control, recordNames.binding(source), BindingRecord))?.value;
}

/** Every partition that any log of the source has had. */
function partitionsOf(binding: BindingRecord): readonly number[] {
  const counts = [...binding.epochs, ...(binding.past ?? []).flatMap(({ epochs }) => epochs)];
  return Array.from({ length: Math.max(...counts.map((entry) => entry.partitions)) }, (_, index) => index);
}

async function rowsOf(plane: KvPlane, source: string, binding: BindingRecord): Promise<SummedRows> {
  const ledgers = new CountingLedgers(plane.control);
  const rows = await Promise.all(partitionsOf(binding).map((partition) => ledgers.summed(source, binding, partition)));
  return new Map(rows.flat().map((row) => [rowName({ ...row, row: row.number }), row]));
}
