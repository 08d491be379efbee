import { Kafka, logLevel, PartitionAssigners, type Cluster, type Consumer, type ConsumerConfig } from "kafkajs";
import { installGuards } from "../guards/index.ts";
import type { KafkaContext } from "../options.ts";
import { keepCoordinatorRefusal } from "./coordinator-refusal.ts";
import { createLogAdapter } from "./log-adapter.ts";
import { SocketGate } from "./socket-gate.ts";

const REAUTHENTICATION_MS = 20_000;

/** Durations of one kafkajs client, in milliseconds. */
export interface ClientTimings {
  readonly connectMs: number;
  readonly requestMs: number;
  /** How long a connection may owe an answer: above the longest that a broker may hold a request. */
  readonly stallMs: number;
}

/** One kafkajs client and the gate in front of its sockets. */
export interface GuardedClient {
  readonly kafka: Kafka;
  readonly gate: SocketGate;
}

/**
 * Makes a kafkajs client with the guards in place. Few retries inside: whoever owns the client tries again with its own
 * backoff, and knows why.
 * @throws GuardMismatch when the installed kafkajs is not the one that the guards know.
 */
export function createClient(context: KafkaContext, timings: ClientTimings): GuardedClient {
  installGuards();
  const gate = new SocketGate(context.clock, timings.stallMs);
  const kafka = new Kafka({
    brokers: [...context.brokers],
    clientId: context.clientId,
    ...(context.ssl === undefined ? {} : { ssl: context.ssl }),
    // A copy: kafkajs writes into the object, and a configuration is frozen.
    ...(context.sasl === undefined ? {} : { sasl: { ...context.sasl } }),
    connectionTimeout: timings.connectMs,
    authenticationTimeout: timings.connectMs,
    reauthenticationThreshold: REAUTHENTICATION_MS,
    requestTimeout: timings.requestMs,
    enforceRequestTimeout: true,
    retry: { retries: 2, initialRetryTime: 100, maxRetryTime: 1_000 },
    socketFactory: gate.open,
    logLevel: logLevel.INFO,
    logCreator: createLogAdapter(context.logger, context.clock),
  });
  return { kafka, gate };
}

/** A consumer and the cluster object beneath it, which kafkajs shows to partition assigners alone. */
export interface ConsumerWithCluster {
  readonly consumer: Consumer;
  readonly cluster: Cluster;
}

/** Makes a consumer, assigning round robin: every member of a group of ours subscribes to the same one topic. */
export function createConsumer(kafka: Kafka, config: ConsumerConfig): ConsumerWithCluster {
  let cluster: Cluster | undefined;
  const consumer = kafka.consumer({
    ...config,
    allowAutoTopicCreation: false,
    readUncommitted: false,
    partitionAssigners: [
      (setup) => {
        cluster = setup.cluster;
        return PartitionAssigners.roundRobin(setup);
      },
    ],
  });
  if (cluster === undefined) throw new Error("kafkajs did not ask for an assigner");
  keepCoordinatorRefusal(cluster);
  return { consumer, cluster };
}
