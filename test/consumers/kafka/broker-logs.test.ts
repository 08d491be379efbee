import type { Transaction } from "kafkajs";
import { describe, expect, it } from "vitest";

import { createTopic } from "../../../local/broker/topics.ts";
import { uniqueTopic, useBroker } from "../../support/broker.ts";
import { fill, withProducer } from "./support/producing.ts";
import { SourceProbe } from "./support/source-probe.ts";

const brokers = useBroker();

async function namesOf(kind: string, config: Record<string, string> = {}, partitions = 1) {
  const topic = uniqueTopic(kind);
  await createTopic(brokers, { topic, partitions, config });
  return { topic, group: `${topic}-group` };
}

async function transact(topic: string, work: (transaction: Transaction) => Promise<void>): Promise<void> {
  const id = uniqueTopic("tx");
  await withProducer(
    brokers,
    async (producer) => {
      const transaction = await producer.transaction();
      await work(transaction);
    },
    { transactionalId: id, idempotent: true, maxInFlightRequests: 1 },
  );
}

const messages = (...values: string[]) => values.map((value) => ({ partition: 0, value }));

describe("transactions", () => {
  it("delivers committed records, passes markers, and ends with no lag", async () => {
    const names = await namesOf("tx");
    const { topic } = names;
    await fill(brokers, topic, [0], 1);
    await transact(topic, async (transaction) => {
      await transaction.send({ topic, messages: messages("c1", "c2") });
      await transaction.commit();
    });
    await transact(topic, async (transaction) => {
      await transaction.send({ topic, messages: messages("a1", "a2") });
      await transaction.abort();
    });
    const probe = new SourceProbe({ brokers, ...names }).run();
    await probe.until("the tail", () => probe.positions.get(0) === 7);
    expect(probe.offsets(0)).toEqual([0, 1, 2]);
    expect((await probe.source.bounds()).get(0)).toEqual({ known: true, logStart: 0, end: 7 });
    expect(probe.batches.at(-1)?.end).toBe(7);
  });

  it("keeps overlapping aborted transactions out that began before the position", async () => {
    const names = await namesOf("tx");
    const { topic } = names;
    await transact(topic, async (first) => {
      await transact(topic, async (second) => {
        await first.send({ topic, messages: messages("a0") });
        await second.send({ topic, messages: messages("a1") });
        await fill(brokers, topic, [0], 2);
        await first.send({ topic, messages: messages("a4") });
        await second.send({ topic, messages: messages("a5") });
        await first.abort();
        await second.send({ topic, messages: messages("a7") });
        await second.abort();
      });
    });
    await fill(brokers, topic, [0], 1);
    for (const from of [0, 3, 6, 8]) {
      const probe = new SourceProbe({ brokers, topic, group: `${names.group}-${from}` }, () => from).run();
      await probe.until("the tail", () => probe.positions.get(0) === 10);
      expect(probe.offsets(0)).toEqual([2, 3, 9].filter((offset) => offset >= from));
    }
  });

  it("does not read into a transaction that is still open", async () => {
    const names = await namesOf("tx");
    const { topic } = names;
    const probe = new SourceProbe({ brokers, ...names }).run();
    await transact(topic, async (transaction) => {
      await fill(brokers, topic, [0], 1);
      await transaction.send({ topic, messages: messages("open") });
      await fill(brokers, topic, [0], 1);
      await probe.until("what is before it", () => probe.positions.get(0) === 1);
      expect((await probe.source.bounds()).get(0)).toEqual({ known: true, logStart: 0, end: 1, highWatermark: 3 });
      await transaction.commit();
    });
    await probe.until("the rest", () => probe.positions.get(0) === 4);
    expect(probe.offsets(0)).toEqual([0, 1, 2]);
  });
});

describe("compaction", () => {
  it("crosses holes, and reads from a position that is gone", async () => {
    const names = await namesOf("compact", {
      "cleanup.policy": "compact",
      "segment.ms": "200",
      "min.cleanable.dirty.ratio": "0.01",
      "delete.retention.ms": "0",
      "max.compaction.lag.ms": "500",
    });
    const { topic } = names;
    const same = (value: string) => Array.from({ length: 10 }, () => ({ partition: 0, key: "same", value }));
    for (let round = 0; round < 4; round += 1) {
      await withProducer(brokers, async (producer) => producer.send({ topic, messages: same(`r${round}`) }));
      // Only a segment that has been closed by a later write is compacted.
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    await fill(brokers, topic, [0], 1);
    const firstOffset = async (): Promise<number> => {
      const probe = new SourceProbe({ brokers, topic, group: uniqueTopic("look") }).run();
      await probe.until("the tail", () => probe.positions.get(0) === 41);
      await probe.source.stop(5_000);
      return probe.offsets(0)[0] ?? -1;
    };
    await expect.poll(firstOffset, { timeout: 20_000, interval: 500 }).toBeGreaterThan(9);
    for (const from of [0, 5, 12]) {
      const probe = new SourceProbe({ brokers, topic, group: `${names.group}-${from}` }, () => from).run();
      await probe.until("the tail", () => probe.positions.get(0) === 41);
      expect(probe.offsets(0).at(-1)).toBe(40);
      expect(probe.offsets(0).length).toBeLessThan(40);
      expect(probe.faults).toEqual([]);
    }
  });
});
