import { randomBytes } from "node:crypto";
import { type IHeaders, Kafka, type KafkaMessage, logLevel } from "kafkajs";
import { withAdmin } from "../broker/admin.ts";
import { LocalBrokerError } from "../broker/local-broker.ts";
import { topicBounds } from "../broker/topics.ts";

/** One record as it is shown: everything but its value, of which only the length is told. */
export interface ShownRecord {
  readonly partition: number;
  readonly offset: string;
  readonly timestamp: string;
  readonly key: string | null;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly valueBytes: number | null;
  /** Base64, where values were asked for. */
  readonly value?: string;
}

/** What {@link readTopic} reads. */
export interface ReadOptions {
  readonly topic: string;
  /** Most records of each partition, its newest. */
  readonly last: number;
  readonly values: boolean;
  readonly deadlineMs: number;
}

/**
 * The newest records of each partition up to where it ended at the call, by partition and offset. Leaves nothing on the
 * broker: its group is deleted. @throws LocalBrokerError when they do not arrive in time
 */
export async function readTopic(brokers: readonly string[], options: ReadOptions): Promise<readonly ShownRecord[]> {
  const { topic, last, values, deadlineMs } = options;
  const bounds = (await topicBounds(brokers, topic)).filter(({ logStart, end }) => end > logStart);
  if (bounds.length === 0) return [];
  const left = new Map(bounds.map(({ partition, end }) => [partition, end]));
  const found: ShownRecord[] = [];
  const group = `ysearch-local-read-${randomBytes(4).toString("hex")}`;
  const kafka = new Kafka({ clientId: "ysearch-local", brokers: [...brokers], logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: group });
  await consumer.connect();
  try {
    await consumer.subscribe({ topic, fromBeginning: true });
    await new Promise<void>((resolve, reject) => {
      const late = `the records of ${topic} did not arrive within ${deadlineMs / 1_000} s`;
      const timer = setTimeout(() => reject(new LocalBrokerError(late)), deadlineMs);
      const passed = (partition: number, next: number) => {
        if (next >= (left.get(partition) ?? Infinity)) left.delete(partition);
        if (left.size > 0) return;
        clearTimeout(timer);
        resolve();
      };
      const eachBatch = async ({
        batch,
      }: {
        batch: { partition: number; messages: KafkaMessage[]; lastOffset(): string };
      }) => {
        const end = left.get(batch.partition) ?? 0;
        for (const message of batch.messages)
          if (Number(message.offset) < end) found.push(show(batch.partition, message, values));
        passed(batch.partition, Number(batch.lastOffset()) + 1);
      };
      consumer.run({ autoCommit: false, eachBatch }).catch(reject);
      for (const { partition, logStart, end } of bounds)
        consumer.seek({ topic, partition, offset: String(Math.max(logStart, end - last)) });
    });
  } finally {
    await consumer.disconnect();
    await withAdmin(brokers, (admin) => admin.deleteGroups([group])).catch(() => undefined);
  }
  return found.toSorted((a, b) => a.partition - b.partition || Number(a.offset) - Number(b.offset));
}

function show(partition: number, message: KafkaMessage, values: boolean): ShownRecord {
  const { offset, timestamp, key, value, headers } = message;
  return {
    partition,
    offset,
    timestamp: new Date(Number(timestamp)).toISOString(),
    key: key?.toString("utf8") ?? null,
    headers: textsOf(headers ?? {}),
    valueBytes: value?.length ?? null,
    ...(values && value !== null ? { value: value.toString("base64") } : {}),
  };
}

function textsOf(headers: IHeaders): ShownRecord["headers"] {
  const text = (value: Buffer | string) => (typeof value === "string" ? value : value.toString("utf8"));
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(text) : value === undefined ? "" : text(value),
    ]),
  );
}
