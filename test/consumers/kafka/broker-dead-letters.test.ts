import { createHash } from "node:crypto";

import { ConfigResourceTypes } from "kafkajs";
import { describe, expect, it, onTestFinished } from "vitest";

import { createDeadLetters, readLetter } from "../../../consumers/kafka/index.ts";
import { createTopic, deleteTopics } from "../../../local/broker/topics.ts";
import { systemClock } from "../../../src/clock.ts";
import type { DeadLetter, DeadLetters } from "../../../src/ports/dead-letters.ts";
import type { RecordHeader } from "../../../src/ports/record-batch.ts";
import { uniqueTopic, useBroker } from "../../support/broker.ts";
import { keepingLogger } from "./support/keeping-logger.ts";
import { plainKafka } from "./support/producing.ts";
import { SourceProbe } from "./support/source-probe.ts";

const brokers = useBroker();
const bytes = (text: string): Uint8Array => Buffer.from(text);

function letters(createMissing = true): DeadLetters {
  const context = { brokers, clientId: "ysearch-test", clock: systemClock, logger: keepingLogger() };
  const made = createDeadLetters({ ...context, createMissing });
  onTestFinished(async () => made.close(5_000));
  return made;
}

function letter(change: Partial<DeadLetter> = {}): DeadLetter {
  return {
    source: "articles",
    topic: "articles-topic",
    topicEpoch: 2,
    partition: 11,
    offset: 4_711,
    timestampMs: 1_700_000_000_123,
    key: bytes("key"),
    value: bytes("value"),
    headers: [],
    fault: { code: "DECODE_TRUNCATED", text: "ä".repeat(400) },
    descriptorVersion: 7,
    revision: 3,
    attempt: 1,
    firstSeenMs: 1_700_000_000_999,
    ...change,
  };
}

interface Letter {
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers: readonly RecordHeader[];
}

/** Reads `count` letters back through a source of ours: headers as bytes, which kafkajs cannot show. */
async function readBack(topic: string, count: number): Promise<Letter[]> {
  const probe = new SourceProbe({ brokers, topic, group: uniqueTopic("letter-reader") });
  const found: Letter[] = [];
  probe.onBatch = (batch) => {
    for (let index = 0; index < batch.count; index += 1) {
      found.push({ key: batch.keyAt(index), value: batch.valueAt(index), headers: batch.headersAt(index) });
    }
  };
  probe.run();
  await probe.until(`${count} letters`, () => found.length >= count);
  return found;
}

describe("dead letters", () => {
  it("refuses to publish to a missing topic when it may not create it, and goes on once it exists", async () => {
    const topic = uniqueTopic("dlq");
    const refusing = letters(false);
    await expect(refusing.publish(topic, [letter()])).rejects.toThrow(/does not exist.*--create --topic/);
    await createTopic(brokers, { topic, partitions: 1 });
    await refusing.publish(topic, [letter()]);
    expect(await readBack(topic, 1)).toHaveLength(1);
  });

  it("keeps key, value and headers byte for byte and adds the origin", async () => {
    const topic = uniqueTopic("dlq");
    await createTopic(brokers, { topic, partitions: 3 });
    const headers: RecordHeader[] = [
      { name: bytes("r"), value: bytes("1") },
      { name: bytes("10"), value: null },
      { name: Uint8Array.of(0xff, 0xfe), value: Uint8Array.of(0, 255) },
      { name: bytes("r"), value: bytes("") },
      { name: bytes("ysearch.offset"), value: bytes("1") },
      { name: bytes("2"), value: bytes("x") },
    ];
    await letters().publish(topic, [
      letter({ headers, key: Uint8Array.of(0xc3, 0x28), value: Uint8Array.of(0, 1, 255) }),
    ]);
    const [found] = await readBack(topic, 1);
    expect(found?.key).toEqual(Buffer.of(0xc3, 0x28));
    expect(found?.value).toEqual(Buffer.of(0, 1, 255));
    const original = found?.headers.slice(0, headers.length).map(({ name, value }) => [[...name], value && [...value]]);
    expect(original).toEqual(headers.map(({ name, value }) => [[...name], value && [...value]]));
    const origin = readLetter(found?.headers ?? []);
    expect(origin).toMatchObject({
      source: "articles",
      topic: "articles-topic",
      topicEpoch: 2,
      partition: 11,
      offset: 4_711,
      timestampMs: 1_700_000_000_123,
      fault: { code: "DECODE_TRUNCATED", text: "ä".repeat(256) },
      descriptorVersion: 7,
      revision: 3,
      attempt: 1,
      firstSeenMs: 1_700_000_000_999,
      omitted: {},
    });
    expect(origin?.headers).toHaveLength(headers.length);
  });

  it("keeps a null key and a null value null, and creates a missing topic with settings of its own", async () => {
    const topic = uniqueTopic("dlq");
    const made = letters();
    await made.publish(topic, [letter({ key: null, value: null }), letter({ value: new Uint8Array(0) })]);
    const found = await readBack(topic, 2);
    expect(found.map(({ key, value }) => [key === null, value?.length])).toEqual([
      [true, undefined],
      [false, 0],
    ]);
    const admin = plainKafka(brokers).admin();
    await admin.connect();
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: ConfigResourceTypes.TOPIC, name: topic }],
    });
    await admin.disconnect();
    const entries = new Map(resources[0]?.configEntries.map((entry) => [entry.configName, entry.configValue]));
    expect(entries.get("cleanup.policy")).toBe("delete");
    expect(entries.get("retention.ms")).toBe(String(30 * 24 * 3_600_000));

    await deleteTopics(brokers, [topic]);
    await expect
      .poll(
        async () =>
          made.publish(topic, [letter()]).then(
            () => true,
            () => false,
          ),
        { timeout: 20_000 },
      )
      .toBe(true);
    expect(readLetter((await readBack(topic, 1))[0]?.headers ?? [])?.offset).toBe(4_711);
  });

  it("sends a letter that the topic refuses as too large without its value, and never loops", async () => {
    const topic = uniqueTopic("dlq");
    await createTopic(brokers, { topic, partitions: 1, config: { "max.message.bytes": "4096" } });
    const value = Buffer.alloc(10_000, 7);
    const huge = Buffer.alloc(8_000, 1);
    await letters().publish(topic, [
      letter({ offset: 1 }),
      letter({ offset: 2, value }),
      letter({ offset: 3, key: huge, headers: [{ name: bytes("h"), value: huge }] }),
      letter({ offset: 4 }),
    ]);
    const found = await readBack(topic, 4);
    expect(found.map(({ headers }) => readLetter(headers)?.offset)).toEqual([1, 2, 3, 4]);
    const text = (index: number, name: string): string | undefined => {
      const header = found[index]?.headers.find((entry) => Buffer.from(entry.name).toString() === name);
      return header?.value ? Buffer.from(header.value).toString() : undefined;
    };
    expect(found[1]?.value).toBeNull();
    expect(found[1]?.key).toEqual(Buffer.from("key"));
    const hash = createHash("sha256").update(value).digest("hex");
    expect(text(1, "ysearch.value-omitted")).toBe(`10000 bytes, sha256 ${hash}`);
    expect(found[2]?.key).toBeNull();
    expect(text(2, "ysearch.key-omitted")).toContain("8000 bytes");
    expect(text(2, "ysearch.headers-omitted")).toBe("1");
    expect(Buffer.from(found[3]?.value ?? []).toString()).toBe("value");
  });

  it("says so when the broker is away, and works with a broker again later", async () => {
    const made = createDeadLetters({
      brokers: ["127.0.0.1:1"],
      clientId: "ysearch-test",
      clock: systemClock,
      logger: keepingLogger(),
    });
    await expect(made.publish("any", [letter()])).rejects.toMatchObject({
      code: "broker-unreachable",
      name: "SourceFault",
    });
    await made.close(1_000);
    await expect(made.publish("any", [letter()])).rejects.toMatchObject({ name: "SourceFault" });
  });
});
