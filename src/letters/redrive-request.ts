import type { RedriveSpec } from "../control/redrive-spec.ts";
import { OFFSET_LIMIT, type Offset } from "../core/offset.ts";
import type { Rates } from "../core/job/pace.ts";
import type { JobPlan } from "../ports/jobs.ts";
import type { OriginFilter, StoredLetter } from "../ports/letters.ts";
import type { LogBounds } from "../ports/record-source.ts";
import type { LetterScan } from "./letter-scan.ts";

/** What a redrive is asked for; undefined members do not narrow. `[from, to)` are offsets of `partition`. */
export interface RedriveRequest extends OriginFilter, LetterMatch, Rates {
  /** Whether nothing is to be applied. */
  readonly dryRun?: boolean;
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
 * could not be looked through in time, everything that was asked for.
 */
export function rangesOf(
  scan: LetterScan,
  complete: boolean,
  partitions: number,
  { partition, from = 0, to = OFFSET_LIMIT }: OriginFilter,
): JobPlan["partitions"] {
  if (!complete) {
    const all = partition === undefined ? Array.from({ length: partitions }, (_unused, index) => index) : [partition];
    return all.map((index) => ({ partition: index, from, to }));
  }
  const ranges = new Map<number, { from: Offset; to: Offset }>();
  for (const { partition: of, offset } of scan.table.entries()) {
    const range = ranges.get(of);
    if (range === undefined) ranges.set(of, { from: offset, to: offset + 1 });
    else Object.assign(range, { from: Math.min(range.from, offset), to: Math.max(range.to, offset + 1) });
  }
  return [...ranges].map(([of, range]) => ({ partition: of, ...range })).toSorted((a, b) => a.partition - b.partition);
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
