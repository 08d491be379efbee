import { Partitioners, type Kafka, type Producer } from "kafkajs";
import { settleWithin } from "../client/deadline.ts";
import { createClient } from "../client/kafka-client.ts";
import type { SocketGate } from "../client/socket-gate.ts";
import { ExactMessage } from "../guards/produce-request.ts";
import type { KafkaContext } from "../options.ts";
import type { RecordToEncode } from "../records/encode-batch.ts";

const CLOSE_MS = 2_000;
const REPLICAS_WANTED = 3;

/** Settings of a dead-letter topic that is created here. */
export interface DeadLetterTopic {
  readonly partitions: number;
  readonly retentionMs: number;
  readonly maxMessageBytes: number;
}

/** Durations, in milliseconds. */
export interface PublisherTimings {
  readonly connectMs: number;
  readonly requestMs: number;
}

/** One producer with its connection, until something goes wrong with it. */
export class Publisher {
  readonly #kafka: Kafka;
  readonly #gate: SocketGate;
  readonly #producer: Producer;
  readonly #context: KafkaContext;
  readonly #timings: PublisherTimings;
  #connecting: Promise<void> | undefined;

  constructor(context: KafkaContext, timings: PublisherTimings) {
    this.#context = context;
    this.#timings = timings;
    const client = createClient(context, { ...timings, stallMs: timings.requestMs + 5_000 });
    this.#kafka = client.kafka;
    this.#gate = client.gate;
    // Not idempotent: kafkajs gives sequence numbers back after a timeout, and acknowledges what was never stored.
    this.#producer = client.kafka.producer({
      allowAutoTopicCreation: false,
      idempotent: false,
      createPartitioner: Partitioners.DefaultPartitioner,
      retry: { retries: 2, initialRetryTime: 100, maxRetryTime: 1_000 },
    });
  }

  /** Publishes the records in one request a broker. @throws whatever kafkajs throws. */
  async send(topic: string, records: readonly RecordToEncode[]): Promise<void> {
    this.#connecting ??= this.#producer.connect();
    await this.#connecting;
    const messages = records.map((record) => new ExactMessage(record));
    await this.#producer.send({ topic, acks: -1, timeout: this.#timings.requestMs, messages });
  }

  /** Creates the topic with settings that are spelt out, so that no broker default decides how long letters live. */
  async createTopic(topic: string, settings: DeadLetterTopic): Promise<void> {
    const admin = this.#kafka.admin();
    await admin.connect();
    try {
      const { brokers } = await admin.describeCluster();
      await admin.createTopics({
        waitForLeaders: true,
        timeout: this.#timings.requestMs,
        topics: [
          {
            topic,
            numPartitions: settings.partitions,
            replicationFactor: Math.min(REPLICAS_WANTED, brokers.length),
            configEntries: [
              { name: "cleanup.policy", value: "delete" },
              { name: "retention.ms", value: String(settings.retentionMs) },
              { name: "max.message.bytes", value: String(settings.maxMessageBytes) },
            ],
          },
        ],
      });
    } finally {
      await settleWithin(this.#context.clock, CLOSE_MS, admin.disconnect());
    }
  }

  /** Shuts everything within `deadlineMs`. Never rejects. */
  async close(deadlineMs: number): Promise<void> {
    await settleWithin(this.#context.clock, deadlineMs, this.#producer.disconnect());
    this.#gate.close();
  }
}
