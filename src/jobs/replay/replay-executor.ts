import { BindingRecord, recordNames } from "../../control/records.ts";
import { readRecord } from "../../control/json-record.ts";
import type { Job, JobKind } from "../../core/job/job.ts";
import { LivePressure } from "../../core/job/live-pressure.ts";
import { COUNTING_KINDS } from "../../core/source.ts";
import { topicEpochOf } from "../../core/topic/binding.ts";
import { StreamsError } from "../../errors.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import { type VerdictDependencies, Verdicts } from "../../fleet/verdicts.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LagQueries } from "../../ports/control-plane.ts";
import type { JobExecutor, JobPlan, JobWork } from "../../ports/jobs.ts";
import type { JobStore } from "../job-store.ts";
import type { RecountExecutor } from "../recount/recount-executor.ts";
import { planReplay, type ReplayRequest } from "./replay-plan.ts";
import { ReplayWork } from "./replay-work.ts";

/** What replays stand on. */
export interface ReplayParts {
  readonly fleet: Pick<Fleet, "service">;
  readonly store: JobStore;
  readonly verdicts: VerdictDependencies;
  readonly lag: Pick<LagQueries, "ofSource">;
  readonly recounts: RecountExecutor;
  readonly clock: Clock;
}

/** Applies what is in the log again; of counting kinds, counts what was never counted. */
export class ReplayExecutor implements JobExecutor<ReplayRequest> {
  readonly kind: JobKind = "replay";
  readonly #parts: ReplayParts;

  constructor(parts: ReplayParts) {
    this.#parts = parts;
  }

  async plan(source: string, request: ReplayRequest): Promise<JobPlan> {
    const { fleet, store, recounts } = this.#parts;
    const { kind } = fleet.service(source).parts.inForce.definition;
    if (!COUNTING_KINDS.has(kind)) return planReplay(fleet, store, source, request);
    if (request.timestamps !== undefined) {
      throw new StreamsError("JOB_RANGE", "a counting kind is replayed by offsets: its rows are counted whole");
    }
    return recounts.planReplay(source, { ...request, partly: true });
  }

  async open(job: Job): Promise<JobWork> {
    const { fleet, verdicts: dependencies, lag, recounts, clock } = this.#parts;
    const { parts } = fleet.service(job.source);
    if (COUNTING_KINDS.has(parts.inForce.definition.kind)) return recounts.open(job);
    const verdicts = new Verdicts(job.source, dependencies);
    await verdicts.load([job.revision]);
    const binding = (await readRecord(parts.plane.control, recordNames.binding(job.source), BindingRecord))?.value;
    const pressure = new LivePressure();
    return new ReplayWork({
      source: parts,
      revision: job.revision,
      verdicts,
      topicEpochOf: (partition) => (binding === undefined ? 0 : (topicEpochOf(binding, partition) ?? 0)),
      yields: () => pressure.look(lag.ofSource(job.source).partitions, clock.monotonic()),
    });
  }
}
