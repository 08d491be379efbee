import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startBroker } from "../../local/broker/start-broker.ts";
import { createTopic } from "../../local/broker/topics.ts";
import { ServiceProcess } from "../../local/service/service-process.ts";
import { BeaconLoad, type BeaconPlan } from "./beacons.ts";
import { beaconDifferences } from "./counters.ts";
import type { DrainFigures } from "./kafkajs-alone.ts";
import { RawProducer } from "./raw-producer.ts";

const run = promisify(execFile);
const BENCH = fileURLToPath(new URL("../counting.ts", import.meta.url));
const HOUR_SECONDS = 3_600;

/** A divisor of all sizes, to try the bench out: `BENCH_SHARE=20`. Figures of less than the whole say nothing. */
export const SHARE = Number(process.env["BENCH_SHARE"] ?? 1);

/** Figures of a part of the bench, by name. */
export type Figures = Readonly<Record<string, unknown>>;

/** A topic full of beacons. */
export interface FilledTopic {
  readonly topic: string;
  readonly partitions: number;
  readonly plan: BeaconPlan;
}

/** A broker, topics full of beacons, and services on them. */
export class CountingBench {
  readonly broker: string;
  readonly #root: string;

  constructor(broker: string, root: string) {
    this.broker = broker;
    this.#root = root;
  }

  /**
   * A new topic with `records` beacons over `articles` counters. Without visitors, as in what the figures are compared with,
   * the beacons have as many bytes, and the service does not count any.
   */
  async fill(partitions: number, articles: number, records: number, visitors = 0): Promise<FilledTopic> {
    const topic = `beacons-${randomBytes(4).toString("hex")}`;
    await createTopic([this.broker], { topic, partitions });
    const fromSeconds = Math.floor(Date.now() / 1_000 / HOUR_SECONDS) * HOUR_SECONDS - HOUR_SECONDS;
    const plan = {
      seed: 1,
      records: records / SHARE,
      articles: articles / SHARE,
      metrics: ["view"],
      hours: 1,
      fromSeconds,
      visitors,
    };
    const producer = await RawProducer.connect({ broker: this.broker, topic, partitions });
    await producer.send(new BeaconLoad(plan));
    producer.close();
    return { topic, partitions, plan };
  }

  /** kafkajs alone on the topic, in a process of its own. */
  async drainApart({ topic, plan }: FilledTopic): Promise<DrainFigures> {
    const args = ["--import", "tsx", BENCH, "drain", this.broker, topic, String(plan.records)];
    const { stdout } = await run(process.execPath, args);
    return JSON.parse(stdout) as DrainFigures;
  }

  /** Starts a service of its own on the topic and stops it after `task`. */
  async withService<T>(
    { topic, plan }: FilledTopic,
    task: (service: ServiceProcess, folder: string) => Promise<T>,
  ): Promise<T> {
    const folder = mkdtempSync(join(this.#root, "service-"));
    const name = "traffic";
    const counting = { visitors: plan.visitors > 0 };
    const source = { name, kind: "traffic", topic, group: folder, namespace: name, counting };
    const service = await ServiceProcess.start({
      folder,
      config: {
        broker: { brokers: [this.broker] },
        sources: [{ ...source, descriptor: { subject: "ysearch.beacon" } }],
      },
    });
    try {
      return await task(service, folder);
    } finally {
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Compares every counter with what was produced; the service must have ended. @throws Error with the first differences */
  async check(folder: string, { plan }: FilledTopic): Promise<void> {
    const differences = await beaconDifferences({ folder, source: "traffic" }, plan);
    if (differences.length > 0) throw new Error(`counters differ:\n${differences.slice(0, 10).join("\n")}`);
  }
}

/** Runs a part of the bench on a broker of its own. */
export async function withBench(measure: (bench: CountingBench) => Promise<Figures>): Promise<Figures> {
  const root = mkdtempSync(join(tmpdir(), "ysearch-bench-counting-"));
  const started = await startBroker({ way: "kafka" });
  try {
    return await measure(new CountingBench(started.brokers[0] ?? "", root));
  } finally {
    await started.stop();
    rmSync(root, { recursive: true, force: true });
  }
}
