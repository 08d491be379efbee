import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";

import { Kafka, logLevel } from "kafkajs";
import { expect, test } from "vitest";

import { freePorts } from "../../local/broker/ports.ts";
import { ForeignBrokerError, waitUntilReady } from "../../local/broker/readiness.ts";
import {
  committedOffsets,
  createTopic,
  deleteRecords,
  deleteTopics,
  growTopic,
  topicBounds,
  topicEnd,
} from "../../local/broker/topics.ts";
import { startOwnBroker, uniqueTopic, useBroker } from "../support/broker.ts";

/** Produces `values` to partition 0 with acks=all. */
async function produce(brokers: readonly string[], topic: string, values: readonly string[]): Promise<void> {
  const producer = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
  await producer.send({ topic, acks: -1, messages: values.map((value) => ({ value, partition: 0 })) });
  await producer.disconnect();
}

/** Reads `count` values from the beginning in a group of its own, at once and without retries of its join. */
async function read(brokers: readonly string[], topic: string, count: number): Promise<readonly string[]> {
  const kafka = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING, retry: { retries: 0 } });
  const consumer = kafka.consumer({ groupId: uniqueTopic("readers") });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const values: string[] = [];
  await new Promise<void>((resolve, reject) => {
    consumer
      .run({
        eachMessage: async ({ message }) => {
          values.push(message.value?.toString("utf8") ?? "");
          if (values.length === count) resolve();
        },
      })
      .catch(reject);
  });
  await consumer.disconnect();
  return values;
}

test("the shared broker takes topics, records and a first group join at once", async () => {
  const brokers = useBroker();
  const topic = uniqueTopic("shared");
  await createTopic(brokers, { topic, partitions: 2, config: { "retention.ms": "600000" } });
  await produce(brokers, topic, ["a", "b", "c"]);
  expect(await read(brokers, topic, 3)).toEqual(["a", "b", "c"]);
  await deleteRecords(brokers, topic, 0, 2);
  expect(await topicBounds(brokers, topic)).toEqual([
    { partition: 0, logStart: 2, end: 3 },
    { partition: 1, logStart: 0, end: 0 },
  ]);
});

test("topics grow, tell what was committed, and are deleted", async () => {
  const brokers = useBroker();
  const topic = uniqueTopic("grown");
  await createTopic(brokers, { topic, partitions: 1 });
  await expect(createTopic(brokers, { topic, partitions: 1 })).rejects.toThrow(/exists already/);
  await produce(brokers, topic, ["a", "b"]);
  await growTopic(brokers, topic, 3);
  expect(await topicEnd(brokers, topic)).toBe(2);
  const committed = await committedOffsets(brokers, uniqueTopic("nobody"), topic);
  expect([...committed.values()]).toEqual([-1, -1, -1]);
  await deleteTopics(brokers, [topic]);
  await expect(topicBounds(brokers, topic)).rejects.toThrow();
});

test("a killed broker comes back at its address with its records, beside another one", async () => {
  const shared = useBroker();
  const own = await startOwnBroker();
  expect(own.brokers).not.toEqual(shared);
  const topic = uniqueTopic("killed");
  await createTopic(own.brokers, { topic, partitions: 1 });
  await produce(own.brokers, topic, ["kept", "too"]);
  const before = own.brokers;
  await own.kill();
  await expect(topicBounds(own.brokers, topic)).rejects.toThrow();
  await own.restart();
  expect(own.brokers).toEqual(before);
  expect(await read(own.brokers, topic, 2)).toEqual(["kept", "too"]);
  await expect(topicBounds(shared, topic)).rejects.toThrow();
});

test("a broker that cannot start says why, with the end of its log, and leaves nothing", async () => {
  const folders = async (): Promise<readonly string[]> =>
    (await readdir(tmpdir())).filter((name) => name.startsWith("ysearch-broker-"));
  const before = await folders();
  const settings = { "authorizer.class.name": "no.such.Authorizer" };
  await expect(startOwnBroker({ settings })).rejects.toThrow(/Kafka ended while it started[^]*no\.such\.Authorizer/);
  expect((await folders()).filter((name) => !before.includes(name))).toEqual([]);
});

test("a port that is taken is an error when it was asked for", async () => {
  const [address = ""] = useBroker();
  await expect(startOwnBroker({ port: Number(address.split(":")[1]) })).rejects.toThrow(/is taken by somebody else/);
});

test("another cluster at the address is not mistaken for ours", async () => {
  const wait = waitUntilReady({ brokers: useBroker(), clusterId: "MkU3OEVBNTcwNTJENDM2Qg", deadlineMs: 5_000 });
  await expect(wait).rejects.toThrow(ForeignBrokerError);
});

test("where nobody answers, waiting ends at its deadline", async () => {
  const [port = 0] = await freePorts(1);
  const wait = waitUntilReady({ brokers: [`127.0.0.1:${port}`], clusterId: undefined, deadlineMs: 300 });
  await expect(wait).rejects.toThrow(/no broker was ready at 127\.0\.0\.1:\d+ after 300 ms/);
});

test("a start can be cancelled", async () => {
  await expect(startOwnBroker({ signal: AbortSignal.abort() })).rejects.toThrow(/abort/);
});
