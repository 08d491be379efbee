import { BindingRecord, StopRecord, recordNames } from "../control/records.ts";
import { readRecord } from "../control/json-record.ts";
import { copyKey } from "../core/keys.ts";
import { type Binding, logOf } from "../core/topic/binding.ts";
import type { CellAddress, KvPlane } from "../ports/kv-plane.ts";
import type { PartitionRunner } from "./partition-runner.ts";

/** What one source's runners were last told, to be held against what the store says now. */
export interface Told {
  readonly plane: KvPlane;
  readonly source: string;
  readonly binding: Binding;
}

/**
 * Stopped runners whose stored stop does not stand any more: an operator cleared it, or somebody else had gone on beyond what
 * the life that stopped could reach (a process that wakes up stores its copy late; without this the partition would be
 * stopped for its runner, and not stopped for whoever wants to resume it). `unrecorded`: stops that the store does not have
 * yet; nobody can have cleared those. @throws KvFault
 */
export async function resumedRunners(
  { plane, source, binding }: Told,
  runners: Iterable<PartitionRunner>,
  unrecorded: ReadonlyMap<number, unknown>,
): Promise<readonly PartitionRunner[]> {
  const stopped = [...runners].filter(
    ({ state, partition }) => state.phase.phase === "stopped" && !unrecorded.has(partition),
  );
  if (stopped.length === 0) return [];
  const addresses = stopped.map(({ topicEpoch, partition }): CellAddress => ({
    space: "copy",
    key: copyKey(source, topicEpoch, partition),
  }));
  const copies = await plane.restore(addresses);
  const cleared = await Promise.all(
    stopped.map(async ({ partition }, index) => {
      const name = recordNames.stop(source, partition, logOf(binding));
      const record = (await readRecord(plane.control, name, StopRecord))?.value;
      if (record === undefined) return false;
      const copied = (copies[index]?.order ?? 0) - 1;
      return record.stop === null ? record.resumed !== undefined : copied > record.reach;
    }),
  );
  return stopped.filter((_runner, index) => cleared[index]);
}

/** Whether an operator opened another log than the one that is read. @throws KvFault */
export async function openedAnother({ plane, source, binding }: Told): Promise<boolean> {
  const stored = await readRecord(plane.control, recordNames.binding(source), BindingRecord);
  return stored !== undefined && logOf(stored.value) !== logOf(binding);
}
