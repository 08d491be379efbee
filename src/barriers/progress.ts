import { PausesRecord } from "../control/log-records.ts";
import { BindingRecord, recordNames, StartRecordSchema, StopRecord } from "../control/records.ts";
import { readRecord } from "../control/json-record.ts";
import { copyKey } from "../core/keys.ts";
import type { Offset } from "../core/offset.ts";
import { NO_PAUSES, type PauseInForce, pauseOf, type Pauses } from "../core/pause/pause.ts";
import { type Binding, logOf } from "../core/topic/binding.ts";
import type { SourceService } from "../fleet/source-service.ts";
import type { BarrierBlock } from "../ports/barriers.ts";

/** What one partition has to reach. */
export interface Target {
  readonly partition: number;
  readonly to: Offset;
}

/** How far one partition is. */
export interface Progress {
  readonly applied: Offset;
  readonly done: boolean;
  readonly blocked: BarrierBlock | undefined;
  /** Another log took the place of the one that the target is in. */
  readonly givenUp: boolean;
  /** Topic epochs under which the range was, or is, read. */
  readonly topicEpochs: readonly number[];
}

/** The binding as the store says now. @throws KvFault */
export async function readBinding(service: SourceService): Promise<Binding | undefined> {
  return (await readRecord(service.parts.plane.control, recordNames.binding(service.name), BindingRecord))?.value;
}

/**
 * How far each target is, for the whole fleet: by the copies that every owner writes before it commits. What lies below a
 * partition's start record is not read by anybody: below it everything is done, or an entry of the gap ledger.
 * @throws KvFault
 */
export async function progressOf(
  service: SourceService,
  log: number,
  targets: readonly Target[],
): Promise<readonly Progress[]> {
  const binding = await readBinding(service);
  const places = targets.map(({ partition }) => placeOf(binding, log, partition));
  const addresses = targets.flatMap(({ partition }, index) =>
    (places[index]?.epochs ?? []).map((epoch) => ({ partition, epoch })),
  );
  const cells = await service.parts.plane.restore(
    addresses.map(({ partition, epoch }) => ({ space: "copy", key: copyKey(service.name, epoch, partition) })),
  );
  const applied = new Map<number, Offset>();
  for (const [index, { partition }] of addresses.entries()) {
    const cell = cells[index];
    if (cell !== undefined) applied.set(partition, Math.max(applied.get(partition) ?? 0, cell.order - 1));
  }
  const stored = await readRecord(service.parts.plane.control, recordNames.pauses(service.name), PausesRecord);
  const known = { service, log: binding === undefined ? 0 : logOf(binding), pauses: stored?.value ?? NO_PAUSES };
  return Promise.all(
    targets.map((target, index) => {
      const place = places[index] ?? NOWHERE;
      return progressAt(known, target, place, Math.max(applied.get(target.partition) ?? 0, place.passed));
    }),
  );
}

/** What all partitions of one source share. */
interface Known {
  readonly service: SourceService;
  /** The log that is read now. */
  readonly log: number;
  readonly pauses: Pauses;
}

/** The control records of a partition are read only while its copy leaves something open. */
async function progressAt(known: Known, { partition, to }: Target, place: Place, copy: Offset): Promise<Progress> {
  const reached = (applied: Offset) => ({ applied, done: applied >= to, topicEpochs: place.epochs });
  if (copy >= to) return { ...reached(copy), blocked: undefined, givenUp: false };
  if (!place.current) return { ...reached(copy), blocked: undefined, givenUp: true };
  const { service, log, pauses } = known;
  const { start, stop } = await standsAt(service, log, partition, copy);
  const upTo = Math.max(copy, start);
  if (upTo >= to) return { ...reached(upTo), blocked: undefined, givenUp: false };
  const pause = pauseOf(pauses, partition, service.parts.clock.now());
  return { ...reached(upTo), blocked: blockOf(stop, pause), givenUp: false };
}

function blockOf(stop: string | undefined, pause: PauseInForce | undefined): BarrierBlock | undefined {
  if (stop !== undefined) return { by: "stop", why: stop };
  return pause === undefined ? undefined : { by: "pause", why: pause.reason };
}

interface Place {
  readonly epochs: readonly number[];
  /** Whether its log is read now. */
  readonly current: boolean;
  /** Where the present log went on: below it the earlier one was read to its end. */
  readonly passed: Offset;
}

const NOWHERE: Place = { epochs: [], current: true, passed: 0 };

/** Under which epochs a partition of a log was read, and whether it still is. */
function placeOf(binding: Binding | undefined, log: number, partition: number): Place {
  const epochIn = (epochs: Binding["epochs"]) => epochs.find((entry) => partition < entry.partitions)?.epoch;
  if (binding === undefined) return { ...NOWHERE, epochs: [0] };
  const now = epochIn(binding.epochs);
  const present = now === undefined ? [] : [now];
  if (logOf(binding) === log) return { ...NOWHERE, epochs: present };
  const before = epochIn(binding.past?.find((entry) => entry.log === log)?.epochs ?? []);
  const past = before === undefined ? [] : [before];
  const goesOn = binding.goOnAt?.[partition];
  if (goesOn === undefined) return { epochs: past, current: false, passed: 0 };
  return { epochs: [...past, ...present], current: true, passed: goesOn };
}

/** Where reading begins, and the stop that stands; the owner's own word first, where it is this process. @throws KvFault */
async function standsAt(
  service: SourceService,
  log: number,
  partition: number,
  copy: Offset,
): Promise<{ readonly start: Offset; readonly stop: string | undefined }> {
  const { control } = service.parts.plane;
  const [stopRecord, startRecord] = await Promise.all([
    readRecord(control, recordNames.stop(service.name, partition, log), StopRecord),
    readRecord(control, recordNames.start(service.name, partition, log), StartRecordSchema),
  ]);
  const start = (stopRecord?.value.resumed?.start ?? startRecord?.value)?.from ?? 0;
  const stored = stopRecord?.value.stop ?? undefined;
  const stands = stored !== undefined && copy <= (stopRecord?.value.reach ?? 0) ? stored.code : undefined;
  const phase = service.runners.get(partition)?.state.phase;
  const own = phase?.phase === "stopped" ? phase.stop.code : undefined;
  return { start, stop: own ?? stands };
}
