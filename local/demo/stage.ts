import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import type { LocalBroker } from "../broker/local-broker.ts";
import { startBroker } from "../broker/start-broker.ts";
import { createTopic, deleteTopics } from "../broker/topics.ts";
import { FeedProducer } from "../feed/producer.ts";
import { ServiceProcess } from "../service/service-process.ts";

export const PARTITIONS = 4;

/** Everything that the demo started, and how it all ends. */
export interface Stage {
  readonly broker: LocalBroker;
  readonly topic: string;
  readonly service: ServiceProcess;
  readonly producer: FeedProducer;
  readonly folder: string;
  close(): Promise<void>;
}

/** One line of progress. */
export function say(line: string): void {
  console.log(`[demo] ${line}`);
}

/** Starts a broker, creates topics, starts the service and a producer. What was started is stopped again if a step fails. */
export async function openStage(signal: AbortSignal): Promise<Stage> {
  const undo: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const step of undo.toReversed())
      await step().catch((error: unknown) => say(`while stopping: ${String(error)}`));
    undo.length = 0;
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), "ysearch-demo-"));
    undo.push(() => rm(folder, { recursive: true, force: true }));
    const broker = await startBroker({ onProgress: say, signal });
    undo.push(() => broker.stop());
    say(`broker at ${broker.brokers.join(",")} (${broker.way})`);
    // On a broker of somebody else's, several demos may run side by side.
    const topic = `articles-${randomBytes(3).toString("hex")}`;
    for (const name of [topic, `${topic}.dlq`])
      await createTopic(broker.brokers, { topic: name, partitions: PARTITIONS });
    if (broker.way === "external") undo.push(() => deleteTopics(broker.brokers, [topic, `${topic}.dlq`]));
    say(`topic ${topic} with ${PARTITIONS} partitions`);
    signal.throwIfAborted();
    const service = await ServiceProcess.start({ folder, config: configFor(broker.brokers, topic) });
    undo.push(() => service.stop());
    say(`service at ${service.url}`);
    const producer = new FeedProducer(broker.brokers, topic);
    await producer.connect();
    undo.push(() => producer.close());
    return { broker, topic, service, producer, folder, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function configFor(brokers: readonly string[], topic: string) {
  return {
    broker: { brokers: [...brokers] },
    log: { level: "info" },
    sources: [
      {
        name: "articles",
        kind: "documents",
        topic,
        group: `ysearch-streams.${topic}`,
        namespace: "articles",
        format: "protobuf",
        descriptor: { subject: "ysearch.article" },
        startFrom: "earliest",
        onPoison: "dead-letter",
      },
    ],
  };
}
