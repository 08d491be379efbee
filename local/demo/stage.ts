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

/** The feeds of the product, by source: which kind each is, and which built-in descriptor its producers use. */
const FEEDS = {
  articles: { kind: "documents", subject: "ysearch.article" },
  beacons: { kind: "traffic", subject: "ysearch.beacon" },
  actions: { kind: "ad_actions", subject: "ysearch.ad_action" },
  campaigns: { kind: "campaigns", subject: "ysearch.campaign" },
  dials: { kind: "dials", subject: "ysearch.dial" },
  bids: { kind: "documents", subject: "ysearch.bid" },
} as const;

/** A source of the demo. */
export type FeedName = keyof typeof FEEDS;
/** All of them. */
export const FEED_NAMES = Object.keys(FEEDS) as readonly FeedName[];

/** Everything that the demo started, and how it all ends. */
export interface Stage {
  readonly broker: LocalBroker;
  /** Topic of the articles. */
  readonly topic: string;
  readonly topics: Readonly<Record<FeedName, string>>;
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
    const topics = topicsOf(randomBytes(3).toString("hex"));
    const topic = topics.articles;
    const created = Object.values(topics).flatMap((name) => [name, `${name}.dlq`]);
    await Promise.all(created.map((name) => createTopic(broker.brokers, { topic: name, partitions: PARTITIONS })));
    if (broker.way === "external") undo.push(() => deleteTopics(broker.brokers, created));
    say(`topics ${Object.values(topics).join(", ")}, ${PARTITIONS} partitions each`);
    signal.throwIfAborted();
    const service = await ServiceProcess.start({ folder, config: configFor(broker.brokers, topics) });
    undo.push(() => service.stop());
    say(`service at ${service.url}`);
    const producer = new FeedProducer(broker.brokers, topic);
    await producer.connect();
    undo.push(() => producer.close());
    return { broker, topic, topics, service, producer, folder, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function topicsOf(suffix: string): Record<FeedName, string> {
  return {
    articles: `articles-${suffix}`,
    beacons: `beacons-${suffix}`,
    actions: `actions-${suffix}`,
    campaigns: `campaigns-${suffix}`,
    dials: `dials-${suffix}`,
    bids: `bids-${suffix}`,
  };
}

function configFor(brokers: readonly string[], topics: Readonly<Record<FeedName, string>>) {
  return {
    broker: { brokers: [...brokers] },
    log: { level: "info" },
    sources: FEED_NAMES.map((name) => ({
      name,
      kind: FEEDS[name].kind,
      topic: topics[name],
      group: `ysearch-streams.${topics[name]}`,
      namespace: name,
      format: "protobuf",
      descriptor: { subject: FEEDS[name].subject },
      startFrom: "earliest",
      onPoison: "dead-letter",
    })),
  };
}
