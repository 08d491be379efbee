import { Kafka, logLevel, Partitioners, type Message, type Producer, type ProducerConfig } from "kafkajs";

/** A silent kafkajs client for what a test does around the source. */
export function plainKafka(brokers: readonly string[]): Kafka {
  return new Kafka({ clientId: "ysearch-test", brokers: [...brokers], logLevel: logLevel.NOTHING });
}

/** Runs `task` with a connected producer. */
export async function withProducer<T>(
  brokers: readonly string[],
  task: (producer: Producer) => Promise<T>,
  config: ProducerConfig = {},
): Promise<T> {
  const producer = plainKafka(brokers).producer({
    allowAutoTopicCreation: false,
    createPartitioner: Partitioners.DefaultPartitioner,
    ...config,
  });
  await producer.connect();
  try {
    return await task(producer);
  } finally {
    await producer.disconnect();
  }
}

/** Produces `count` records with values `p<partition>-<n>` to each of the partitions, in one request. */
export async function fill(
  brokers: readonly string[],
  topic: string,
  partitions: readonly number[],
  count: number,
  from = 0,
): Promise<void> {
  const messages: Message[] = partitions.flatMap((partition) =>
    Array.from({ length: count }, (_, index) => ({
      partition,
      key: `k${from + index}`,
      value: `p${partition}-${from + index}`,
    })),
  );
  await withProducer(brokers, (producer) => producer.send({ topic, messages }));
}
