import { PausesRecord } from "../control/log-records.ts";
import { BindingRecord, recordNames, StartRecordSchema, StopRecord } from "../control/records.ts";
import { readRecord } from "../control/json-record.ts";
import { copyKey } from "../core/keys.ts";
import type { Offset } from "../core/offset.ts";
import { NO_PAUSES, type PauseInForce, pauseOf, type Pauses } from "../core/pause/pause.ts";
import { type Binding, logOf } from "../core/topic/binding.ts";
import { holdOf, leavesLogOpen } from "../fleet/log-doubt.ts";
import type { SourceService } from "../fleet/source-service.ts";
import type { Stop } from "../core/partition/stop.ts";
import type { BarrierBlock } from "../ports/barriers.ts";
import { type BoundsAnswer, SourceFault } from "../ports/record-source.ts";

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
  /** Another log took the place of the one that the target is in, before it was done. */
  readonly givenUp: boolean;
  /** Whether the log that the target is in is the one that is read now. */
  readonly current: boolean;
  /** Topic epochs under which the range was, or is, read. */
  readonly topicEpochs: readonly number[];
  /** Whether these are all under which the log was read: what was opened before the last epoch is not remembered here. */
  readonly allEpochs: boolean;
}

/** The binding as the store says now. @throws KvFault */
export async function readBinding(service: SourceService): Promise<Binding | undefined> {
  return (await readRecord(service.parts.plane.control, recordNames.binding(service.name), BindingRecord))?.value;
}

/**
 * How far each target is, for the whole fleet: by the copies that every owner writes before it commits. What lies below a
 * partition's start record is not read by anybody: below it everything is done, or an entry of the gap ledger. A copy speaks
 * of the log that was read: where a stop or a hold leaves open whether that is the one there now, nothing is done.
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

async function progressAt(known: Known, { partition, to }: Target, place: Place, copy: Offset): Promise<Progress> {
  const { service, log, pauses } = known;
  const { epochs: topicEpochs, allEpochs } = place;
  const at = (applied: Offset) => ({ applied, topicEpochs, allEpochs, current: place.current });
  if (!place.current) return { ...at(copy), done: copy >= to, blocked: undefined, givenUp: copy < to };
  const { start, stop } = await standsAt(service, log, partition, copy);
  const upTo = Math.max(copy, start);
  const doubt = doubtOf(service, partition, stop);
  if (upTo >= to && doubt === undefined) return { ...at(upTo), done: true, blocked: undefined, givenUp: false };
  const pause = pauseOf(pauses, partition, service.parts.clock.now());
  const blocked = doubt ?? blockOf(stop, pause) ?? waitOf(service, partition);
  return { ...at(upTo), done: false, blocked, givenUp: false };
}

/** What makes that the copy proves nothing of the log that is there now. */
function doubtOf(service: SourceService, partition: number, stop: Stop | undefined): BarrierBlock | undefined {
  if (stop !== undefined) return leavesLogOpen(stop) ? { by: "stop", why: stop.code } : undefined;
  const hold = holdOf(service, partition);
  return hold === undefined ? undefined : { by: "hold", why: `${hold.code}: ${hold.text}` };
}

function blockOf(stop: Stop | undefined, pause: PauseInForce | undefined): BarrierBlock | undefined {
  if (stop !== undefined) return { by: "stop", why: stop.code };
  return pause === undefined ? undefined : { by: "pause", why: pause.reason };
}

/** What this process' own runner waits for. */
function waitOf(service: SourceService, partition: number): BarrierBlock | undefined {
  const phase = service.runners.get(partition)?.state.phase;
  return phase?.phase === "holding" ? { by: "hold", why: `${phase.cause.code}: ${phase.cause.text}` } : undefined;
}

/**
 * Takes back what the log denies. The owner of a partition notices a log that was replaced at its next look, and only it
 * knows before it has stopped; so whoever answers looks for himself:
 *
 * 1. copies are read: partition 0 is applied up to 200;
 * 2. then the log's end is read: 10. Records go in before they are applied, so an end that is read later cannot be lower.
 *
 * A broker that cannot be asked denies nothing. `bounds`: read after `progress` was.
 */
export function heldAgainst(
  bounds: ReadonlyMap<number, BoundsAnswer>,
  targets: readonly Target[],
  progress: readonly Progress[],
): readonly Progress[] {
  return progress.map((entry, index) => {
    const answer = bounds.get(targets[index]?.partition ?? -1);
    if (answer?.known !== true || answer.end >= entry.applied || !entry.current) return entry;
    if (entry.blocked?.by === "stop") return entry;
    const why = `OUT_OF_RANGE: applied up to ${entry.applied}, but the log ends at ${answer.end}`;
    return { ...entry, done: false, blocked: { by: "hold", why } };
  });
}

/** The log's bounds now; none where the broker cannot be asked. */
export async function boundsNow(service: SourceService): Promise<ReadonlyMap<number, BoundsAnswer>> {
  try {
    return await service.parts.source.bounds();
  } catch (error) {
    if (error instanceof SourceFault) return new Map();
    throw error;
  }
}

interface Place {
  readonly epochs: readonly number[];
  /** Whether its log is read now. */
  readonly current: boolean;
  /** Where the present log went on: below it the earlier one was read to its end. */
  readonly passed: Offset;
  readonly allEpochs: boolean;
}

const NOWHERE: Place = { epochs: [], current: true, passed: 0, allEpochs: true };

/** Under which epochs a partition of a log was read, and whether it still is. */
function placeOf(binding: Binding | undefined, log: number, partition: number): Place {
  const epochIn = (epochs: Binding["epochs"]) => epochs.find((entry) => partition < entry.partitions)?.epoch;
  if (binding === undefined) return { ...NOWHERE, epochs: [0] };
  const goesOn = binding.goOnAt?.[partition];
  const present = [epochIn(binding.epochs)].flatMap((epoch) => epoch ?? []);
  const [last, ...older] = (binding.past ?? []).toReversed();
  if (logOf(binding) === log) {
    if (goesOn === undefined) return { ...NOWHERE, epochs: present };
    const before = [epochIn(last?.epochs ?? [])].flatMap((epoch) => epoch ?? []);
    return { epochs: [...before, ...present], current: true, passed: goesOn, allEpochs: older.length === 0 };
  }
  const before = epochIn(binding.past?.find((entry) => entry.log === log)?.epochs ?? []);
  const past = before === undefined ? [] : [before];
  if (goesOn === undefined) return { ...NOWHERE, epochs: past, current: false };
  return { epochs: [...past, ...present], current: true, passed: goesOn, allEpochs: true };
}

/** Where reading begins, and the stop that stands; the owner's own word first, where it is this process. @throws KvFault */
async function standsAt(
  service: SourceService,
  log: number,
  partition: number,
  copy: Offset,
): Promise<{ readonly start: Offset; readonly stop: Stop | undefined }> {
  const { control } = service.parts.plane;
  const [stopRecord, startRecord] = await Promise.all([
    readRecord(control, recordNames.stop(service.name, partition, log), StopRecord),
    readRecord(control, recordNames.start(service.name, partition, log), StartRecordSchema),
  ]);
  const start = (stopRecord?.value.resumed?.start ?? startRecord?.value)?.from ?? 0;
  const stored = stopRecord?.value.stop ?? undefined;
  const stands = stored !== undefined && copy <= (stopRecord?.value.reach ?? 0) ? stored : undefined;
  const phase = service.runners.get(partition)?.state.phase;
  const own = phase?.phase === "stopped" ? phase.stop : undefined;
  return { start, stop: own ?? stands };
}
