import { describe, expect, it } from "vitest";

import { committedOffsets, createTopic, deleteRecords } from "../../local/broker/topics.ts";
import { producePerformance } from "../../local/broker/producer-performance.ts";
import { fill, plainKafka } from "../consumers/kafka/support/producing.ts";
import { runScript } from "../consumers/kafka/support/run-script.ts";
import { uniqueTopic, useBroker } from "../support/broker.ts";

/**
 * What kafkajs does as published, each in a process without guards. A test that fails here says that a guard has lost
 * its reason, or that its reason has changed: then the guard is to be looked at again.
 */
const brokers = useBroker();

const CONSUMER = `
  const { Kafka, logLevel } = require("kafkajs");
  const [broker, topic, group, fromBeginning, forMs] = process.argv.slice(1);
  const kafka = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: group, maxWaitTimeInMs: 100, retry: { restartOnFailure: async () => false } });
  const seen = {};
  const say = (end) => { console.log(JSON.stringify({ end, seen })); process.exit(0); };
  consumer.on(consumer.events.CRASH, ({ payload }) => say(payload.error.name + ": " + payload.error.message));
  (async () => {
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: fromBeginning === "true" });
    await consumer.run({ autoCommit: false, partitionsConsumedConcurrently: 2, eachBatch: async ({ batch, resolveOffset }) => {
      const offsets = batch.messages.map((message) => Number(message.offset));
      const at = (seen[batch.partition] ??= { first: offsets[0], count: 0 });
      at.count += offsets.length;
      resolveOffset(batch.lastOffset());
    } });
    setTimeout(() => say("time"), Number(forMs));
  })().catch((error) => say(String(error)));
`;

interface Outcome {
  readonly end: string;
  readonly seen: Readonly<Record<number, { first: number; count: number }>>;
}

async function consume(topic: string, group: string, fromBeginning: boolean, forMs = 3_000): Promise<Outcome> {
  const { output } = await runScript(CONSUMER, [brokers[0] ?? "", topic, group, String(fromBeginning), String(forMs)]);
  const parsed: unknown = JSON.parse(output.trim().split("\n").at(-1) ?? "");
  return parsed as Outcome;
}

describe("kafkajs 2.2.4 as published", () => {
  for (const [fromBeginning, sentinel, first] of [
    [false, -1, undefined],
    [true, -2, 50],
  ] as const) {
    it(`commits ${sentinel} and jumps when the position is out of range, with auto-commit off`, async () => {
      const topic = uniqueTopic("published");
      const group = `${topic}-group`;
      await createTopic(brokers, { topic, partitions: 2 });
      await fill(brokers, topic, [0, 1], 100);
      const consumer = plainKafka(brokers).consumer({ groupId: group });
      const offsets = [0, 1].map((partition) => ({ topic, partition, offset: "10" }));
      const joined = new Promise((resolve) => consumer.on(consumer.events.GROUP_JOIN, resolve));
      await consumer.connect();
      await consumer.subscribe({ topic });
      await consumer.run({ autoCommit: false, eachBatch: async () => undefined });
      await joined;
      await consumer.commitOffsets(offsets);
      await consumer.disconnect();
      await deleteRecords(brokers, topic, 0, 50);

      const { seen } = await consume(topic, group, fromBeginning);
      expect(seen[0]?.first).toBe(first);
      expect(seen[1]).toEqual({ first: 10, count: 90 });
      expect(await committedOffsets(brokers, group, topic)).toEqual(
        new Map([
          [0, sentinel],
          [1, 10],
        ]),
      );
    });
  }

  it("dies of a zstd batch in one partition without reading the others", async () => {
    const topic = uniqueTopic("published");
    await createTopic(brokers, { topic, partitions: 1 });
    await producePerformance(brokers, { topic, records: 50, recordBytes: 50, compression: "zstd" });
    const { end, seen } = await consume(topic, `${topic}-group`, true);
    expect(end).toContain("ZSTD compression not implemented");
    expect(seen).toEqual({});
  });

  it("cannot send a header without a value", async () => {
    const { output } = await runScript(
      `const Record = require("kafkajs/src/protocol/recordBatch/record/v0");
       try { Record({ key: null, value: null, headers: { n: null } }); } catch (error) { console.log(error.name); }`,
    );
    expect(output.trim()).toBe("TypeError");
  });

  it("polls an empty queue", async () => {
    const { output } = await runScript(
      `const Queue = require("kafkajs/src/network/requestQueue");
       const logger = { debug() {}, namespace: () => logger };
       const queue = new Queue({ logger, requestTimeout: 1000, broker: "b", clientId: "c" });
       let polls = 0;
       const check = queue.checkPendingRequests.bind(queue);
       queue.checkPendingRequests = () => { polls += 1; check(); };
       queue.scheduleCheckPendingRequests();
       setTimeout(() => { console.log(polls); process.exit(0); }, 500);`,
    );
    expect(Number(output.trim())).toBeGreaterThan(20);
  });

  it("leaks an aborted record when transactions overlap", async () => {
    const { output } = await runScript(
      `const filter = require("kafkajs/src/consumer/filterAbortedMessages");
       const message = (offset, producerId) => ({ offset, key: null, batchContext: { producerId, inTransaction: true } });
       const messages = [message("10", "1"), message("11", "2"), message("12", "2")];
       const abortedTransactions = [{ producerId: "2", firstOffset: "2" }, { producerId: "1", firstOffset: "4" }];
       console.log(filter({ messages, abortedTransactions }).map((left) => left.offset).join());`,
    );
    expect(output.trim()).toBe("10");
  });

  it("overflows the stack on a batch of 140,000 records", async () => {
    const { output } = await runScript(
      `const records = []; try { records.push(...new Array(140_000)); } catch (error) { console.log(error.name); }`,
    );
    expect(output.trim()).toBe("RangeError");
  });

  it("fails all of a topic's metadata over one leaderless partition", async () => {
    const { output } = await runScript(
      `require("kafkajs/src/protocol/requests/metadata/v6/response")
         .parse({ topicMetadata: [{ topicErrorCode: 0, partitionMetadata: [{ partitionErrorCode: 0 }, { partitionErrorCode: 5 }] }] })
         .catch((error) => console.log(error.type));`,
    );
    expect(output.trim()).toBe("LEADER_NOT_AVAILABLE");
  });
});
