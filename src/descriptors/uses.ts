import { BindingRecord, LedgerRecord, RevisionRecord, SourceRecord, recordNames } from "../control/records.ts";
import { readRecord } from "../control/json-record.ts";
import type { Offset } from "../core/offset.ts";
import { logOf } from "../core/topic/binding.ts";
import { JobStore } from "../jobs/job-store.ts";
import { writesOf } from "../jobs/job-writes.ts";
import type { ControlStore } from "../ports/kv-plane.ts";

/** Where a descriptor version is used, in words: the place, and how. */
export interface DescriptorUse {
  readonly place: string;
  readonly text: string;
}

export interface UsesParts {
  readonly control: ControlStore;
  /** First offset that the log of a partition holds; undefined where it is not known. */
  readonly logStart: (source: string, partition: number) => Offset | undefined;
}

/** Uses that are told. */
const USES_MAX = 20;
const NAMES_MAX = 1_000_000;

/**
 * Where a version is needed: by a definition in force, by a change of a definition that is under way, by a ledger row of what a
 * log still holds, or may hold, or by a job that is not over or has written such offsets. What has no revision of its own
 * (trials) is not counted.
 * @throws KvFault
 */
export async function usesOf(parts: UsesParts, subject: string, version: number): Promise<readonly DescriptorUse[]> {
  const { control } = parts;
  const uses: DescriptorUse[] = [];
  for (const name of await control.list(recordNames.sources, NAMES_MAX)) {
    const source = name.slice(recordNames.sources.length);
    const revisions = await revisionsOf(control, source, subject, version);
    if (revisions.size === 0) continue;
    const present = (await readRecord(control, name, SourceRecord))?.value;
    const inForce = present?.revision ?? 0;
    for (const revision of revisions) {
      if (revision === inForce) uses.push({ place: `source ${source}`, text: `in force, revision ${revision}` });
      else if (revision > inForce)
        uses.push({ place: `source ${source}`, text: `being activated, revision ${revision}` });
    }
    uses.push(...(await rowsOf(parts, source, revisions)), ...(await jobsOf(parts, source, revisions)));
    if (uses.length >= USES_MAX) break;
  }
  return uses.slice(0, USES_MAX);
}

/** Revisions of a source that decode by the version. */
async function revisionsOf(
  control: ControlStore,
  source: string,
  subject: string,
  version: number,
): Promise<ReadonlySet<number>> {
  const prefix = recordNames.revisions(source);
  const found = new Set<number>();
  for (const name of await control.list(prefix, NAMES_MAX)) {
    const descriptor = (await readRecord(control, name, RevisionRecord))?.value.definition.descriptor;
    if (descriptor?.subject === subject && descriptor.version === version) found.add(Number(name.slice(prefix.length)));
  }
  return found;
}

async function rowsOf(
  { control, logStart }: UsesParts,
  source: string,
  revisions: ReadonlySet<number>,
): Promise<readonly DescriptorUse[]> {
  const uses: DescriptorUse[] = [];
  for (const { partition, rows } of await ledgersOf(control, source)) {
    const start = logStart(source, partition) ?? 0;
    for (const { number, from, until, revision } of rows) {
      if (!revisions.has(revision) || (until !== null && until <= start)) continue;
      const range = `offsets ${from} to ${until ?? "whatever comes"}`;
      uses.push({ place: `ledger ${source}/${partition}`, text: `row ${number}: ${range}, revision ${revision}` });
    }
  }
  return uses;
}

async function jobsOf(
  { control, logStart }: UsesParts,
  source: string,
  revisions: ReadonlySet<number>,
): Promise<readonly DescriptorUse[]> {
  const store = new JobStore(control);
  const uses: DescriptorUse[] = [];
  for (const { id, ended } of await store.index(source)) {
    const job = ended ? undefined : await store.find(id);
    if (job === undefined || job.kind === "trial" || !revisions.has(job.revision)) continue;
    uses.push({ place: `job ${id}`, text: `a ${job.kind} that is ${job.state}, revision ${job.revision}` });
  }
  for (const { job, partition, from, until, revision } of await writesOf(store, source)) {
    if (!revisions.has(revision) || until <= (logStart(source, partition) ?? 0)) continue;
    uses.push({
      place: `job ${job}`,
      text: `partition ${partition}, offsets ${from} to ${until}, revision ${revision}`,
    });
  }
  return uses;
}

/** One partition's ledger of the log that its source reads now. */
export interface PartitionLedger {
  readonly partition: number;
  readonly rows: readonly { number: number; from: Offset; until: Offset | null; revision: number }[];
}

/** The ledgers of a source, by partition, of the log that it reads now. @throws KvFault */
export async function ledgersOf(control: ControlStore, source: string): Promise<readonly PartitionLedger[]> {
  const binding = (await readRecord(control, recordNames.binding(source), BindingRecord))?.value;
  const log = logOf(binding ?? {});
  const prefix = recordNames.ledgers(source);
  const names = new Set(await control.list(prefix, NAMES_MAX));
  const partitions = [...names].map((name) => Number(/^\d+/.exec(name.slice(prefix.length))?.[0] ?? "NaN"));
  const present = [...new Set(partitions)].filter((partition) => names.has(recordNames.ledger(source, partition, log)));
  const ledgers: PartitionLedger[] = [];
  for (const partition of present.toSorted((a, b) => a - b)) {
    const record = await readRecord(control, recordNames.ledger(source, partition, log), LedgerRecord);
    ledgers.push({ partition, rows: record?.value.rows ?? [] });
  }
  return ledgers;
}
