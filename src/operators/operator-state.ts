import { createHash } from "node:crypto";
import { BindingRecord, StopRecord, recordNames } from "../control/records.ts";
import { PausesRecord } from "../control/log-records.ts";
import { readRecord, type Stored } from "../control/json-record.ts";
import {
  NO_PAUSES,
  type Pause,
  type PauseInForce,
  ownPauseOf,
  type Pauses,
  sourcePauseOf,
} from "../core/pause/pause.ts";
import { type Binding, logOf } from "../core/topic/binding.ts";
import { StreamsError } from "../errors.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { SourceService } from "../fleet/source-service.ts";
import type { Target } from "../ports/operators.ts";
import type { ControlStore } from "../ports/kv-plane.ts";

/** What operators change of a source, as the store says now. */
export interface OperatorState {
  readonly binding: Binding | undefined;
  readonly pauses: Pauses;
  /** Stop records by partition, cleared ones included, with their tags. */
  readonly stops: ReadonlyMap<number, Stored<StopRecord>>;
}

/**
 * The source that a call is about. A partition that this process does not know of yet is looked for at the broker.
 * @throws StreamsError SOURCE_UNKNOWN, PARTITION_UNKNOWN; SourceFault
 */
export async function serviceOf(fleet: Pick<Fleet, "service">, { source, partition }: Target): Promise<SourceService> {
  const service = fleet.service(source);
  if (partition === undefined || service.partitions.includes(partition)) return service;
  const { partitions, topic } = await service.parts.source.identity();
  if (partition >= partitions)
    throw new StreamsError("PARTITION_UNKNOWN", `topic ${topic} has no partition ${partition}`);
  return service;
}

/** Reads it from the store, whoever runs the partitions. @throws KvFault */
export async function readState(control: ControlStore, { source, partition }: Target): Promise<OperatorState> {
  const binding = (await readRecord(control, recordNames.binding(source), BindingRecord))?.value;
  const pauses = (await readRecord(control, recordNames.pauses(source), PausesRecord))?.value ?? NO_PAUSES;
  const log = binding === undefined ? 0 : logOf(binding);
  const count = binding?.epochs.at(-1)?.partitions ?? 0;
  const wanted = partition === undefined ? Array.from({ length: count }, (_unused, index) => index) : [partition];
  const read = await Promise.all(
    wanted.map(
      async (index) => [index, await readRecord(control, recordNames.stop(source, index, log), StopRecord)] as const,
    ),
  );
  const stops = new Map<number, Stored<StopRecord>>();
  for (const [index, record] of read) if (record !== undefined) stops.set(index, record);
  return { binding, pauses, stops };
}

/**
 * A tag over what operators change of the target: the pauses that hold, the stops that stand, the log. Made from content
 * alone, so every instance gives the same, and nothing that flows changes it.
 */
export function tagOf({ binding, pauses, stops }: OperatorState, { partition }: Target, nowMs: number): string {
  const numbers = partition === undefined ? [...stops.keys()].toSorted((a, b) => a - b) : [partition];
  const own = partition === undefined ? pauses.partitions.map((entry) => entry.partition) : [partition];
  const content = [
    binding === undefined ? 0 : logOf(binding),
    shown(sourcePauseOf(pauses, nowMs)),
    own.map((number) => [number, shown(ownPauseOf(pauses, number, nowMs))]).filter(([, pause]) => pause !== null),
    numbers.flatMap((number) => {
      const record = stops.get(number)?.value;
      const stop = record?.stop ?? null;
      return stop === null ? [] : [[number, stop.code, stop.detail, stop.wanted ?? null, record?.since ?? 0]];
    }),
  ];
  return createHash("sha256").update(JSON.stringify(content)).digest("hex").slice(0, 32);
}

function shown(pause: PauseInForce | Pause | undefined): readonly unknown[] | null {
  return pause === undefined ? null : [pause.since, pause.until, pause.actor, pause.reason];
}
