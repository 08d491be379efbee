import { StopRecord, type Resumption, recordNames } from "../control/records.ts";
import { replaceRecord, type Stored } from "../control/json-record.ts";
import { invariant } from "../core/invariant.ts";
import { type ResumeDecision, type ResumeFacts, type ResumeRequest, decideResume } from "../core/partition/resume.ts";
import { COUNTING_KINDS } from "../core/source.ts";
import { type Binding, logOf, rebind, topicEpochOf } from "../core/topic/binding.ts";
import { StreamsError } from "../errors.ts";
import { enterResumption } from "../fleet/entering.ts";
import { FactsReader, type PartitionFacts } from "../fleet/facts.ts";
import type { SourceService } from "../fleet/source-service.ts";
import { KvFault } from "../ports/kv-plane.ts";
import type { Order, ResumeCommands, ResumedView, ResumptionItem, Target } from "../ports/operators.ts";
import { SourceFault } from "../ports/record-source.ts";
import { type OperatorState, readState, serviceOf, tagOf } from "./operator-state.ts";
import type { OperatorParts } from "./pause-service.ts";
import { describeRequest, refusalOf } from "./resume-refusals.ts";

/** Everything that one resumption is decided from, beside the facts of its partition. */
interface Resuming {
  readonly service: SourceService;
  readonly facts: FactsReader;
  readonly binding: Binding;
  readonly order: Order;
  readonly request: ResumeRequest;
}

/**
 * Lets stopped partitions go on. The decision is one compare-and-set of the stop record, which clears the stop and holds the
 * new start record and what was passed over, so that
 *
 * - of two callers one wins; the other is told that the partition has changed;
 * - no crash leaves a cleared stop without its start record, or a start record beside a stop that stands;
 * - it does not matter who owns the partition, or whether anybody does: the owner finds the record cleared, or starts with it.
 */
export class ResumeService implements ResumeCommands {
  readonly #parts: OperatorParts;

  constructor(parts: OperatorParts) {
    this.#parts = parts;
  }

  async etag(target: Target): Promise<string> {
    const { fleet, control, clock } = this.#parts;
    await serviceOf(fleet, target);
    return tagOf(await readState(control, target), target, clock.now());
  }

  async resume(target: Required<Target>, order: Order, request: ResumeRequest, ifMatch: string): Promise<ResumedView> {
    const service = await serviceOf(this.#parts.fleet, target);
    const view = await this.#audited(target, order, request, async (audit) => {
      const state = await this.#matching(target, ifMatch);
      const resuming = this.#resuming(service, state, order, request);
      return this.#resumeOne(resuming, target.partition, state.stops.get(target.partition), audit);
    });
    await service.obey();
    return view;
  }

  async resumeAll(
    source: string,
    order: Order,
    request: ResumeRequest,
    ifMatch: string,
  ): Promise<readonly ResumptionItem[]> {
    const service = await serviceOf(this.#parts.fleet, { source });
    const state = await this.#matching({ source }, ifMatch);
    const stopped = [...state.stops].filter(([, { value }]) => value.stop !== null);
    if (stopped.length === 0) return [];
    const resuming = this.#resuming(service, state, order, request);
    const items = await Promise.all(
      stopped.map(([partition, record]) =>
        this.#item(partition, () =>
          this.#audited({ source, partition }, order, request, (audit) =>
            this.#resumeOne(resuming, partition, record, audit),
          ),
        ),
      ),
    );
    await service.obey();
    return items;
  }

  async #item(partition: number, resume: () => Promise<ResumedView>): Promise<ResumptionItem> {
    const refused = (code: string, detail: string, extra: Readonly<Record<string, unknown>> = {}): ResumptionItem => ({
      outcome: "refused",
      partition,
      error: { code, detail, extra },
    });
    try {
      return { outcome: "resumed", ...(await resume()) };
    } catch (error) {
      if (error instanceof StreamsError) return refused(error.code, error.message, error.extra);
      if (error instanceof KvFault) return refused("KV_UNAVAILABLE", error.message);
      if (error instanceof SourceFault) return refused("BROKER_UNAVAILABLE", error.message);
      throw error;
    }
  }

  #audited<T>(
    { source, partition }: Required<Target>,
    order: Order,
    request: ResumeRequest,
    run: (audit: string) => Promise<T>,
  ): Promise<T> {
    const call = { ...order, action: "resume", source, partition, detail: describeRequest(request) } as const;
    return this.#parts.audit.around(call, run);
  }

  /** @throws StreamsError PRECONDITION_FAILED */
  async #matching(target: Target, ifMatch: string): Promise<OperatorState> {
    const state = await readState(this.#parts.control, target);
    if (tagOf(state, target, this.#parts.clock.now()) === ifMatch) return state;
    throw changed();
  }

  #resuming(service: SourceService, state: OperatorState, order: Order, request: ResumeRequest): Resuming {
    const { binding } = state;
    if (binding === undefined) throw new StreamsError("PARTITION_NOT_STOPPED", "the source has never been read");
    const { source, plane } = service.parts;
    return { service, binding, order, request, facts: new FactsReader(service.name, source, plane) };
  }

  async #resumeOne(
    resuming: Resuming,
    partition: number,
    record: Stored<StopRecord> | undefined,
    audit: string,
  ): Promise<ResumedView> {
    const { service, binding, order, request } = resuming;
    const log = logOf(binding);
    const topicEpoch = topicEpochOf(binding, partition) ?? 0;
    const facts = await resuming.facts.read({ partition, topicEpoch, log });
    const input = await this.#input(resuming, partition, record, facts);
    const decision = decideResume(input, request);
    if (decision.decision !== "resume") throw refusalOf(decision, input.start.bounds, input.stop.code);
    const resumed: Resumption = {
      ...resumptionOf(decision, input, record),
      ...order,
      topicEpoch,
      audit,
      at: this.#parts.clock.now(),
      ...(input.sourceStop === undefined || binding.refused === undefined ? {} : { despite: binding.refused }),
    };
    await this.#decide(service.name, partition, log, record, resumed);
    const gaps = await this.#enter(service, partition, log, resumed);
    return { partition, from: decision.start.from, gaps, audit };
  }

  async #input(
    { service, binding }: Resuming,
    partition: number,
    record: Stored<StopRecord> | undefined,
    facts: PartitionFacts,
  ): Promise<ResumeFacts> {
    const stop = record?.value.stop ?? null;
    if (record === undefined || stop === null || facts.stop === undefined) {
      throw new StreamsError("PARTITION_NOT_STOPPED", `partition ${partition} of ${service.name} is not stopped`);
    }
    const counts = COUNTING_KINDS.has(service.parts.inForce.definition.kind);
    const bound = rebind(binding, await service.parts.source.identity(), counts);
    const old = partition < (binding.epochs.at(-1)?.partitions ?? 0);
    const sourceStop = bound.outcome === "stop" ? bound.stop : undefined;
    return { stop, reach: record.value.reach, start: facts.start, sourceStop, old };
  }

  /** The one write that decides. @throws StreamsError PRECONDITION_FAILED when somebody else was faster */
  async #decide(
    source: string,
    partition: number,
    log: number,
    record: Stored<StopRecord> | undefined,
    resumed: Resumption,
  ): Promise<void> {
    invariant(record !== undefined, "RESUME_RECORD", "a stop that stands has a record");
    const { since, reach } = record.value;
    const value: StopRecord = { stop: null, since, reach, resumed };
    const name = recordNames.stop(source, partition, log);
    if (!(await replaceRecord(this.#parts.control, name, StopRecord, record.tag, value))) throw changed();
  }

  /** The decision stands already: what cannot be entered now is entered by the owner before it reads anything. */
  async #enter(
    service: SourceService,
    partition: number,
    log: number,
    resumed: Resumption,
  ): Promise<readonly string[]> {
    try {
      return await enterResumption(service.parts, { source: service.name, partition }, log, resumed);
    } catch (error) {
      if (!(error instanceof KvFault)) throw error;
      service.parts.errors.note({ code: error.code, text: error.message, partition });
      return [];
    }
  }
}

function resumptionOf(
  decision: Extract<ResumeDecision, { decision: "resume" }>,
  { stop }: ResumeFacts,
  record: Stored<StopRecord> | undefined,
): Pick<Resumption, "start" | "allowPoison" | "code" | "passedOver" | "stopSince" | "entered"> {
  return {
    start: { ...decision.start },
    allowPoison: decision.allowPoison ?? null,
    code: stop.code,
    passedOver: decision.passedOver.map((range) => ({ ...range })),
    stopSince: record?.value.since ?? 0,
    entered: false,
  };
}

function changed(): StreamsError {
  return new StreamsError("PRECONDITION_FAILED", "a pause, a stop or a resumption has changed it since");
}
