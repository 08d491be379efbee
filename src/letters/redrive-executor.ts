import { type RedriveSpec, readRedriveSpec } from "../control/redrive-spec.ts";
import type { Job } from "../core/job/job.ts";
import { StreamsError } from "../errors.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { type VerdictDependencies, Verdicts } from "../fleet/verdicts.ts";
import type { Clock } from "../ports/clock.ts";
import type { JobExecutor, JobPlan, JobWork } from "../ports/jobs.ts";
import type { KvPlane } from "../ports/kv-plane.ts";
import type { LetterReader } from "../ports/letters.ts";
import { LetterScan, LookBudget } from "./letter-scan.ts";
import { boundsWithin, matchOf, originsOf, rangesOf, type RedriveRequest } from "./redrive-request.ts";
import { RedriveWork } from "./redrive-work.ts";

/** How much of the dead-letter topic a submission looks through, to know its ranges exactly. */
const PLAN_BYTES = 67_108_864;
const PLAN_MS = 5_000;

/** What redrives are made of. */
export interface RedriveParts {
  readonly fleet: Pick<Fleet, "inForce" | "service">;
  readonly reader: LetterReader;
  readonly plane: KvPlane;
  readonly verdicts: VerdictDependencies;
  readonly clock: Clock;
}

/** Puts dead letters of a versioned kind through again, each as the record that it was, at its first coordinates. */
export class RedriveExecutor implements JobExecutor<RedriveRequest> {
  readonly kind = "redrive";
  readonly #parts: RedriveParts;

  constructor(parts: RedriveParts) {
    this.#parts = parts;
  }

  async plan(source: string, request: RedriveRequest): Promise<JobPlan> {
    const { fleet, reader, verdicts, clock } = this.#parts;
    const { definition, revision } = fleet.inForce(source);
    if (verdicts.kinds.get(definition.kind)?.counting === true) {
      throw new StreamsError(
        "JOB_KIND",
        `source ${source} counts: a recount of the rows counts what its dead letters are now, once`,
      );
    }
    const topic = definition.deadLetterTopic;
    const bounds = await reader.bounds(topic);
    const { ranges, rates = {} } = request;
    const origins = ranges === undefined ? {} : { ranges: ranges.map(originsOf) };
    const spec: RedriveSpec = {
      topic,
      ends: [...bounds].map(([partition, { end }]) => ({ partition, end })),
      ...origins,
      match: matchOf(request),
    };
    const scan = new LetterScan(reader, { source, topic, ...origins }, clock.now());
    await scan.advance(bounds, new LookBudget(clock, PLAN_BYTES, PLAN_MS));
    const complete = scan.complete(bounds);
    const partitions = complete ? undefined : (await fleet.service(source).parts.source.identity()).partitions;
    return { revision, spec, partitions: rangesOf(scan, partitions, ranges), rates, applies: true };
  }

  async open({ source, revision, spec }: Pick<Job, "source" | "revision" | "spec">): Promise<JobWork> {
    const { verdicts, reader, clock } = this.#parts;
    const redrive = readRedriveSpec(spec);
    const own = new Verdicts(source, verdicts);
    await own.load([revision]);
    const { topic, ranges } = redrive;
    const scan = new LetterScan(reader, { source, topic, ...(ranges === undefined ? {} : { ranges }) }, clock.now());
    return new RedriveWork({
      ...this.#parts,
      source,
      verdict: own.versioned(revision),
      spec: redrive,
      scan,
      bounds: async () => boundsWithin(redrive, await reader.bounds(topic)),
    });
  }
}
