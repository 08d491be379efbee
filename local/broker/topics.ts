import { setTimeout as delay } from "node:timers/promises";

import { withAdmin } from "./admin.ts";
import { LocalBrokerError } from "./local-broker.ts";

/** A topic to create. */
export interface TopicToCreate {
  readonly topic: string;
  readonly partitions: number;
  /** Topic settings by Kafka's names. */
  readonly config?: Readonly<Record<string, string>>;
}

/** First offset held and offset next to be written of one partition. */
export interface TopicBounds {
  readonly partition: number;
  readonly logStart: number;
  readonly end: number;
}

const SETTLE_MS = 20_000;
const TURN_MS = 50;

/** Creates a topic with one replica and returns when its partitions answer. @throws LocalBrokerError when it exists. */
export async function createTopic(brokers: readonly string[], topic: TopicToCreate): Promise<void> {
  const configEntries = Object.entries(topic.config ?? {}).map(([name, value]) => ({ name, value }));
  await withAdmin(brokers, async (admin) => {
    const created = await admin.createTopics({
      // kafkajs gives up on them after two tries; a busy machine needs more, and settle() waits for them.
      waitForLeaders: false,
      topics: [{ topic: topic.topic, numPartitions: topic.partitions, replicationFactor: 1, configEntries }],
    });
    if (!created) throw new LocalBrokerError(`the topic ${topic.topic} exists already`);
  });
  await settle(brokers, topic.topic, topic.partitions);
}

/**
 * Returns when all partitions answer for their ends. The metadata name a leader a little before that broker knows of
 * it, and a request in between meets "not the leader".
 */
async function settle(brokers: readonly string[], topic: string, partitions: number): Promise<void> {
  const deadline = Date.now() + SETTLE_MS;
  for (;;) {
    try {
      if ((await topicBounds(brokers, topic)).length === partitions) return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    if (Date.now() > deadline) throw new LocalBrokerError(`${topic} did not get ${partitions} partitions`);
    await delay(TURN_MS);
  }
}

/** Deletes topics. */
export async function deleteTopics(brokers: readonly string[], topics: readonly string[]): Promise<void> {
  await withAdmin(brokers, (admin) => admin.deleteTopics({ topics: [...topics] }));
}

/** Grows a topic to `partitions` in all and returns when the new ones answer, too. */
export async function growTopic(brokers: readonly string[], topic: string, partitions: number): Promise<void> {
  await withAdmin(brokers, (admin) => admin.createPartitions({ topicPartitions: [{ topic, count: partitions }] }));
  await settle(brokers, topic, partitions);
}

/** Moves the log start of one partition up to `before`: what retention does, at once. */
export async function deleteRecords(
  brokers: readonly string[],
  topic: string,
  partition: number,
  before: number,
): Promise<void> {
  await withAdmin(brokers, async (admin) => {
    // kafkajs looks up the leader in what its client has loaded already, and nothing loads it but another call.
    await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(before) }] });
  });
}

/** The bounds of every partition, in order of partition. */
export async function topicBounds(brokers: readonly string[], topic: string): Promise<readonly TopicBounds[]> {
  const found = await withAdmin(brokers, (admin) => admin.fetchTopicOffsets(topic));
  return found
    .map(({ partition, low, high }) => ({ partition, logStart: Number(low), end: Number(high) }))
    .toSorted((left, right) => left.partition - right.partition);
}

/** The sum of all partitions' ends: how many offsets were ever given out. */
export async function topicEnd(brokers: readonly string[], topic: string): Promise<number> {
  return (await topicBounds(brokers, topic)).reduce((sum, bounds) => sum + bounds.end, 0);
}

/** What a group has committed on a topic, by partition; -1 where there is no commit. */
export async function committedOffsets(
  brokers: readonly string[],
  group: string,
  topic: string,
): Promise<ReadonlyMap<number, number>> {
  const found = await withAdmin(brokers, (admin) => admin.fetchOffsets({ groupId: group, topics: [topic] }));
  const partitions = found.find((entry) => entry.topic === topic)?.partitions ?? [];
  return new Map(partitions.map(({ partition, offset }) => [partition, Number(offset)]));
}
