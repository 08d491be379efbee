import type { ConsumerConfig } from "kafkajs";
import type { ResolvedSource } from "../options.ts";

/** kafkajs' own settings for a source's consumer. */
export function consumerConfig(source: ResolvedSource): ConsumerConfig {
  const { timings, limits } = source;
  return {
    groupId: source.group,
    sessionTimeout: timings.sessionTimeoutMs,
    heartbeatInterval: timings.heartbeatMs,
    rebalanceTimeout: timings.rebalanceTimeoutMs,
    // Set anew before each fetch: see `longPollMs`.
    maxWaitTimeInMs: timings.fetchWaitMs,
    minBytes: 1,
    maxBytesPerPartition: limits.fetchBytesPerPartition,
    maxBytes: limits.fetchBytes,
    metadataMaxAge: timings.metadataMaxAgeMs,
    retry: {
      retries: 5,
      initialRetryTime: 200,
      multiplier: 2,
      factor: 0.2,
      // Nobody heartbeats during a retry's wait: several of them have to fit into a session.
      maxRetryTime: Math.floor(timings.sessionTimeoutMs / 6),
      // kafkajs' own restart forgets pauses and survives a disconnect; the supervisor builds a new consumer instead.
      restartOnFailure: async () => false,
    },
  };
}
