/** An operator's pause of a source or of one partition: a flag beside stops and holds, not one of them. */
export interface Pause {
  readonly reason: string;
  /** Name of the token that set it. */
  readonly actor: string;
  /** When it was set, milliseconds since 1970. */
  readonly since: number;
  /** When it ends by itself, milliseconds since 1970; null: not before somebody ends it. */
  readonly until: number | null;
  /** Audit entry of the call that set it. */
  readonly audit: string;
}

/** Every pause of one source, as it is stored. */
export interface Pauses {
  readonly source: Pause | null;
  readonly partitions: readonly { readonly partition: number; readonly pause: Pause }[];
}

/** A source that nobody ever paused. */
export const NO_PAUSES: Pauses = { source: null, partitions: [] };

/** A pause that holds now, and what it was set on. */
export interface PauseInForce extends Pause {
  readonly by: "source" | "partition";
}

/** What a pause is set on: a whole source, or one of its partitions. */
export type PauseTarget = "source" | number;

/** The pause that keeps a partition from being read at `nowMs`: that of its source, or its own. Undefined when none does. */
export function pauseOf(pauses: Pauses, partition: number, nowMs: number): PauseInForce | undefined {
  return sourcePauseOf(pauses, nowMs) ?? ownPauseOf(pauses, partition, nowMs);
}

/** The pause of the source as a whole that holds at `nowMs`. */
export function sourcePauseOf({ source }: Pauses, nowMs: number): PauseInForce | undefined {
  return source !== null && holds(source, nowMs) ? { ...source, by: "source" } : undefined;
}

/** The pause of the partition itself that holds at `nowMs`, whatever the source's is. */
export function ownPauseOf({ partitions }: Pauses, partition: number, nowMs: number): PauseInForce | undefined {
  const own = partitions.find((entry) => entry.partition === partition)?.pause;
  return own !== undefined && holds(own, nowMs) ? { ...own, by: "partition" } : undefined;
}

/** The pauses with one of them set or ended. Entries that have run out are dropped, so the list stays as short as it is true. */
export function withPause(pauses: Pauses, target: PauseTarget, pause: Pause | null, nowMs: number): Pauses {
  const kept = pauses.partitions.filter((entry) => entry.partition !== target && holds(entry.pause, nowMs));
  const source = pauses.source !== null && holds(pauses.source, nowMs) ? pauses.source : null;
  if (target === "source") return { source: pause, partitions: kept };
  const partitions = pause === null ? kept : [...kept, { partition: target, pause }];
  return { source, partitions: partitions.toSorted((one, other) => one.partition - other.partition) };
}

function holds({ until }: Pause, nowMs: number): boolean {
  return until === null || nowMs < until;
}
