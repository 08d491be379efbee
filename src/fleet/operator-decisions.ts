import { BindingRecord, StopRecord, recordNames } from "../control/records.ts";
import { readRecord } from "../control/json-record.ts";
import { type Binding, logOf } from "../core/topic/binding.ts";
import type { ControlStore } from "../ports/kv-plane.ts";
import type { PartitionRunner } from "./partition-runner.ts";

/** What one source's runners were last told, to be held against what the store says now. */
export interface Told {
  readonly control: ControlStore;
  readonly source: string;
  readonly binding: Binding;
}

/**
 * Stopped runners whose stored stop an operator cleared. `unrecorded`: stops that the store does not have yet; those cannot
 * have been cleared. @throws KvFault
 */
export async function resumedRunners(
  { control, source, binding }: Told,
  runners: Iterable<PartitionRunner>,
  unrecorded: ReadonlyMap<number, unknown>,
): Promise<readonly PartitionRunner[]> {
  const stopped = [...runners].filter(
    ({ state, partition }) => state.phase.phase === "stopped" && !unrecorded.has(partition),
  );
  const cleared = await Promise.all(
    stopped.map(async ({ partition }) => {
      const record = await readRecord(control, recordNames.stop(source, partition, logOf(binding)), StopRecord);
      return record !== undefined && record.value.stop === null && record.value.resumed !== undefined;
    }),
  );
  return stopped.filter((_runner, index) => cleared[index]);
}

/** Whether an operator opened another log than the one that is read. @throws KvFault */
export async function openedAnother({ control, source, binding }: Told): Promise<boolean> {
  const stored = await readRecord(control, recordNames.binding(source), BindingRecord);
  return stored !== undefined && logOf(stored.value) !== logOf(binding);
}
