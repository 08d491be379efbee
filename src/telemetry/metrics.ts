import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";
import {
  type ControlPlane,
  type LagView,
  PARTITION_STATES,
  type PartitionView,
  SOURCE_VIEW_STATES,
  type SourceView,
} from "../ports/control-plane.ts";
import type { JobCommands, JobStanding } from "../ports/jobs.ts";
import { OWNER_STATES, type OwnerStatus } from "../ports/kv-plane.ts";
import { SOURCE_STATES } from "../ports/record-source.ts";
import { JOBS, JOB_COUNTS } from "./job-metrics.ts";
import type { MetricOf, Series } from "./metric.ts";

/** The text that `GET /metrics` answers with, and its content type. */
export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

const PREFIX = "ysearch_streams_";

/** What metrics are read from. */
type Measured = Pick<ControlPlane, "sources" | "lag" | "owners"> & { readonly jobs: Pick<JobCommands, "standing"> };

/** What one scrape says: every series comes from it, and a series whose labels are not in it ends. */
interface Snapshot {
  readonly sources: readonly SourceView[];
  readonly partitions: readonly PartitionView[];
  readonly lag: LagView;
  readonly owners: readonly OwnerStatus[];
  readonly jobs: JobStanding;
}

type Metric = MetricOf<Snapshot>;

/**
 * Prometheus metrics read from the control plane, once for each scrape: they say the same as REST, and labels are names,
 * numbers, codes and states only.
 */
export function createMetrics(controlPlane: Measured): () => Promise<MetricsText> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  let snapshot = snapshotOf(controlPlane);
  for (const metric of [...LAG, ...SOURCES, ...PARTITIONS, ...OWNERS, ...JOBS]) gauge(registry, metric, () => snapshot);
  for (const metric of [...COUNTS, ...JOB_COUNTS]) counter(registry, metric, () => snapshot);
  return async () => {
    snapshot = snapshotOf(controlPlane);
    return { contentType: registry.contentType, text: await registry.metrics() };
  };
}

function snapshotOf({ sources, lag, owners, jobs }: Measured): Snapshot {
  const list = sources.list();
  const all = list.flatMap((source) => sources.partitions(source.name).map((partition) => ({ source, partition })));
  const elsewhere = all.filter(isElsewhere).map(({ partition }) => nameOf(partition));
  const isOurs = (row: Named): boolean => !elsewhere.includes(nameOf(row));
  const measured = lag.all();
  return {
    sources: list,
    partitions: all.map(({ partition }) => partition).filter(isOurs),
    lag: { ...measured, partitions: measured.partitions.filter(isOurs) },
    owners: owners.owners(),
    jobs: jobs.standing(),
  };
}

type Named = Pick<PartitionView, "source" | "partition">;

/**
 * Whether another member of the group reads a partition: then that one reports it, or sums over instances would count it
 * twice. While our consumer is not in the group nobody may, so everything that is known is reported.
 */
function isElsewhere({
  source,
  partition,
}: {
  readonly source: SourceView;
  readonly partition: PartitionView;
}): boolean {
  return partition.observed === "unassigned" && source.consumer.state === "joined";
}

function nameOf({ source, partition }: Named): string {
  return `${source}/${partition}`;
}

function gauge(registry: Registry, { name, help, labels, series }: Metric, snapshot: () => Snapshot): void {
  registry.registerMetric(
    new Gauge({
      name: PREFIX + name,
      help,
      labelNames: [...labels],
      registers: [],
      collect() {
        this.reset();
        for (const [of, value] of series(snapshot())) this.set(of, value);
      },
    }),
  );
}

function counter(registry: Registry, { name, help, labels, series }: Metric, snapshot: () => Snapshot): void {
  registry.registerMetric(
    new Counter({
      name: PREFIX + name,
      help,
      labelNames: [...labels],
      registers: [],
      collect() {
        this.reset();
        for (const [of, value] of series(snapshot())) this.inc(of, value);
      },
    }),
  );
}

/** 1 for the state that something is in, 0 for the others. */
function states(of: Readonly<Record<string, string | number>>, all: readonly string[], now: string): Series[] {
  return all.map((state): Series => [{ ...of, state }, state === now ? 1 : 0]);
}

function lagSeries(pick: (entry: LagView["partitions"][number]) => { known: boolean; value?: number }) {
  return ({ lag }: Snapshot) =>
    lag.partitions.flatMap((entry): readonly Series[] => {
      const { known, value } = pick(entry);
      return known && value !== undefined ? [[{ source: entry.source, partition: entry.partition }, value]] : [];
    });
}

/** How many partitions have no lag, by cause; a source of which no partition is known counts as one. */
function unknownLag({ lag }: Snapshot): readonly Series[] {
  const counts = new Map<string, { readonly of: { source: string; cause: string }; count: number }>();
  const add = (source: string, cause: string) => {
    const key = JSON.stringify([source, cause]);
    const entry = counts.get(key) ?? { of: { source, cause }, count: 0 };
    entry.count += 1;
    counts.set(key, entry);
  };
  for (const { source, records } of lag.partitions) if (!records.known) add(source, records.cause);
  for (const { source, cause } of lag.unknown) add(source, cause);
  return [...counts.values()].map(({ of, count }): Series => [of, count]);
}

const BY_PARTITION = ["source", "partition"];

const LAG: readonly Metric[] = [
  {
    name: "lag_records",
    help: "Offsets between what is applied and the end of the log. Absent while unknown.",
    labels: BY_PARTITION,
    series: lagSeries(({ records }) => records),
  },
  {
    name: "lag_seconds",
    help: "Age of the oldest unprocessed record by its broker timestamp. Absent while unknown.",
    labels: BY_PARTITION,
    series: lagSeries(({ seconds }) => seconds),
  },
  {
    name: "time_to_loss_seconds",
    help: "Seconds until the topic's retention reaches the oldest unprocessed record. Absent while unknown or nothing waits.",
    labels: BY_PARTITION,
    series: lagSeries(({ timeToLossSeconds }) => timeToLossSeconds),
  },
  {
    name: "lag_unknown_partitions",
    help: "Partitions whose lag is unknown, by cause; a source of which no partition is known counts as one.",
    labels: ["source", "cause"],
    series: unknownLag,
  },
];

const SOURCES: readonly Metric[] = [
  {
    name: "source_state",
    help: "1 for the state that a source is in, 0 for the others.",
    labels: ["source", "state"],
    series: ({ sources }) =>
      sources.flatMap(({ name, observed }) => states({ source: name }, SOURCE_VIEW_STATES, observed)),
  },
  {
    name: "consumer_state",
    help: "1 for the state that a source's consumer is in, 0 for the others.",
    labels: ["source", "state"],
    series: ({ sources }) =>
      sources.flatMap(({ name, consumer }) => states({ source: name }, SOURCE_STATES, consumer.state)),
  },
];

const PARTITIONS: readonly Metric[] = [
  {
    name: "partition_state",
    help: "1 for the state that a partition is in, 0 for the others.",
    labels: [...BY_PARTITION, "state"],
    series: ({ partitions }) =>
      partitions.flatMap(({ source, partition, observed }) =>
        states({ source, partition }, PARTITION_STATES, observed),
      ),
  },
  {
    name: "partition_in_flight_bytes",
    help: "Bytes of fetched records that are not acknowledged yet, of the partitions that this process runs.",
    labels: BY_PARTITION,
    series: ({ partitions }) =>
      partitions
        .filter(({ observed }) => observed !== "unassigned")
        .map(({ source, partition, inFlight }): Series => [{ source, partition }, inFlight.bytes]),
  },
];

function total(name: string, help: string, pick: keyof SourceView["totals"]): Metric {
  const series = ({ sources }: Snapshot) =>
    sources.map((source): Series => [{ source: source.name }, source.totals[pick]]);
  return { name, help, labels: ["source"], series };
}

const COUNTS: readonly Metric[] = [
  total(
    "records_delivered_total",
    "Records judged and kept (written, folded or dead-lettered), those read again included.",
    "delivered",
  ),
  total("records_written_total", "Cells written at W.", "written"),
  total("records_dead_lettered_total", "Records whose dead letter the broker confirmed.", "deadLettered"),
  total("records_folded_total", "Writes that a newer one of the same key in the same batch made needless.", "folded"),
  {
    name: "writes_sampled_total",
    help: "Writes that were looked at after they were acknowledged, a few a second.",
    labels: ["source"],
    series: ({ sources }) => sources.map(({ name, crossings }): Series => [{ source: name }, crossings.sampled]),
  },
  {
    name: "writes_sampled_lost_total",
    help: "Sampled writes that had lost to another partition's record: the key is produced to two partitions.",
    labels: ["source"],
    series: ({ sources }) => sources.map(({ name, crossings }): Series => [{ source: name }, crossings.lost]),
  },
  {
    name: "dead_letters_total",
    help: "Confirmed dead letters by the code of their fault.",
    labels: ["source", "code"],
    series: ({ sources }) =>
      sources.flatMap(({ name, deadLetters }) =>
        Object.entries(deadLetters).map(([code, count]): Series => [{ source: name, code }, count]),
      ),
  },
];

const OWNERS: readonly Metric[] = [
  {
    name: "owner_state",
    help: "1 for the state that an owner of the KV plane is in, 0 for the others.",
    labels: ["owner", "state"],
    series: ({ owners }) => owners.flatMap(({ owner, state }) => states({ owner }, OWNER_STATES, state)),
  },
  {
    name: "owner_not_up",
    help: "1 for an owner of the KV plane that does not count, with the code of its reason. Absent while it is up.",
    labels: ["owner", "code"],
    series: ({ owners }) =>
      owners.flatMap(({ owner, reason }): readonly Series[] =>
        reason === undefined ? [] : [[{ owner, code: reason.code }, 1]],
      ),
  },
  {
    name: "owner_missed_cells",
    help: "Cells that an owner had missed when it was last compared with the others, and was given.",
    labels: ["owner"],
    series: ({ owners }) =>
      owners.flatMap(({ owner, compared }): readonly Series[] =>
        compared === undefined ? [] : [[{ owner }, compared.missed]],
      ),
  },
  {
    name: "owner_pending_bytes",
    help: "Bytes of writes that wait for an owner.",
    labels: ["owner"],
    series: ({ owners }) => owners.map(({ owner, pendingBytes }): Series => [{ owner }, pendingBytes]),
  },
];
