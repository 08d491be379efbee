import type { RedriveSpec } from "../control/redrive-spec.ts";
import { OFFSET_LIMIT, type Offset } from "../core/offset.ts";
import type { Rates } from "../core/job/pace.ts";
import type { JobPlan } from "../ports/jobs.ts";
import type { OriginFilter, StoredLetter } from "../ports/letters.ts";
import type { LogBounds } from "../ports/record-source.ts";
import type { LetterScan } from "./letter-scan.ts";

/** What a redrive is asked for; undefined members do not narrow. */
export interface RedriveRequest extends LetterMatch {
  /** Ranges of origins. */
  readonly ranges?: readonly OriginFilter[];
  readonly rates?: Rates;
}

/** Which of the letters that stand. */
export interface LetterMatch {
  readonly code?: string;
  readonly revision?: number;
  readonly descriptorVersion?: number;
}

/** Whether a letter is one of those that are asked for. */
export function matches({ fault, revision, descriptorVersion }: StoredLetter, match: LetterMatch): boolean {
  if (match.code !== undefined && fault.code !== match.code) return false;
  if (match.revision !== undefined && revision !== match.revision) return false;
  return match.descriptorVersion === undefined || descriptorVersion === match.descriptorVersion;
}

/** The members of a request that narrow its origins. */
export function originsOf({ partition, from, to }: OriginFilter): OriginFilter {
  return {
    ...(partition === undefined ? {} : { partition }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

/** The members of a request that narrow its letters. */
export function matchOf({ code, revision, descriptorVersion }: LetterMatch): LetterMatch {
  return {
    ...(code === undefined ? {} : { code }),
    ...(revision === undefined ? {} : { revision }),
    ...(descriptorVersion === undefined ? {} : { descriptorVersion }),
  };
}

/**
 * The ranges that a redrive applies to: from the first to the last origin of each partition that has letters. Where the topic
 * could not be looked through in time (`partitions`: of the source's topic), everything that was asked for.
 */
export function rangesOf(
  scan: LetterScan,
  partitions: number | undefined,
  asked: readonly OriginFilter[] | undefined,
): JobPlan["partitions"] {
  const ranges = new Map<number, { from: Offset; to: Offset }>();
  const cover = (partition: number, from: Offset, to: Offset) => {
    const range = ranges.get(partition);
    if (range === undefined) ranges.set(partition, { from, to });
    else Object.assign(range, { from: Math.min(range.from, from), to: Math.max(range.to, to) });
  };
  if (partitions === undefined) {
    for (const { partition, offset } of scan.table.entries()) cover(partition, offset, offset + 1);
  } else {
    for (const { partition: wanted, from = 0, to = OFFSET_LIMIT } of asked ?? [{}]) {
      const all = wanted === undefined ? Array.from({ length: partitions }, (_unused, index) => index) : [wanted];
      for (const partition of all) cover(partition, from, to);
    }
  }
  return [...ranges]
    .map(([partition, range]) => ({ partition, ...range }))
    .toSorted((a, b) => a.partition - b.partition);
}

/** What of the dead-letter topic belongs to a redrive, as far as retention has left it. */
export function boundsWithin(
  spec: RedriveSpec,
  bounds: ReadonlyMap<number, LogBounds>,
): ReadonlyMap<number, LogBounds> {
  return new Map(
    spec.ends.flatMap(({ partition, end }) => {
      const now = bounds.get(partition);
      return now === undefined ? [] : [[partition, { logStart: now.logStart, end: Math.min(end, now.end) }] as const];
    }),
  );
}
