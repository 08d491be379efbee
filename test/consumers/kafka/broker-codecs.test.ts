import { CompressionTypes } from "kafkajs";
import { describe, expect, it } from "vitest";

import { producePerformance } from "../../../local/broker/producer-performance.ts";
import { createTopic, topicBounds } from "../../../local/broker/topics.ts";
import { uniqueTopic, useBroker } from "../../support/broker.ts";
import { fill, withProducer } from "./support/producing.ts";
import { SourceProbe, span } from "./support/source-probe.ts";

const brokers = useBroker();

async function namesOf(kind: string, config: Record<string, string> = {}, partitions = 1) {
  const topic = uniqueTopic(kind);
  await createTopic(brokers, { topic, partitions, config });
  return { topic, group: `${topic}-group` };
}

describe("codecs of Kafka's own producer", () => {
  for (const compression of ["gzip", "snappy", "lz4", "zstd"] as const) {
    it(`reads ${compression}`, async () => {
      const names = await namesOf(compression);
      await producePerformance(brokers, { topic: names.topic, records: 3_000, recordBytes: 100, compression });
      const probe = new SourceProbe({ brokers, ...names }).run();
      await probe.until("all", () => probe.positions.get(0) === 3_000);
      expect(probe.offsets(0)).toEqual(span(0, 3_000));
      expect(probe.records.every(({ value }) => /^[A-Z]{100}$/.test(value ?? ""))).toBe(true);
      expect(probe.faults).toEqual([]);
    });
  }

  it("reads 140,000 records in one batch", async () => {
    const names = await namesOf("large", { "max.message.bytes": "20000000" });
    await producePerformance(brokers, {
      topic: names.topic,
      records: 140_000,
      recordBytes: 10,
      compression: "gzip",
      batchBytes: 16_000_000,
      lingerMs: 3_000,
      settings: { "max.request.size": "20000000", "buffer.memory": "64000000" },
    });
    const probe = new SourceProbe({ brokers, ...names });
    probe.keepRecords = false;
    probe.run();
    await probe.until("all", () => probe.positions.get(0) === 140_000);
    expect(probe.batches.reduce((sum, batch) => sum + batch.count, 0)).toBe(140_000);
    expect(Math.max(...probe.batches.map((batch) => batch.count))).toBeGreaterThan(100_000);
  });

  it("stops only the partition whose batch inflates beyond the limit, at its exact position", async () => {
    const names = await namesOf("bomb", {}, 2);
    await fill(brokers, names.topic, [0, 1], 5);
    await withProducer(brokers, async (producer) =>
      producer.send({
        topic: names.topic,
        compression: CompressionTypes.GZIP,
        messages: [{ partition: 0, value: Buffer.alloc(500_000) }],
      }),
    );
    await fill(brokers, names.topic, [0, 1], 5);
    const probe = new SourceProbe({ brokers, ...names, limits: { batchInflatedBytesMax: 400_000 } }).run();
    await probe.until("the fault", () => probe.faults.length === 1 && probe.offsets(1).length === 10);
    expect(probe.faults[0]).toMatchObject({ partition: 0, position: 5, code: "batch-too-large" });
    expect(probe.offsets(0)).toEqual(span(0, 5));
    probe.begin(0, 6);
    await probe.until("behind it", () => probe.offsets(0).length === 10);
    expect((await topicBounds(brokers, names.topic))[0]?.end).toBe(11);
  });
});
