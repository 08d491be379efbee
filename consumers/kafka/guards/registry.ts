import type { Offset } from "../../../src/core/offset.ts";
import type { FetchedPartition } from "./fetched-records.ts";
import type { ClusterInternals, ConsumerGroupInternals } from "./internals.ts";

/** Our side of one kafkajs consumer: whom the guards ask and tell. All calls are synchronous but one, and none throws. */
export interface GuardedConsumer {
  /** A fetch is about to be made under the present generation. */
  attach(group: ConsumerGroupInternals): void;
  /** Long-poll time of the next fetch in milliseconds; `flowing`: none of the group's partitions is paused. */
  longPollMs(flowing: boolean): number;
  /** Resolves when a partition may have become fetchable, or after `waitMs`. */
  untilWoken(waitMs: number): Promise<void>;
  /** The broker has nothing at this position; the partition is paused already. */
  outOfRange(partition: number, position: Offset): void;
  /** Bytes of one partition, fetched under the present generation. */
  fetched(partition: FetchedPartition, group: ConsumerGroupInternals): void;
  /** The broker could not read this partition now, for a reason that is the partition's own. */
  partitionError(partition: number, errorCode: number): void;
  /** A batch of an earlier generation was thrown away. */
  staleBatch(partition: number): void;
}

const consumers = new WeakMap<ClusterInternals, GuardedConsumer>();

/**
 * Makes `consumer` the one that answers for everything on `cluster`. The cluster object is what kafkajs hands to a
 * partition assigner, and the one thing that all parts of one consumer share.
 */
export function registerConsumer(cluster: ClusterInternals, consumer: GuardedConsumer): void {
  consumers.set(cluster, consumer);
}

/** Our side of the consumer on `cluster`; undefined for a consumer that somebody else made: it behaves as published. */
export function consumerOf(cluster: ClusterInternals): GuardedConsumer | undefined {
  return consumers.get(cluster);
}
