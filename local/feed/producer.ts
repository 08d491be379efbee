import { Kafka, logLevel, Partitioners, type Producer } from "kafkajs";
import type { FeedRecord } from "./articles.ts";

/** A producer as a newsroom would run one: keyed by article, acknowledged by all replicas. */
export class FeedProducer {
  readonly #producer: Producer;
  readonly #topic: string;

  constructor(brokers: readonly string[], topic: string) {
    const kafka = new Kafka({ clientId: "demo-feeds", brokers: [...brokers], logLevel: logLevel.NOTHING });
    this.#producer = kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
      allowAutoTopicCreation: false,
    });
    this.#topic = topic;
  }

  async connect(): Promise<void> {
    await this.#producer.connect();
  }

  /** Sends records in order, to another topic if one is named; resolves when all replicas in sync have them. */
  async send(records: readonly FeedRecord[], topic = this.#topic): Promise<void> {
    if (records.length === 0) return;
    const messages = records.map(({ key, value, timestampMs }) => ({ key, value, timestamp: String(timestampMs) }));
    await this.#producer.send({ topic, acks: -1, messages });
  }

  async close(): Promise<void> {
    await this.#producer.disconnect();
  }
}
