import type { Offset } from "../offset.ts";
import type { JobKind } from "./job.ts";

/** What a source's index keeps of one of its jobs: enough to decide about the next one. */
export interface JobEntry {
  readonly id: string;
  readonly kind: JobKind;
  readonly createdAtMs: number;
  readonly ended: boolean;
  /** The caller's Idempotency-Key, and a hash of what was asked for with it. */
  readonly key?: { readonly name: string; readonly hash: string };
  /** What it applies to; empty for a job that applies nothing. */
  readonly ranges: readonly { readonly partition: number; readonly from: Offset; readonly to: Offset }[];
}

/** The jobs of one source, oldest first. */
export type JobIndex = readonly JobEntry[];

/** Jobs that are kept of one source; the oldest that have ended give their place to new ones. */
export const JOBS_KEPT = 200;
/** Jobs of one source that have not ended. */
export const JOBS_ACTIVE_MAX = 16;

/** What becomes of a submission. */
export type Admission =
  | { readonly admission: "new"; readonly index: JobIndex; readonly displaced: readonly string[] }
  /** The same was asked for with the same key. */
  | { readonly admission: "known"; readonly id: string }
  /** Something else was asked for with this key. */
  | { readonly admission: "key-reused"; readonly id: string }
  | { readonly admission: "overlap"; readonly id: string; readonly kind: JobKind; readonly partition: number }
  | { readonly admission: "too-many" };

/** Decides about a submission, by what the index says. Stored by compare-and-set, so that of two at once one wins. */
export function admit(index: JobIndex, entry: JobEntry): Admission {
  const { key } = entry;
  const known = key === undefined ? undefined : index.findLast((other) => other.key?.name === key.name);
  if (known !== undefined) {
    const { id } = known;
    return known.key?.hash === key?.hash ? { admission: "known", id } : { admission: "key-reused", id };
  }
  const active = index.filter(({ ended }) => !ended);
  for (const other of active) {
    const partition = overlapOf(entry, other);
    if (partition !== undefined) return { admission: "overlap", id: other.id, kind: other.kind, partition };
  }
  if (active.length >= JOBS_ACTIVE_MAX) return { admission: "too-many" };
  const over = index.length + 1 - JOBS_KEPT;
  const displaced = index
    .filter(({ ended }) => ended)
    .slice(0, Math.max(over, 0))
    .map(({ id }) => id);
  const gone = new Set(displaced);
  return { admission: "new", index: [...index.filter(({ id }) => !gone.has(id)), entry], displaced };
}

/** Marks jobs as ended; the same object when they all are. */
export function withEnded(index: JobIndex, ids: ReadonlySet<string>): JobIndex {
  if (!index.some(({ id, ended }) => ids.has(id) && !ended)) return index;
  return index.map((entry) => (ids.has(entry.id) ? { ...entry, ended: true } : entry));
}

function overlapOf(a: JobEntry, b: JobEntry): number | undefined {
  for (const mine of a.ranges) {
    const other = b.ranges.find(
      ({ partition, from, to }) => partition === mine.partition && from < mine.to && mine.from < to,
    );
    if (other !== undefined) return mine.partition;
  }
  return undefined;
}
