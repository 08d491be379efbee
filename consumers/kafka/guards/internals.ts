/**
 * The part of kafkajs' internals that the guards and the source touch, as types. The values come from `loadInternal`,
 * which checks that the members exist; their texts are pinned by digest where a guard replaces them.
 */

/** Partitions of a topic, as kafkajs lists them. */
export interface TopicPartitions {
  readonly topic: string;
  readonly partitions: readonly number[];
}

/** Identity is enough: what a consumer is registered under. */
export interface ClusterInternals {
  disconnect(): Promise<void>;
}

/** What is to be committed; an offset is a string or kafkajs' own Long. */
export interface CommitRequest {
  readonly topics: ReadonlyArray<{
    readonly topic: string;
    readonly partitions: ReadonlyArray<{
      readonly partition: number;
      readonly offset: string | { toString(): string };
    }>;
  }>;
}

/** Rebuilt by kafkajs at each join, so that its identity stands for one generation of the group. */
export interface OffsetManagerInternals {
  readonly generationId: number;
  readonly memberAssignment: Readonly<Record<string, readonly number[]>>;
  nextOffset(topic: string, partition: number): { toString(): string };
  committedOffsets(): Record<string, Record<number, string>>;
  commitOffsets: (this: OffsetManagerInternals, offsets: CommitRequest) => Promise<void>;
  setDefaultOffset: (this: OffsetManagerInternals, at: { topic: string; partition: number }) => Promise<void>;
}

/** One member's view of its group. */
export interface ConsumerGroupInternals {
  readonly cluster: ClusterInternals;
  readonly groupId: string;
  /** Null before the first join, and once the group was left. */
  readonly memberId: string | null;
  /** Long-poll time in milliseconds, read at each fetch. */
  maxWaitTime: number;
  readonly offsetManager: OffsetManagerInternals | null;
  readonly preferredReadReplicasPerTopicPartition: Readonly<Record<string, Record<number, unknown>>>;
  assigned(): TopicPartitions[];
  isPaused(topic: string, partition: number): boolean;
  pause(at: readonly TopicPartitions[]): void;
  resolveOffset(at: { topic: string; partition: number; offset: string }): void;
  filterPartitionsByNode(nodeId: string, at: TopicPartitions[]): TopicPartitions[];
  fetch: (this: ConsumerGroupInternals, nodeId: string) => Promise<StockBatch[]>;
  recoverFromOffsetOutOfRange: (
    this: ConsumerGroupInternals,
    error: { topic: string; partition: number },
  ) => Promise<void>;
}

/** A batch as kafkajs' workers pass it on. */
export interface StockBatch {
  readonly topic: string;
  readonly partition: number;
  readonly fetchedOffset: string;
  readonly rawMessages: unknown;
}

/** What drives the fetch loops and handles their batches. */
export interface RunnerInternals {
  readonly running: boolean;
  readonly consumerGroup: ConsumerGroupInternals;
  heartbeat(): Promise<void>;
  handleBatch: (this: RunnerInternals, batch: StockBatch) => Promise<void>;
}

/** Requests to one broker. */
export interface BrokerInternals {
  offsetCommit: (this: BrokerInternals, request: CommitRequest) => Promise<unknown>;
}

/** Requests that wait to be written to one connection. */
export interface RequestQueueInternals {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests: (this: RequestQueueInternals) => void;
}

/** One connection to one broker, and how long the login on it holds. */
export interface ConnectionInternals {
  /** Milliseconds that the broker gave the last login; 0: without end. */
  readonly sessionLifetime: { toNumber(): number };
  /** Milliseconds before the end of a login at which it is renewed. */
  reauthenticationThreshold: number;
  isAuthenticated: (this: ConnectionInternals) => boolean;
}
