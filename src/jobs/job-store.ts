import { JobIndexRecord, JobRecord, jobNames } from "../control/job-records.ts";
import { readRecord, updateRecord } from "../control/json-record.ts";
import type { Job } from "../core/job/job.ts";
import { type Admission, admit, type JobEntry, type JobIndex, withEnded } from "../core/job/job-index.ts";
import { StreamsError } from "../errors.ts";
import type { ControlStore } from "../ports/kv-plane.ts";

/** Jobs as control records: one each, and one index per source, whose compare-and-set decides among submissions. */
export class JobStore {
  readonly #control: ControlStore;

  constructor(control: ControlStore) {
    this.#control = control;
  }

  /** Puts a job into its source's index, where nothing is against it. @throws KvFault */
  async admit(source: string, entry: JobEntry): Promise<Admission> {
    let admission: Admission = { admission: "too-many" };
    await updateRecord(this.#control, jobNames.index(source), JobIndexRecord, (present) => {
      const before = present?.jobs ?? [];
      admission = admit(before, entry);
      return admission.admission === "new" ? indexRecord(admission.index) : (present ?? { jobs: [] });
    });
    return admission;
  }

  /** Stores a job that was admitted. @throws KvFault */
  async create(job: Job): Promise<Job> {
    const stored = await updateRecord(
      this.#control,
      jobNames.job(job.id),
      JobRecord,
      (present) => present ?? jobRecord(job),
    );
    return fromRecord(stored.value);
  }

  /** @throws StreamsError JOB_UNKNOWN; KvFault */
  async read(id: string): Promise<Job> {
    const job = await this.find(id);
    if (job === undefined) throw new StreamsError("JOB_UNKNOWN", `there is no job ${id}, or not any more`);
    return job;
  }

  /** @throws KvFault */
  async find(id: string): Promise<Job | undefined> {
    const stored = await readRecord(this.#control, jobNames.job(id), JobRecord);
    return stored === undefined ? undefined : fromRecord(stored.value);
  }

  /** Changes a job by compare-and-set; the same object changes nothing. @throws StreamsError JOB_UNKNOWN; KvFault */
  async update(id: string, change: (job: Job) => Job): Promise<Job> {
    const stored = await updateRecord(this.#control, jobNames.job(id), JobRecord, (present) => {
      if (present === undefined) throw new StreamsError("JOB_UNKNOWN", `there is no job ${id}, or not any more`);
      const before = fromRecord(present);
      const after = change(before);
      return after === before ? present : jobRecord(after);
    });
    return fromRecord(stored.value);
  }

  /** Jobs of a source have ended: others may take what they had. @throws KvFault */
  async ended(source: string, ids: ReadonlySet<string>): Promise<void> {
    await updateRecord(this.#control, jobNames.index(source), JobIndexRecord, (present) => {
      const before = present?.jobs ?? [];
      const after = withEnded(before, ids);
      return after === before ? (present ?? { jobs: [] }) : indexRecord(after);
    });
  }

  /** Sources that have, or had, jobs. @throws KvFault */
  async sources(): Promise<readonly string[]> {
    const names = await this.#control.list(jobNames.indexes);
    return names.map((name) => name.slice(jobNames.indexes.length));
  }

  /** @throws KvFault */
  async index(source: string): Promise<JobIndex> {
    const stored = await readRecord(this.#control, jobNames.index(source), JobIndexRecord);
    return stored?.value.jobs ?? [];
  }
}

function indexRecord(index: JobIndex): JobIndexRecord {
  return { jobs: index.map((entry) => ({ ...entry, ranges: entry.ranges.map((range) => ({ ...range })) })) };
}

function jobRecord(job: Job): JobRecord {
  const { holder, cancel, startedAtMs, endedAtMs, error, result, partitions, ...rest } = job;
  return {
    ...rest,
    ...(holder === undefined ? {} : { holder }),
    ...(cancel === undefined ? {} : { cancel }),
    ...(startedAtMs === undefined ? {} : { startedAtMs }),
    ...(endedAtMs === undefined ? {} : { endedAtMs }),
    ...(error === undefined ? {} : { error }),
    ...(result === undefined ? {} : { result }),
    partitions: partitions.map((entry) => ({ ...entry })),
  };
}

function fromRecord(record: JobRecord): Job {
  const { holder, cancel, startedAtMs, endedAtMs, error, result } = record;
  return { ...record, holder, cancel, startedAtMs, endedAtMs, error, result };
}
