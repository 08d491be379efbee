import { describe, expect, it, onTestFinished } from "vitest";

import { createRecordSource } from "../../../consumers/kafka/index.ts";
import { createTopic } from "../../../local/broker/topics.ts";
import { systemClock } from "../../../src/clock.ts";
import type { RecordRead, RecordSource } from "../../../src/ports/record-source.ts";
import { uniqueTopic, useBroker } from "../../support/broker.ts";
import { keepingLogger } from "./support/keeping-logger.ts";
import { fill, plainKafka, withProducer } from "./support/producing.ts";
import { SourceProbe } from "./support/source-probe.ts";

const brokers = useBroker();

async function newTopic(partitions = 1): Promise<{ topic: string; group: string }> {
  const topic = uniqueTopic("reads");
  await createTopic(brokers, { topic, partitions });
  return { topic, group: `${topic}-group` };
}

function reading(names: { topic: string; group: string }): RecordSource {
  const source = createRecordSource({
    brokers,
    ...names,
    clientId: "ysearch-test",
    clock: systemClock,
    logger: keepingLogger(),
  });
  onTestFinished(async () => source.stop(5_000));
  return source;
}

function offsetsOf(read: RecordRead): readonly number[] {
  if (read.read !== "records") throw new Error(`read ${read.read}`);
  return Array.from({ length: read.batch.count }, (_unused, index) => read.batch.offsetAt(index));
}

async function transaction(topic: string, outcome: "commit" | "abort", value: string): Promise<void> {
  const config = { transactionalId: uniqueTopic("tx"), idempotent: true, maxInFlightRequests: 1 };
  await withProducer(
    brokers,
    async (producer) => {
      const open = await producer.transaction();
      await open.send({ topic, messages: [{ key: value, value }] });
      await open[outcome]();
    },
    config,
  );
}

describe("the record reader", () => {
  it("reads from any offset, tells what is out of range, and leaves no group behind", async () => {
    const names = await newTopic();
    await fill(brokers, names.topic, [0], 5);
    const source = reading(names);
    const read = await source.read(0, 3, 10_000);
    expect(offsetsOf(read)).toEqual([3, 4]);
    expect(read).toMatchObject({ batch: { fetchedAt: 3, next: 5, end: 5, logStart: 0, partition: 0 } });
    const atEnd = await source.read(0, 5, 10_000);
    expect(atEnd).toMatchObject({ read: "records", batch: { count: 0, next: 5, end: 5 } });
    expect(await source.read(0, 9, 10_000)).toEqual({ read: "out-of-range" });
    await expect(source.read(7, 0, 10_000)).rejects.toMatchObject({ code: "topic-missing" });
    expect(offsetsOf(await source.read(0, 0, 10_000))).toEqual([0, 1, 2, 3, 4]);
    const admin = plainKafka(brokers).admin();
    await admin.connect();
    const { groups } = await admin.listGroups();
    await admin.disconnect();
    expect(groups.map(({ groupId }) => groupId)).not.toContain(names.group);
  });

  it("gives a batch whole however few bytes are asked for, and passes aborted records and markers", async () => {
    const { topic, group } = await newTopic();
    await transaction(topic, "abort", "a");
    await transaction(topic, "commit", "b");
    await transaction(topic, "abort", "c");
    const source = reading({ topic, group });
    expect(offsetsOf(await source.read(0, 0, 1_000_000))).toEqual([2]);
    let at = 0;
    const seen: number[] = [];
    for (let reads = 0; at < 6 && reads < 10; reads += 1) {
      const read = await source.read(0, at, 1);
      seen.push(...offsetsOf(read));
      at = read.read === "records" ? read.batch.next : at;
    }
    expect(seen).toEqual([2]);
    expect(at).toBe(6);
  });

  it("disturbs nothing that is being read: thirty reads beside a consumer that sees every record once", async () => {
    const names = await newTopic(2);
    await fill(brokers, names.topic, [0, 1], 300);
    const probe = new SourceProbe({ brokers, ...names }).run();
    const reads = Array.from({ length: 30 }, (_unused, index) => probe.source.read(index % 2, index * 7, 2_000));
    for (const [index, read] of (await Promise.all(reads)).entries()) expect(offsetsOf(read)[0]).toBe(index * 7);
    await probe.until("the end", () => probe.positions.get(0) === 300 && probe.positions.get(1) === 300);
    expect(probe.records).toHaveLength(600);
    expect(probe.assignments).toHaveLength(1);
    await probe.source.stop(5_000);
  });
});
