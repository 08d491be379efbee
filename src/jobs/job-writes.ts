import { appliedBy, type JobKind } from "../core/job/job.ts";
import type { Offset } from "../core/offset.ts";
import type { JobStore } from "./job-store.ts";

/** Offsets `[from, until)` of a partition that a job has applied, or may have, beside live reading. */
export interface JobWrite {
  readonly job: string;
  readonly kind: JobKind;
  readonly createdAtMs: number;
  readonly partition: number;
  readonly from: Offset;
  readonly until: Offset;
  /** That it pins. */
  readonly revision: number;
}

/**
 * What jobs of a source of a versioned kind wrote, by partition and offset; what counting kinds count has rows of its own.
 * Jobs that gave their place in the index to newer ones are not known any more. @throws KvFault
 */
export async function writesOf(store: JobStore, source: string): Promise<readonly JobWrite[]> {
  const entries = (await store.index(source)).filter(({ kind }) => kind === "replay" || kind === "redrive");
  const jobs = await Promise.all(entries.map(({ id }) => store.find(id)));
  return jobs
    .flatMap((job) => {
      if (job === undefined || (job.kind === "replay" && !isVersioned(job.spec))) return [];
      const { id, kind, createdAtMs, revision } = job;
      return appliedBy(job).map((span) => ({ job: id, kind, createdAtMs, ...span, revision }));
    })
    .toSorted((a, b) => a.partition - b.partition || a.from - b.from || a.createdAtMs - b.createdAtMs);
}

function isVersioned(spec: unknown): boolean {
  return typeof spec === "object" && spec !== null && "family" in spec && spec.family === "versioned";
}
