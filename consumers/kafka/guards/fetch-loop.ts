import { FetchedRecords } from "./fetched-records.ts";
import type { ConsumerGroupInternals, OffsetManagerInternals, RunnerInternals, StockBatch } from "./internals.ts";
import { loadClass, requireText } from "./pin.ts";
import { consumerOf, type GuardedConsumer } from "./registry.ts";
import { toStockBatch } from "./stock-batch.ts";

/** Under which generation a batch was fetched. kafkajs builds one offset manager per join. */
const fetchedUnder = new WeakMap<StockBatch, OffsetManagerInternals>();

/**
 * G6, and the second half of G5. Published behaviour: a batch that was fetched before a rejoin is resolved after it, in
 * the new generation, which skips whatever is not committed yet:
 *
 * 1. broker A's response waits in the queue, broker B's fetcher meets a moved leader and rejoins;
 * 2. the join resets every position to the group's commit;
 * 3. the queued batch is handled and resolved: the position jumps past the uncommitted records for good.
 *
 * Guarded: a batch carries the generation it was fetched under and is thrown away under any other; batches of our own
 * consumers go to them as bytes, those of anybody else become kafkajs' own batches again.
 */
export function guardFetchLoop(): void {
  guardFetch();
  guardHandleBatch();
}

function guardFetch(): void {
  const { prototype: group } = loadClass<ConsumerGroupInternals>("src/consumer/consumerGroup.js", [
    "fetch",
    "assigned",
    "isPaused",
    "resolveOffset",
    "filterPartitionsByNode",
  ]);
  const original = group.fetch;
  requireText("ConsumerGroup.fetch", original, "e2e52d81f1e13b90");
  group.fetch = async function fetchUnderGeneration(this: ConsumerGroupInternals, nodeId): Promise<StockBatch[]> {
    const consumer = consumerOf(this.cluster);
    if (consumer !== undefined) {
      consumer.attach(this);
      this.maxWaitTime = consumer.longPollMs(isFlowing(this));
      if (!mayFetch(this, nodeId)) return idle(this, consumer);
      seedCommitted(this);
    }
    const generation = this.offsetManager;
    const batches = await original.call(this, nodeId);
    const owned = consumer === undefined ? await Promise.all(batches.map(toStockBatch)) : sound(batches, consumer);
    if (generation !== null) for (const batch of owned) fetchedUnder.set(batch, generation);
    return owned;
  };
}

/** The batches without those of partitions that the broker could not read: their consumer is told. */
function sound(batches: readonly StockBatch[], consumer: GuardedConsumer): StockBatch[] {
  return batches.filter(({ partition, rawMessages }) => {
    const errorCode = rawMessages instanceof FetchedRecords ? rawMessages.response.errorCode : 0;
    if (errorCode !== 0) consumer.partitionError(partition, errorCode);
    return errorCode === 0;
  });
}

/** How often a loop in which everything is paused still takes kafkajs' way, which refreshes the metadata. */
const REFRESH_EVERY = 20;
const idleRounds = new WeakMap<ConsumerGroupInternals, number>();

/** Whether any partition that this broker leads is not paused; true now and then regardless, for the metadata. */
function mayFetch(group: ConsumerGroupInternals, nodeId: string): boolean {
  const rounds = (idleRounds.get(group) ?? 0) + 1;
  const active = rounds >= REFRESH_EVERY || hasActive(group, nodeId);
  idleRounds.set(group, active ? 0 : rounds);
  return active;
}

function isFlowing(group: ConsumerGroupInternals): boolean {
  return group
    .assigned()
    .every(({ topic, partitions }) => partitions.every((partition) => !group.isPaused(topic, partition)));
}

function hasActive(group: ConsumerGroupInternals, nodeId: string): boolean {
  try {
    const led = group.filterPartitionsByNode(nodeId, group.assigned());
    return led.some(({ topic, partitions }) => partitions.some((partition) => !group.isPaused(topic, partition)));
  } catch {
    // Metadata that is missing or odd: kafkajs' own way raises what it has to.
    return true;
  }
}

/** kafkajs would sleep deaf for the whole long-poll time: a `begin` or `resume` in it must not wait that long. */
async function idle(group: ConsumerGroupInternals, consumer: GuardedConsumer): Promise<StockBatch[]> {
  await consumer.untilWoken(group.maxWaitTime);
  return [];
}

/**
 * Positions of our consumers come from explicit seeks alone. kafkajs only fetches what has an entry here, and would
 * otherwise ask the broker for a default position per partition without a commit, which one leaderless partition fails
 * for all.
 */
function seedCommitted(group: ConsumerGroupInternals): void {
  if (group.offsetManager === null) return;
  const committed = group.offsetManager.committedOffsets();
  for (const { topic, partitions } of group.assigned()) {
    const entries = (committed[topic] ??= {});
    for (const partition of partitions) entries[partition] ??= "0";
  }
}

function guardHandleBatch(): void {
  const { prototype: runner } = loadClass<RunnerInternals>("src/consumer/runner.js", ["handleBatch", "heartbeat"]);
  const original = runner.handleBatch;
  requireText("Runner.handleBatch", original, "cd348d7458107457");
  runner.handleBatch = async function handleUnderGeneration(this: RunnerInternals, batch): Promise<void> {
    const group = this.consumerGroup;
    const consumer = consumerOf(group.cluster);
    const generation = fetchedUnder.get(batch);
    if (this.running && generation !== undefined && generation !== group.offsetManager) {
      consumer?.staleBatch(batch.partition);
      return;
    }
    if (!this.running || consumer === undefined) {
      await original.call(this, batch);
      return;
    }
    if (!(batch.rawMessages instanceof FetchedRecords)) {
      throw new TypeError("the broker only knows fetch versions from before record batches (Apache Kafka 0.11)");
    }
    const position = Number(batch.fetchedOffset);
    consumer.fetched({ ...batch.rawMessages.response, position }, group);
    await this.heartbeat();
  };
}
