import type { ConsumerGroupInternals } from "./internals.ts";
import { loadClass, requireText } from "./pin.ts";
import { consumerOf } from "./registry.ts";

/**
 * G1. Published behaviour: an offset out of range commits −1 or −2 for the group (auto-commit off or on) and goes on
 * at one end of the log. Guarded: the partition is paused and reported; nothing is committed, nothing moves.
 */
export function guardOutOfRange(): void {
  const { prototype: group } = loadClass<ConsumerGroupInternals>("src/consumer/consumerGroup.js", [
    "recoverFromOffsetOutOfRange",
    "pause",
  ]);
  requireText("recoverFromOffsetOutOfRange", group.recoverFromOffsetOutOfRange, "a61c4ed52db5ea75");
  group.recoverFromOffsetOutOfRange = stopPartition;
}

async function stopPartition(this: ConsumerGroupInternals, at: { topic: string; partition: number }): Promise<void> {
  const { topic, partition } = at;
  const replicas = this.preferredReadReplicasPerTopicPartition[topic];
  if (replicas?.[partition] !== undefined) {
    // A follower that lags answers "out of range" for what the leader has: ask the leader.
    delete replicas[partition];
    return;
  }
  const position = positionOf(this, topic, partition);
  this.pause([{ topic, partitions: [partition] }]);
  consumerOf(this.cluster)?.outOfRange(partition, position);
}

/** The position that was asked for; −1 when kafkajs does not know it any more (the assignment changed meanwhile). */
function positionOf(group: ConsumerGroupInternals, topic: string, partition: number): number {
  try {
    return Number(group.offsetManager?.nextOffset(topic, partition).toString() ?? -1);
  } catch {
    return -1;
  }
}
