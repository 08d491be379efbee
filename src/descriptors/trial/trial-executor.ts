import { readTrialSpec, type TrialSpec } from "../../control/trial-spec.ts";
import type { Job } from "../../core/job/job.ts";
import type { SourceDefinition } from "../../core/source.ts";
import { StreamsError } from "../../errors.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import { compileVerdict, type VerdictDependencies, Verdicts } from "../../fleet/verdicts.ts";
import type { DescriptorJudge } from "../../ports/descriptor-checks.ts";
import type { ProtoFiles } from "../../ports/decoder.ts";
import type { JobExecutor, JobPlan, JobWork } from "../../ports/jobs.ts";
import type { LetterReader } from "../../ports/letters.ts";
import type { RecordSource } from "../../ports/record-source.ts";
import type { DescriptorCatalog } from "../catalog.ts";
import { refuseLarge, TRIAL_LAST, TRIAL_LAST_MAX, type TrialRequest } from "./trial-request.ts";
import { TrialWork } from "./trial-work.ts";

/** What trials stand on. */
export interface TrialParts {
  readonly fleet: Pick<Fleet, "inForce" | "service">;
  readonly catalog: Pick<DescriptorCatalog, "get">;
  readonly judge: DescriptorJudge;
  readonly verdicts: VerdictDependencies;
  readonly reader: LetterReader;
}

type Candidate = Pick<TrialSpec, "subject" | "version" | "message"> & { readonly files: ProtoFiles };

/** Decodes the last records of a source and its dead letters with a candidate beside what is in force. Applies nothing. */
export class TrialExecutor implements JobExecutor<TrialRequest> {
  readonly kind = "trial";
  readonly #parts: TrialParts;

  constructor(parts: TrialParts) {
    this.#parts = parts;
  }

  async plan(source: string, request: TrialRequest): Promise<JobPlan> {
    const { fleet, catalog, judge, reader } = this.#parts;
    const { definition, revision } = fleet.inForce(source);
    const { descriptor, deadLetterTopic: topic } = definition;
    if (descriptor === undefined) throw new StreamsError("JOB_KIND", `the format of ${source} has no descriptor`);
    const { subject, version, message, files } = await this.#candidate(request, descriptor);
    const before = (await catalog.get(descriptor.subject, descriptor.version)).files;
    const { reasons } = await judge.compatibility({ before: [before], after: files, roots: [descriptor.message] });
    const spec: TrialSpec = {
      subject,
      version,
      message,
      ...(version === 0 ? { files: { ...files } } : {}),
      mapping: { ...mutable(request.mapping ?? definition.mapping) },
      ...(request.deadLetters === false ? {} : { letters: { topic, ends: await endsOf(reader, topic) } }),
      differences: reasons.map(({ against: _one, ...reason }) => ({ ...reason })),
    };
    await this.#compile(definition, spec);
    const last = Math.min(request.last ?? TRIAL_LAST, TRIAL_LAST_MAX);
    const partitions = await lastOf(fleet.service(source).parts.source, last);
    return { revision, spec, partitions, rates: {}, applies: false };
  }

  async open({ source, revision, spec: stored }: Job): Promise<JobWork> {
    const { fleet, verdicts, reader } = this.#parts;
    const spec = readTrialSpec(stored);
    const inForce = async () => {
      const own = new Verdicts(source, verdicts);
      await own.load([revision]);
      return own.of(revision);
    };
    const { definition } = await inForce();
    const log = fleet.service(source).parts.source;
    const candidate = () => this.#compile(definition, spec);
    return TrialWork.open({ source, log, reader, spec, verdicts: { inForce, candidate } });
  }

  async #candidate(
    { candidate, message }: TrialRequest,
    inForce: { readonly subject: string; readonly message: string },
  ): Promise<Candidate> {
    const { catalog, judge } = this.#parts;
    if ("version" in candidate) {
      const { subject, version } = candidate;
      const found = await catalog.get(subject, version);
      return { subject, version, message: message ?? found.message, files: found.files };
    }
    const upload = "files" in candidate ? candidate : { set: Buffer.from(candidate.set, "base64") };
    const read = await judge.read(upload, message, inForce.message);
    refuseLarge(read.files);
    return { subject: inForce.subject, version: 0, message: read.message, files: read.files };
  }

  /** The definition as it would be, under a revision that nothing is stored under. */
  #compile(definition: SourceDefinition, { subject, version, message, files, mapping }: TrialSpec) {
    const { verdicts } = this.#parts;
    const changed = { ...definition, descriptor: { subject, version, message }, mapping };
    const descriptor =
      files === undefined ? verdicts.descriptor : () => Promise.resolve({ subject, version: 0, files });
    return compileVerdict(changed, 0, { ...verdicts, descriptor });
  }
}

function mutable(mapping: SourceDefinition["mapping"]): Record<string, number[]> {
  return Object.fromEntries(Object.entries(mapping).map(([input, path]) => [input, [...path]]));
}

async function endsOf(reader: LetterReader, topic: string) {
  return [...(await reader.bounds(topic))].map(([partition, { end }]) => ({ partition, end }));
}

/** The last offsets of each partition; holes among them are no records. @throws SourceFault; StreamsError BROKER_UNAVAILABLE */
async function lastOf(log: RecordSource, last: number): Promise<JobPlan["partitions"]> {
  const bounds = [...(await log.bounds())].toSorted(([a], [b]) => a - b);
  return bounds.map(([partition, answer]) => {
    if (!answer.known) throw new StreamsError("BROKER_UNAVAILABLE", `partition ${partition}: ${answer.text}`);
    return { partition, from: Math.max(answer.logStart, answer.end - last), to: answer.end };
  });
}
