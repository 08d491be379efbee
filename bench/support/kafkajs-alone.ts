import { randomUUID } from "node:crypto";
import { performance } from "node:perf_hooks";
import { Kafka, logLevel } from "kafkajs";

/** What reading a topic took, from its first batch to its last. */
export interface DrainFigures {
  readonly records: number;
  readonly seconds: number;
  /** Of the reading processes. */
  readonly cpuSeconds: number;
}

/**
 * Reads a whole topic with kafkajs as it is published, with an empty handler and its own settings: the least that a service
 * on kafkajs can cost. To be run in a process of its own, so that its guards are not installed and nothing else is counted.
 */
export async function drainWithKafkajs(broker: string, topic: string, records: number): Promise<DrainFigures> {
  const kafka = new Kafka({ clientId: "bench-alone", brokers: [broker], logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: `bench-alone-${randomUUID()}` });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  let read = 0;
  let started = 0;
  let cpu: NodeJS.CpuUsage | undefined;
  const ended = new Promise<DrainFigures>((resolve, reject) => {
    consumer.on("consumer.crash", ({ payload }) => reject(payload.error));
    const eachBatch = async ({
      batch,
    }: {
      readonly batch: { readonly messages: readonly unknown[] };
    }): Promise<void> => {
      if (cpu === undefined) {
        started = performance.now();
        cpu = process.cpuUsage();
      }
      read += batch.messages.length;
      if (read < records) return;
      const { user, system } = process.cpuUsage(cpu);
      const seconds = (performance.now() - started) / 1_000;
      resolve({ records: read, seconds, cpuSeconds: (user + system) / 1e6 });
    };
    consumer.run({ eachBatch }).catch(reject);
  });
  try {
    return await ended;
  } finally {
    await consumer.disconnect();
  }
}
