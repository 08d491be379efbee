import { readFileSync } from "node:fs";
import type { ServerOptions as TlsOptions } from "node:https";
import type { KafkaConnection } from "../../consumers/kafka/index.ts";
import type { BrokerConfig, StreamsConfig } from "../config/index.ts";

/** What a consumer fetches at most, and in which times it lives. */
export function consumerLimits(limits: StreamsConfig["limits"]) {
  return {
    limits: {
      fetchBytes: limits.fetchBytes,
      fetchBytesPerPartition: limits.fetchBytesPerPartition,
      batchInflatedBytesMax: limits.batchDecompressedBytes,
    },
    timings: {
      sessionTimeoutMs: limits.sessionTimeoutMs,
      heartbeatMs: limits.heartbeatIntervalMs,
      rebalanceTimeoutMs: limits.rebalanceTimeoutMs,
      fetchWaitMs: limits.fetchWaitMs,
      metadataMaxAgeMs: limits.metadataMaxAgeMs,
    },
  };
}

/** How to reach the brokers, with what its files hold. */
export function kafkaConnection({ brokers, clientId, ssl, sasl }: BrokerConfig): KafkaConnection {
  return {
    brokers,
    clientId,
    ...(ssl === undefined ? {} : { ssl: readBrokerTls(ssl) }),
    ...(sasl === undefined ? {} : { sasl }),
  };
}

function readBrokerTls({ caFile, certFile, keyFile }: NonNullable<BrokerConfig["ssl"]>) {
  return {
    ...(caFile === undefined ? {} : { ca: readFileSync(caFile) }),
    ...(certFile === undefined ? {} : { cert: readFileSync(certFile) }),
    ...(keyFile === undefined ? {} : { key: readFileSync(keyFile) }),
  };
}

/** Key and certificate of the HTTP server. */
export function readTls({ certFile, keyFile }: NonNullable<StreamsConfig["http"]["tls"]>): TlsOptions {
  return { cert: readFileSync(certFile), key: readFileSync(keyFile) };
}
