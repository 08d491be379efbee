import type { SourceDefinition } from "../core/source.ts";
import type { SourceSeed } from "../config/types.ts";
import type { FileSources } from "../definitions/file-sources.ts";
import type { InForce } from "../definitions/definition-store.ts";
import { StreamsError } from "../errors.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { SourceService } from "../fleet/source-service.ts";
import type { Clock } from "../ports/clock.ts";
import {
  type DefinitionView,
  type PartitionView,
  type SourceChanges,
  type SourceQueries,
  type SourceView,
} from "../ports/control-plane.ts";
import { KvFault } from "../ports/kv-plane.ts";
import { partitionView, unassignedView } from "./partition-view.ts";
import { sourceStanding } from "./source-standing.ts";
import { committedElsewhere, whyUnassigned } from "./unassigned.ts";

/** What operators read of the sources, and the one thing that they change here: the definition. */
export class SourceReader implements SourceQueries, SourceChanges {
  readonly #fleet: Fleet;
  readonly #clock: Clock;
  readonly #drainMs: number;
  readonly #file: FileSources;

  /** @param drainMs how long a source may take to finish what is in flight when its definition changes */
  constructor(fleet: Fleet, clock: Clock, drainMs: number, file: FileSources) {
    this.#fleet = fleet;
    this.#clock = clock;
    this.#drainMs = drainMs;
    this.#file = file;
  }

  list(): readonly SourceView[] {
    return this.#fleet.services().map((service) => this.#view(service));
  }

  get(name: string): SourceView {
    return this.#view(this.#fleet.service(name));
  }

  definition(name: string): DefinitionView {
    return this.#definition(this.#fleet.inForce(name));
  }

  async define(name: string, definition: SourceDefinition, ifMatch: string): Promise<DefinitionView> {
    return this.#definition(await stored(this.#fleet.define(name, definition, ifMatch, this.#drainMs)));
  }

  async create(seed: SourceSeed): Promise<DefinitionView> {
    return this.#definition(await stored(this.#fleet.create(seed)));
  }

  #definition({ definition, revision, etag }: InForce): DefinitionView {
    const fileDiffers = this.#file.differences(definition);
    return { definition, revision, etag, ...(fileDiffers.length === 0 ? {} : { fileDiffers }) };
  }

  partitions(name: string): readonly PartitionView[] {
    const service = this.#fleet.service(name);
    return service.partitions.map((partition) => this.#partition(service, partition));
  }

  partition(name: string, partition: number): PartitionView {
    const service = this.#fleet.service(name);
    if (!service.partitions.includes(partition)) {
      throw new StreamsError(
        "PARTITION_UNKNOWN",
        `topic ${service.parts.inForce.definition.topic} has no partition ${partition}`,
      );
    }
    return this.#partition(service, partition);
  }

  #partition(service: SourceService, partition: number): PartitionView {
    const runner = service.runners.get(partition);
    const stop = service.stopOf(partition);
    const pause = service.pauseOf(partition);
    if (runner !== undefined) return partitionView(service.name, runner, this.#clock.now(), stop, pause);
    return unassignedView({
      source: service.name,
      partition,
      answer: service.readings.answers.get(partition),
      committed: committedElsewhere(service, partition),
      stop,
      pause,
      topicEpoch: service.parts.survey.topicEpochOf(partition),
      since: service.consumer.since,
      reason: whyUnassigned(service, partition),
    });
  }

  #view(service: SourceService): SourceView {
    const { definition, revision } = service.parts.inForce;
    const partitions = this.partitions(service.name);
    const { state, rebuilds, cause, text } = service.consumer;
    const pause = service.pauseOf();
    const { counts, observed, since, reason } = sourceStanding(service, partitions, pause);
    return {
      name: definition.name,
      kind: definition.kind,
      topic: definition.topic,
      group: definition.group,
      namespace: definition.namespace,
      desired: pause === undefined ? "running" : "paused",
      observed,
      since,
      ...(reason === undefined ? {} : { reason }),
      ...(pause === undefined ? {} : { pause }),
      revision,
      drift: this.#file.differences(this.#fleet.inForce(service.name).definition).length > 0,
      consumer: {
        state,
        rebuilds,
        ...(cause === undefined ? {} : { cause }),
        ...(text === undefined ? {} : { text }),
      },
      partitions: counts,
      totals: { ...service.totals },
      deadLetters: Object.fromEntries(service.parts.tally.letters),
      crossings: { ...service.parts.tally.crossings },
      recentErrors: service.parts.errors.list(),
    };
  }
}

async function stored(change: Promise<InForce>): Promise<InForce> {
  try {
    return await change;
  } catch (error) {
    if (error instanceof KvFault) throw new StreamsError("KV_UNAVAILABLE", error.message, {}, { cause: error });
    throw error;
  }
}
