import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deleteTopics, committedOffsets, createTopic } from "../../local/broker/topics.ts";
import { withAdmin } from "../../local/broker/admin.ts";
import { FeedProducer } from "../../local/feed/producer.ts";
import { ServiceProcess } from "../../local/service/service-process.ts";
import { systemClock } from "../../src/clock.ts";
import { copyKey } from "../../src/core/keys.ts";
import type { KvPlane } from "../../src/ports/kv-plane.ts";
import { openEmbeddedPlane } from "../../src/kv/embedded/open.ts";
import { silent } from "./silent.ts";
import { uniqueTopic } from "./broker.ts";

/** A topic, the service on it as a process of its own, and a producer. */
export interface Scenario {
  readonly brokers: readonly string[];
  readonly topic: string;
  readonly group: string;
  readonly partitions: number;
  readonly folder: string;
  readonly service: ServiceProcess;
  readonly producer: FeedProducer;
  close(): Promise<void>;
}

export interface ScenarioOptions {
  readonly brokers: readonly string[];
  readonly partitions: number;
  /** Members of the one source that differ from the defaults. */
  readonly source?: Readonly<Record<string, unknown>>;
  readonly limits?: Readonly<Record<string, unknown>>;
}

/** Creates the topic and starts the service on it. */
export async function openScenario(options: ScenarioOptions): Promise<Scenario> {
  const { brokers, partitions } = options;
  const topic = uniqueTopic("articles");
  const group = `ysearch-streams.${topic}`;
  await createTopic(brokers, { topic, partitions });
  const folder = await mkdtemp(join(tmpdir(), "ysearch-scenario-"));
  const config = {
    broker: { brokers: [...brokers] },
    limits: { boundsEvery: "500ms", ...options.limits },
    sources: [
      {
        name: "articles",
        kind: "documents",
        topic,
        group,
        namespace: "articles",
        descriptor: { subject: "ysearch.article" },
        ...options.source,
      },
    ],
  };
  const service = await ServiceProcess.start({ folder, config });
  const producer = new FeedProducer(brokers, topic);
  await producer.connect();
  const close = async () => {
    await producer.close();
    await service.kill();
    await deleteTopics(brokers, [topic]);
    await rm(folder, { recursive: true, force: true });
  };
  return { brokers, topic, group, partitions, folder, service, producer, close };
}

/** Opens the data itself, so the service must be dead. */
export async function withPlane<T>(folder: string, work: (plane: KvPlane) => Promise<T>): Promise<T> {
  const [a, b, c] = ["a", "b", "c"].map((owner) => join(folder, "data", owner));
  if (a === undefined || b === undefined || c === undefined) throw new Error("three owners");
  const plane = await openEmbeddedPlane({ directories: [a, b, c], writeAcks: 2, clock: systemClock, logger: silent });
  try {
    return await work(plane);
  } finally {
    await plane.close();
  }
}

/**
 * Partitions whose committed offset is not covered by copies at two owners: "no commit was ever ahead of two owners". The
 * service must be dead.
 */
export async function commitsAheadOfOwners(scenario: Scenario): Promise<readonly string[]> {
  const { brokers, group, topic, folder } = scenario;
  const committed = await committedOffsets(brokers, group, topic);
  return withPlane(folder, async (plane) => {
    const ahead: string[] = [];
    for (const [partition, offset] of committed) {
      if (offset < 0) continue;
      const answers = await plane.inspect({ space: "copy", key: copyKey("articles", 0, partition) });
      const holding = answers.filter(({ cell }) => cell !== undefined && cell.order - 1 >= offset).length;
      if (holding < 2) ahead.push(`partition ${partition}: committed ${offset}, held by ${holding} owners`);
    }
    return ahead;
  });
}

/** Moves the group back to the start of the topic; the service must be stopped. */
export async function resetGroup(scenario: Scenario): Promise<void> {
  const { brokers, group, topic, partitions } = scenario;
  await withAdmin(brokers, async (admin) => {
    const offsets = Array.from({ length: partitions }, (_unused, partition) => ({ partition, offset: "0" }));
    await admin.setOffsets({ groupId: group, topic, partitions: offsets });
  });
}
