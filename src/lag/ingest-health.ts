import type { Fleet } from "../fleet/fleet.ts";
import type { SourceService } from "../fleet/source-service.ts";
import type { LagQueries, LagView, PartitionLag } from "../ports/control-plane.ts";
import type { IngestHealth, IngestLimits, IngestReason, SourceIngestHealth } from "../ports/ingest.ts";

/** What the judgement needs of the fleet. */
type Sources = Pick<Fleet, "services" | "service" | "phase">;

/**
 * Whether ingestion is within a caller's limits, from the snapshot that lag answers with: no request reaches the broker.
 * What is unknown is not within limits (I14).
 */
export class IngestJudge {
  readonly #fleet: Sources;
  readonly #lag: LagQueries;
  readonly #hasQuorum: () => boolean;

  /** `hasQuorum`: whether enough owners are up for a write to count; without, an idle source would look well. */
  constructor(fleet: Sources, lag: LagQueries, hasQuorum: () => boolean) {
    this.#fleet = fleet;
    this.#lag = lag;
    this.#hasQuorum = hasQuorum;
  }

  /** @throws StreamsError SOURCE_UNKNOWN */
  ingest(limits: IngestLimits): IngestHealth {
    const { source } = limits;
    const services = source === undefined ? this.#fleet.services() : [this.#fleet.service(source)];
    const lag = source === undefined ? this.#lag.all() : this.#lag.ofSource(source);
    const store: readonly IngestReason[] = this.#hasQuorum()
      ? []
      : [{ reason: "no-quorum", cause: "KV_NO_QUORUM", partitions: [] }];
    const sources = services.map((service) => judge(service, lag, limits, store));
    const { phase } = this.#fleet;
    const healthy = phase !== "starting" && sources.every((entry) => entry.healthy);
    return { healthy, phase, measuredAt: lag.measuredAt, sources };
  }
}

function judge(
  service: SourceService,
  lag: LagView,
  limits: IngestLimits,
  store: readonly IngestReason[],
): SourceIngestHealth {
  const rows = lag.partitions.filter(({ source }) => source === service.name);
  const stopped = service.partitions.filter((partition) => service.stopOf(partition) !== undefined);
  const unknown = lag.unknown.filter(({ source }) => source === service.name);
  const reasons = [
    ...store,
    ...unknown.map(({ cause }): IngestReason => ({ reason: "lag-unknown", cause, partitions: [] })),
    ...(service.refusal === undefined ? [] : [refused(service.refusal.code)]),
    ...(stopped.length > limits.maxStopped ? [...byStop(service, stopped)] : []),
    ...lagReasons(rows, limits.maxLagSeconds),
  ];
  const holding = service.partitions.filter((partition) => isHolding(service, partition));
  return { source: service.name, healthy: reasons.length === 0, stopped: stopped.length, holding, reasons };
}

/** A start that was tried and failed holds as well. */
function isHolding({ runners }: SourceService, partition: number): boolean {
  const phase = runners.get(partition)?.state.phase;
  return phase?.phase === "holding" || (phase?.phase === "starting" && phase.cause !== undefined);
}

function refused(cause: string): IngestReason {
  return { reason: "not-started", cause, partitions: [] };
}

function byStop(service: SourceService, stopped: readonly number[]): readonly IngestReason[] {
  return grouped("stopped", stopped, (partition) => service.stopOf(partition)?.stop.code ?? "STOPPED");
}

/** Without a limit of seconds lag may be anything, but it must be known. */
function lagReasons(rows: readonly PartitionLag[], maxLagSeconds: number | undefined): readonly IngestReason[] {
  const measure = ({ records, seconds }: PartitionLag) => (maxLagSeconds === undefined ? records : seconds);
  const unknown = rows.filter((row) => !measure(row).known);
  const above = rows.filter(({ seconds }) => {
    return maxLagSeconds !== undefined && seconds.known && seconds.value > maxLagSeconds;
  });
  const causeOf = new Map(
    unknown.map((row) => {
      const measured = measure(row);
      return [row.partition, measured.known ? "" : measured.cause] as const;
    }),
  );
  const numbers = (list: readonly PartitionLag[]) => list.map(({ partition }) => partition);
  return [
    ...grouped("lag-unknown", numbers(unknown), (partition) => causeOf.get(partition) ?? ""),
    ...grouped("lag-above-limit", numbers(above), () => "above-limit"),
  ];
}

/** One reason for each cause, with its partitions. */
function grouped(
  reason: IngestReason["reason"],
  partitions: readonly number[],
  causeOf: (partition: number) => string,
): readonly IngestReason[] {
  const byCause = new Map<string, number[]>();
  for (const partition of partitions) {
    const cause = causeOf(partition);
    byCause.set(cause, [...(byCause.get(cause) ?? []), partition]);
  }
  return [...byCause].map(([cause, named]) => ({ reason, cause, partitions: named }));
}
