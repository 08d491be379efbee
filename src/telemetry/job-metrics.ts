import { JOB_KINDS } from "../core/job/job.ts";
import type { JobStanding } from "../ports/jobs.ts";
import type { MetricOf, Series } from "./metric.ts";

/** What of a scrape's snapshot they are read from. */
interface Standing {
  readonly jobs: JobStanding;
}

/** How many jobs there are of each combination of labels. */
function jobCounts(
  { jobs }: Standing,
  labelsOf: (job: JobStanding["unfinished"][number]) => Readonly<Record<string, string>> | undefined,
): readonly Series[] {
  const counts = new Map<string, { readonly of: Readonly<Record<string, string>>; count: number }>();
  for (const job of jobs.unfinished) {
    const of = labelsOf(job);
    if (of === undefined) continue;
    const key = JSON.stringify(of);
    const entry = counts.get(key) ?? { of, count: 0 };
    entry.count += 1;
    counts.set(key, entry);
  }
  return [...counts.values()].map(({ of, count }): Series => [of, count]);
}

/** Ages of the oldest job that has not ended, by kind. */
function oldestJobs({ jobs }: Standing): readonly Series[] {
  return JOB_KINDS.flatMap((kind): readonly Series[] => {
    const ages = jobs.unfinished.filter((job) => job.kind === kind).map(({ ageSeconds }) => ageSeconds);
    return ages.length === 0 ? [] : [[{ kind }, Math.max(...ages)]];
  });
}

/** Gauges of jobs, from what the process knows of them. */
export const JOBS: readonly MetricOf<Standing>[] = [
  {
    name: "jobs",
    help: "Jobs that have not ended: running in this process, or queued, which nobody runs and every instance reports.",
    labels: ["source", "kind", "state"],
    series: (snapshot) =>
      jobCounts(snapshot, ({ source, kind, runs }) =>
        runs === "elsewhere" ? undefined : { source, kind, state: runs === "here" ? "running" : "queued" },
      ),
  },
  {
    name: "jobs_waiting",
    help: "Jobs running in this process that wait, by the code of their reason; YIELDING: for live reading.",
    labels: ["source", "kind", "code"],
    series: (snapshot) =>
      jobCounts(snapshot, ({ source, kind, waiting }) =>
        waiting === undefined ? undefined : { source, kind, code: waiting.code },
      ),
  },
  {
    name: "jobs_oldest_seconds",
    help: "Seconds since the submission of the oldest job that has not ended, of the whole deployment. Absent without any.",
    labels: ["kind"],
    series: oldestJobs,
  },
];

/** What jobs have done, counted since the process began. */
export const JOB_COUNTS: readonly MetricOf<Standing>[] = [
  {
    name: "job_records_read_total",
    help: "Records that this process read for jobs, those that it read again after a crash included.",
    labels: ["kind"],
    series: ({ jobs }) => JOB_KINDS.map((kind): Series => [{ kind }, jobs.recordsRead.get(kind) ?? 0]),
  },
];
