import type { Job } from "../core/job/job.ts";
import type { Clock } from "../ports/clock.ts";
import type { JobExecutor, JobPlan, JobPreview, JobWork } from "../ports/jobs.ts";

/** A job's work that can be looked at without being done. */
export interface SampledWork extends JobWork {
  /** Reads and judges a few records of a partition, and applies nothing. @throws KvFault, SourceFault, StreamsError */
  sample(partition: number): Promise<{ readonly records: number; readonly bytes: number; readonly failed: number }>;
}

/** Partitions that a preview looks into. */
const SAMPLED_PARTITIONS = 4;

/** What a job would do: how much there is, and, where its kind can be sampled, how fast and how well it would go. */
export async function previewJob(executor: JobExecutor, job: Job, plan: JobPlan, clock: Clock): Promise<JobPreview> {
  const offsets = plan.partitions.reduce((sum, { from, to }) => sum + (to - from), 0);
  const work = await executor.open(job);
  try {
    const sampled = { records: 0, bytes: 0, failed: 0 };
    const began = clock.monotonic();
    if (isSampled(work)) {
      for (const { partition } of job.partitions.filter(({ from, to }) => from < to).slice(0, SAMPLED_PARTITIONS)) {
        const { records, bytes, failed } = await work.sample(partition);
        sampled.records += records;
        sampled.bytes += bytes;
        sampled.failed += failed;
      }
    }
    const seconds = Math.max(clock.monotonic() - began, 1) / 1_000;
    const speed = Math.min(sampled.records / seconds, plan.rates.recordsPerSecond ?? Infinity);
    return { plan, offsets, sampled, durationSeconds: speed === 0 ? undefined : offsets / speed };
  } finally {
    await work.close();
  }
}

function isSampled(work: JobWork): work is SampledWork {
  return "sample" in work;
}
