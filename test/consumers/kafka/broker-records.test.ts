import { describe, expect, it } from "vitest";

import { createTopic, topicBounds } from "../../../local/broker/topics.ts";
import type { RecordBatch } from "../../../src/ports/record-batch.ts";
import { uniqueTopic, useBroker } from "../../support/broker.ts";
import { sendExactly, type ExactRecord } from "../../support/exact-producer.ts";
import { fill, withProducer } from "./support/producing.ts";
import { SourceProbe, span } from "./support/source-probe.ts";

const brokers = useBroker();

async function namesOf(kind: string, config: Record<string, string> = {}): Promise<{ topic: string; group: string }> {
  const topic = uniqueTopic(kind);
  await createTopic(brokers, { topic, partitions: 1, config });
  return { topic, group: `${topic}-group` };
}

/** Reads partition 0 up to `end` and returns what `look` sees of every record. */
async function readAll<T>(
  names: { topic: string; group: string },
  end: number,
  look: (batch: RecordBatch, index: number) => T,
): Promise<T[]> {
  const probe = new SourceProbe({ brokers, ...names });
  const seen: T[] = [];
  probe.onBatch = (batch) => {
    for (let index = 0; index < batch.count; index += 1) seen.push(look(batch, index));
  };
  probe.run();
  await probe.until("the end", () => probe.positions.get(0) === end);
  expect(probe.faults).toEqual([]);
  await probe.source.stop(5_000);
  return seen;
}

const asText = (bytes: Uint8Array | null): string | null =>
  bytes === null ? null : Buffer.from(bytes).toString("latin1");

describe("what a record may be", () => {
  it("keys and values null, empty or any bytes; headers of any name, any number, in order", async () => {
    const names = await namesOf("odd");
    const many = Array.from({ length: 5_000 }, (_unused, index) => ["same", String(index)] as const);
    const records: readonly ExactRecord[] = [
      { key: null, value: "a" },
      { key: "", value: "b" },
      { key: "k", value: null },
      { key: "k", value: "" },
      { key: Buffer.of(0, 255, 0x80), value: Buffer.of(255, 0) },
      {
        key: null,
        value: null,
        headers: [
          ["", null],
          ["r", "1"],
          ["x", ""],
          ["r", "2"],
          [Buffer.of(0xff, 0), "y"],
        ],
      },
      { key: "many", value: "z", headers: many },
      { key: "large", value: Buffer.alloc(900_000, 7) },
    ];
    await sendExactly(brokers, names.topic, records.slice(0, 7));
    await sendExactly(brokers, names.topic, records.slice(7));
    const seen = await readAll(names, records.length, (batch, index) => ({
      key: asText(batch.keyAt(index)),
      value: asText(batch.valueAt(index)),
      headers: batch.headersAt(index).map(({ name, value }) => [asText(name), asText(value)]),
    }));
    const text = (given: Uint8Array | string | null | undefined): string | null =>
      given === null || given === undefined ? null : asText(Buffer.from(given));
    const sent = records.map(({ key, value, headers = [] }) => ({
      key: text(key),
      value: text(value),
      headers: headers.map(([name, content]) => [text(name), text(content)]),
    }));
    expect(seen).toEqual(sent);
  });

  it("times are the producer's, also none at all and long ago; or the broker's where the topic says so", async () => {
    const year2001 = 1_000_000_000_000;
    const times = [year2001, -1, 0, year2001 + 1];
    const records = times.map((timestampMs) => ({ value: "v", timestampMs }));
    const keep = { "retention.ms": "-1" };
    const created = await namesOf("created", keep);
    await sendExactly(brokers, created.topic, records);
    expect(await readAll(created, 4, (batch, index) => batch.timestampAt(index))).toEqual(times);
    const appended = await namesOf("appended", { ...keep, "message.timestamp.type": "LogAppendTime" });
    const before = Date.now();
    await sendExactly(brokers, appended.topic, records);
    const stamps = await readAll(appended, 4, (batch, index) => batch.timestampAt(index));
    for (const stamp of stamps) expect(Math.abs(stamp - before)).toBeLessThan(60_000);
    expect(new Set(stamps).size).toBe(1);
  });

  it("batches of an idempotent producer are read like others", async () => {
    const names = await namesOf("idempotent");
    const config = { idempotent: true, maxInFlightRequests: 1 };
    await withProducer(
      brokers,
      async (producer) => {
        for (const value of ["a", "b", "c"]) await producer.send({ topic: names.topic, messages: [{ value }] });
      },
      config,
    );
    expect(await readAll(names, 3, (batch, index) => asText(batch.valueAt(index)))).toEqual(["a", "b", "c"]);
  });
});

describe("markers and holes", () => {
  it("reading may begin at any marker, and nothing aborted is seen from there", async () => {
    const names = await namesOf("marker");
    const { topic } = names;
    // 0 committed, 1 its marker, 2 aborted, 3 its marker, 4 committed, 5 its marker.
    for (const outcome of ["commit", "abort", "commit"] as const) {
      await withProducer(
        brokers,
        async (producer) => {
          const transaction = await producer.transaction();
          await transaction.send({ topic, messages: [{ value: outcome }] });
          await transaction[outcome]();
        },
        { transactionalId: uniqueTopic("tx"), idempotent: true, maxInFlightRequests: 1 },
      );
    }
    expect((await topicBounds(brokers, topic))[0]?.end).toBe(6);
    for (const from of [1, 2, 3, 5]) {
      const probe = new SourceProbe({ brokers, topic, group: `${names.group}-${from}` }, () => from).run();
      await probe.until("the end", () => probe.positions.get(0) === 6);
      expect(probe.offsets(0)).toEqual([4].filter((offset) => offset >= from));
      expect(probe.faults).toEqual([]);
      await probe.source.stop(5_000);
    }
  });

  it("a transaction that stays open holds its partition back without a fault; its siblings flow", async () => {
    const topic = uniqueTopic("open");
    await createTopic(brokers, { topic, partitions: 2 });
    const config = { transactionalId: uniqueTopic("tx"), idempotent: true, maxInFlightRequests: 1 };
    await withProducer(
      brokers,
      async (producer) => {
        const transaction = await producer.transaction();
        await transaction.send({ topic, messages: [{ partition: 0, value: "open" }] });
        await fill(brokers, topic, [0, 1], 50);
        const probe = new SourceProbe({ brokers, topic, group: `${topic}-group` }).run();
        await probe.until("the sibling", () => probe.positions.get(1) === 50);
        const idle = probe.states.length;
        await fill(brokers, topic, [1], 50, 50);
        await probe.until("the sibling's rest", () => probe.positions.get(1) === 100);
        expect(probe.offsets(0)).toEqual([]);
        expect(probe.faults).toEqual([]);
        expect(probe.states).toHaveLength(idle);
        await transaction.abort();
        await probe.until("the rest", () => probe.positions.get(0) === 52);
        expect(probe.offsets(0)).toEqual(span(1, 51));
      },
      config,
    );
  });
});
