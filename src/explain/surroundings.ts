import { BindingRecord, LedgerRecord, recordNames } from "../control/records.ts";
import { readRecord } from "../control/json-record.ts";
import { copyKey } from "../core/keys.ts";
import { type Copy, decodeCopy } from "../core/partition/copy.ts";
import { wantedOf } from "../core/partition/range.ts";
import { EMPTY_LEDGER, type Ledger } from "../core/ledger/ledger.ts";
import type { Offset } from "../core/offset.ts";
import { type Binding, logOf, topicEpochOf } from "../core/topic/binding.ts";
import type { SourceService } from "../fleet/source-service.ts";

/** What the verdict over a partition's records depends on, as it is stored. */
export interface Surroundings {
  readonly partition: number;
  readonly topicEpoch: number;
  readonly log: number;
  readonly ledger: Ledger;
  /** Everything below it that was read is applied: the copy, or what this process acknowledged since. */
  readonly applied: Offset;
  /** The stored copy. */
  readonly copy: Copy | undefined;
  /** Whether the log around the offset is the one that is read now. */
  readonly present: boolean;
  /** Where the partition reads on, if this process runs it. */
  readonly readsAt: Offset | undefined;
}

/** A partition as it was, or is, read around an offset: in the present log, or the one before where that goes on. @throws KvFault */
export async function surroundingsOf(service: SourceService, partition: number, offset: Offset): Promise<Surroundings> {
  const { control } = service.parts.plane;
  const binding = (await readRecord(control, recordNames.binding(service.name), BindingRecord))?.value;
  const { log, topicEpoch, present } = placeOf(binding, partition, offset);
  const ledger = await readRecord(control, recordNames.ledger(service.name, partition, log), LedgerRecord);
  const key = copyKey(service.name, topicEpoch, partition);
  const [cell] = await service.parts.plane.restore([{ space: "copy", key }]);
  const copy = cell === undefined ? undefined : decodeCopy(cell.bytes);
  const state = present ? service.runners.get(partition)?.state : undefined;
  return {
    partition,
    topicEpoch,
    log,
    ledger: ledger?.value ?? EMPTY_LEDGER,
    applied: Math.max(copy?.watermark ?? 0, state?.watermark ?? 0),
    copy,
    present,
    readsAt: state === undefined ? undefined : wantedOf(state),
  };
}

function placeOf(binding: Binding | undefined, partition: number, offset: Offset) {
  if (binding === undefined) return { log: 0, topicEpoch: 0, present: true };
  const goesOn = binding.goOnAt?.[partition];
  const before = binding.past?.at(-1);
  if (goesOn !== undefined && offset < goesOn && before !== undefined) {
    return {
      log: before.log,
      topicEpoch: topicEpochOf({ ...binding, epochs: before.epochs }, partition) ?? 0,
      present: false,
    };
  }
  return { log: logOf(binding), topicEpoch: topicEpochOf(binding, partition) ?? 0, present: true };
}
