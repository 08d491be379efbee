import { collectDefaultMetrics, Counter, Gauge, type GaugeConfiguration, Registry } from "prom-client";
import { type ControlPlane, PARTITION_STATES } from "../ports/control-plane.ts";
import { OWNER_STATES } from "../ports/kv-plane.ts";

/** The text that `GET /metrics` answers with, and its content type. */
export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

const PREFIX = "ysearch_streams_";
const PARTITION_LABELS = ["source", "partition"] as const;

/**
 * Prometheus metrics read from the control plane at each scrape: they say the same as REST, series of partitions and
 * owners that are gone end by themselves, and labels are names, numbers and states only.
 */
export function createMetrics(controlPlane: ControlPlane): () => Promise<MetricsText> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  addLag(registry, controlPlane);
  addPartitions(registry, controlPlane);
  addOwners(registry, controlPlane);
  return async () => ({ contentType: registry.contentType, text: await registry.metrics() });
}

function keep<T extends string>(registry: Registry, gauge: GaugeConfiguration<T>): void {
  registry.registerMetric(new Gauge(gauge));
}

function addLag(registry: Registry, { lag }: ControlPlane): void {
  const gauge = (name: string, help: string, pick: (entry: LagEntry) => LagEntry["records"]) =>
    keep(registry, {
      name: PREFIX + name,
      help: `${help} Absent while unknown.`,
      labelNames: PARTITION_LABELS,
      registers: [],
      collect() {
        this.reset();
        for (const entry of lag.all().partitions) {
          const measured = pick(entry);
          if (measured.known) this.set({ source: entry.source, partition: entry.partition }, measured.value);
        }
      },
    });
  gauge("lag_records", "Offsets between what is applied and the end of the log.", (entry) => entry.records);
  gauge("lag_seconds", "Age of the oldest unprocessed record by its broker timestamp.", (entry) => entry.seconds);
}

type LagEntry = ReturnType<ControlPlane["lag"]["all"]>["partitions"][number];

function addPartitions(registry: Registry, { sources }: ControlPlane): void {
  const all = () => sources.list().flatMap((source) => sources.partitions(source.name));
  keep(registry, {
    name: `${PREFIX}partition_state`,
    help: "1 for the state that a partition is in, 0 for the others.",
    labelNames: [...PARTITION_LABELS, "state"],
    registers: [],
    collect() {
      this.reset();
      for (const { source, partition, observed } of all()) {
        for (const state of PARTITION_STATES) this.set({ source, partition, state }, state === observed ? 1 : 0);
      }
    },
  });
  keep(registry, {
    name: `${PREFIX}partition_in_flight_bytes`,
    help: "Bytes of fetched records that are not acknowledged yet.",
    labelNames: PARTITION_LABELS,
    registers: [],
    collect() {
      this.reset();
      for (const { source, partition, inFlight } of all()) this.set({ source, partition }, inFlight.bytes);
    },
  });
  addCounts(registry, sources);
}

function addCounts(registry: Registry, sources: ControlPlane["sources"]): void {
  const counter = (name: keyof ReturnType<typeof sources.list>[number]["totals"], help: string) =>
    registry.registerMetric(
      new Counter({
        name: `${PREFIX}records_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}_total`,
        help,
        labelNames: ["source"],
        registers: [],
        collect() {
          this.reset();
          for (const source of sources.list()) this.inc({ source: source.name }, source.totals[name]);
        },
      }),
    );
  counter("delivered", "Records delivered to this process, those read again included.");
  counter("written", "Cells written at W.");
  counter("deadLettered", "Records whose dead letter the broker confirmed.");
  counter("folded", "Writes that a newer one of the same key in the same batch made needless.");
}

function addOwners(registry: Registry, { owners }: ControlPlane): void {
  keep(registry, {
    name: `${PREFIX}owner_state`,
    help: "1 for the state that an owner of the KV plane is in, 0 for the others.",
    labelNames: ["owner", "state"],
    registers: [],
    collect() {
      this.reset();
      for (const { owner, state } of owners.owners()) {
        for (const name of OWNER_STATES) this.set({ owner, state: name }, name === state ? 1 : 0);
      }
    },
  });
  keep(registry, {
    name: `${PREFIX}owner_pending_bytes`,
    help: "Bytes of writes that wait for an owner.",
    labelNames: ["owner"],
    registers: [],
    collect() {
      this.reset();
      for (const { owner, pendingBytes } of owners.owners()) this.set({ owner }, pendingBytes);
    },
  });
}
