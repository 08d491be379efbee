import { lagOf, type Oldest, acknowledgedEnd } from "../core/lag.ts";
import { timeToLossOf } from "../core/time-to-loss.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { leavesLogOpen } from "../fleet/log-doubt.ts";
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
      unknown: unknown.map((service) => ({
        source: service.name,
        cause: failureOf(service) ?? "no-partitions",
        measuredAt: service.readings.measuredAt,
      })),
    };
  }

  #ofService(service: SourceService): readonly PartitionLag[] {
    const { readings } = service;
    return service.partitions.map((partition) => ({
      source: service.name,
      partition,
      ...this.#measure(service, partition, readings.answers.get(partition), failureOf(service)),
      measuredAt: readings.measuredAt,
    }));
  }

  #measure(service: SourceService, partition: number, answer: BoundsAnswer | undefined, failure: string | undefined) {
    const { lagWatch, runners } = service;
    const nowMs = this.#clock.now();
    const standing = lagWatch.standingOf(partition);
    const oldest = isHeldBack(answer, standing?.at)
      ? HELD_BACK
      : standing === undefined
        ? NEVER_COMMITTED
        : lagWatch.oldestOf(partition, standing.at);
    const end = endOf(answer, failure, runners.get(partition)?.state.end);
    const lag = lagOf({ standing, end, oldest, nowMs, doubt: doubtOf(service, partition) });
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

const NEVER_COMMITTED: Oldest = { oldest: "unknown", cause: "never-committed" };
/** What comes next cannot be read before a transaction ends. */
const HELD_BACK: Oldest = { oldest: "unknown", cause: "open-transaction" };

function isHeldBack(answer: BoundsAnswer | undefined, at: number | undefined): boolean {
  return answer?.known === true && at !== undefined && at >= answer.end && at < acknowledgedEnd(answer);
}

/** Before the first reading the consumer may know already why there will be none. */
function failureOf({ readings, consumer }: SourceService): string | undefined {
  return readings.failure === "not-measured" ? (consumer.cause ?? readings.failure) : readings.failure;
}

/** A stop, a hold or an end that leaves open whether the log is the one that was applied leaves nothing to count from. */
function doubtOf(service: SourceService, partition: number): string | undefined {
  const stop = service.stopOf(partition)?.stop;
  if (stop !== undefined) {
    return leavesLogOpen(stop) ? `stopped-${stop.code.toLowerCase().replaceAll("_", "-")}` : undefined;
  }
  const state = service.runners.get(partition)?.state;
  if (state === undefined) return service.lagWatch.hasLost(partition) ? "end-below-position" : undefined;
  const { phase, end } = state;
  // The start is put off, again and again, for one reason alone: the log ends below what was applied.
  if (phase.phase === "starting" && phase.disputes > 0) return "end-below-position";
  if (phase.phase !== "holding" || phase.on.hold !== "bounds") return undefined;
  return end !== undefined && end < Math.max(state.watermark ?? 0, state.position ?? 0)
    ? "end-below-position"
    : "log-disputed";
}

/** A fetch may have seen a later end than the last reading; the later one is the truer. */
function endOf(answer: BoundsAnswer | undefined, failure: string | undefined, fetchedEnd: number | undefined) {
  if (failure !== undefined) return { known: false, cause: failure } as const;
  if (answer === undefined) return { known: false, cause: "not-measured" } as const;
  if (!answer.known) return { known: false, cause: answer.cause } as const;
  return { known: true, offset: Math.max(acknowledgedEnd(answer), fetchedEnd ?? 0) } as const;
}
