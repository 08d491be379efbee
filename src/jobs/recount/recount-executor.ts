import { BindingRecord, recordNames } from "../../control/records.ts";
import { readRecord } from "../../control/json-record.ts";
import type { Job, JobKind } from "../../core/job/job.ts";
import { topicEpochOf } from "../../core/topic/binding.ts";
import { type VerdictDependencies, Verdicts } from "../../fleet/verdicts.ts";
import type { JobExecutor, JobPlan, JobWork } from "../../ports/jobs.ts";
import { planRecountJob, type RecountParts, type RecountRequest } from "./recount-plan.ts";
import { readRecountSpec } from "../../control/recount-spec.ts";
import { RecountWork } from "./recount-work.ts";

/** Counts rows of counting kinds again, beside live reading. */
export class RecountExecutor implements JobExecutor<RecountRequest> {
  readonly kind: JobKind = "recount";
  readonly #parts: RecountParts & { readonly verdicts: VerdictDependencies };

  constructor(parts: RecountParts & { readonly verdicts: VerdictDependencies }) {
    this.#parts = parts;
  }

  plan(source: string, request: RecountRequest): Promise<JobPlan> {
    return planRecountJob(this.#parts, source, request, "recount");
  }

  /** A replay of a counting kind: rows that are there are compared, what no row covers is counted whole. */
  planReplay(source: string, request: RecountRequest): Promise<JobPlan> {
    return planRecountJob(this.#parts, source, request, "replay");
  }

  async open({ source, spec, revision }: Job): Promise<JobWork> {
    const { parts } = this.#parts.fleet.service(source);
    const verdicts = new Verdicts(source, this.#parts.verdicts);
    await verdicts.load([revision]);
    const binding = (await readRecord(parts.plane.control, recordNames.binding(source), BindingRecord))?.value;
    return new RecountWork({
      source: parts,
      spec: readRecountSpec(spec),
      verdicts,
      topicEpochOf: (partition) => (binding === undefined ? 0 : (topicEpochOf(binding, partition) ?? 0)),
    });
  }
}
