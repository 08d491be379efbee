import { lagOf, type Oldest } from "../core/lag.ts";
import { mayCommit, type Stop } from "../core/partition/stop.ts";
import { timeToLossOf } from "../core/time-to-loss.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { SourceService } from "../fleet/source-service.ts";
import type { Clock } from "../ports/clock.ts";
import type { LagQueries, LagView, PartitionLag } from "../ports/control-plane.ts";
import type { BoundsAnswer } from "../ports/record-source.ts";

/** Answers lag from each source's last regular reading of its log's bounds: no request reaches the broker. */
export class LagService implements LagQueries {
  readonly #fleet: Pick<Fleet, "services" | "service">;
  readonly #clock: Clock;

  constructor(fleet: Pick<Fleet, "services" | "service">, clock: Clock) {
    this.#fleet = fleet;
    this.#clock = clock;
  }

  all(): LagView {
    return this.#view(this.#fleet.services());
  }

  ofSource(name: string): LagView {
    return this.#view([this.#fleet.service(name)]);
  }

  #view(services: readonly SourceService[]): LagView {
    const unknown = services.filter((service) => service.partitions.length === 0);
    return {
      measuredAt: this.#clock.now(),
      partitions: services.flatMap((service) => this.#ofService(service)),
      unknown: unknown.map(({ name, readings: { failure, measuredAt } }) => ({
        source: name,
        cause: failure ?? "no-partitions",
        measuredAt,
      })),
    };
  }

  #ofService(service: SourceService): readonly PartitionLag[] {
    const { readings } = service;
    return service.partitions.map((partition) => ({
      source: service.name,
      partition,
      ...this.#measure(service, partition, readings.answers.get(partition), readings.failure),
      measuredAt: readings.measuredAt,
    }));
  }

  #measure(service: SourceService, partition: number, answer: BoundsAnswer | undefined, failure: string | undefined) {
    const { lagWatch, runners } = service;
    const nowMs = this.#clock.now();
    const standing = lagWatch.standingOf(partition);
    const oldest: Oldest =
      standing === undefined
        ? { oldest: "unknown", cause: "never-committed" }
        : lagWatch.oldestOf(partition, standing.at);
    const end = endOf(answer, failure, runners.get(partition)?.state.end);
    const lag = lagOf({ standing, end, oldest, nowMs, doubt: doubtOf(service.stopOf(partition)?.stop) });
    const timeToLossSeconds = timeToLossOf({
      lag,
      at: standing?.at,
      logStart: answer?.known === true ? answer.logStart : undefined,
      oldest,
      retention: lagWatch.retention,
      rate: lagWatch.rateOf(partition),
      nowMs,
    });
    return { ...lag, timeToLossSeconds };
  }
}

/** A stop that puts the committed offset in doubt leaves nothing to count from. */
function doubtOf(stop: Stop | undefined): string | undefined {
  if (stop === undefined || mayCommit(stop)) return undefined;
  return `stopped-${stop.code.toLowerCase().replaceAll("_", "-")}`;
}

/** A fetch may have seen a later end than the last reading; the later one is the truer. */
function endOf(answer: BoundsAnswer | undefined, failure: string | undefined, fetchedEnd: number | undefined) {
  if (failure !== undefined) return { known: false, cause: failure } as const;
  if (answer === undefined) return { known: false, cause: "not-measured" } as const;
  if (!answer.known) return { known: false, cause: answer.cause } as const;
  return { known: true, offset: Math.max(answer.end, fetchedEnd ?? 0) } as const;
}
