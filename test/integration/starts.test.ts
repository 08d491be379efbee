import { describe, expect, it } from "vitest";

import { committedOffsets, createTopic, deleteTopics, growTopic, topicBounds } from "../../local/broker/topics.ts";
import { articleOf, encodeArticle, POISON } from "../../local/feed/articles.ts";
import { readLag, untilCaughtUp } from "../../local/service/verify.ts";
import type { ServiceProcess } from "../../local/service/service-process.ts";
import { uniqueTopic, useBroker } from "../support/broker.ts";
import { sendExactly, type ExactRecord } from "../support/exact-producer.ts";
import { getPartitions, until } from "../support/http.ts";
import { openService, untilSource, warnings } from "../support/open-service.ts";
import { SourceProbe } from "../consumers/kafka/support/source-probe.ts";

const brokers = useBroker();
const broker = { brokers: [...brokers] };

async function newTopic(partitions: number): Promise<{ topic: string; group: string }> {
  const topic = uniqueTopic("starts");
  await createTopic(brokers, { topic, partitions });
  return { topic, group: `${topic}-group` };
}

function article(number: number, timestampMs = Date.now()): ExactRecord {
  const made = articleOf(number, 1, Date.now());
  return { key: made.id, value: encodeArticle(made, false), timestampMs };
}

/** Which of the articles `[from, to)` are stored in a namespace. */
async function storedOf(service: ServiceProcess, namespace: string, from: number, to: number): Promise<number[]> {
  const found: number[] = [];
  for (let number = from; number < to; number += 1) {
    const { status } = await service.get(`/v1/documents/${namespace}/article-${number}`);
    if (status === 200) found.push(number);
  }
  return found;
}

describe("where a source begins that has never committed", () => {
  it("at a moment, at the end, or at the start: exactly what is at or after it is applied, also without timestamps", async () => {
    const names = await newTopic(2);
    const now = Date.now();
    const times = [now - 30_000, now - 20_000, now - 10_000];
    // A broker's moment is answered with the first record whose own time is at or after it.
    await sendExactly(
      brokers,
      names.topic,
      times.map((time, index) => article(index, time)),
    );
    const at = (ms: number): string => new Date(ms).toISOString();
    const starts: readonly (readonly [name: string, startFrom: string, applied: readonly number[]])[] = [
      ["before-all", at(now - 60_000), [0, 1, 2]],
      ["middle", at(times[1] ?? 0), [1, 2]],
      ["last", at(times[2] ?? 0), [2]],
      ["tomorrow", at(now + 86_400_000), []],
      ["latest", "latest", []],
    ];
    const [first, ...others] = starts.map(([name, startFrom]) => ({
      name,
      namespace: name,
      topic: names.topic,
      group: `${names.group}-${name}`,
      startFrom,
    }));
    if (first === undefined) throw new Error("there is a first start");
    const service = await openService({ broker, source: first, further: others });
    for (const [name, , applied] of starts) {
      await untilCaughtUp(service.url, name, 20_000);
      expect([name, await storedOf(service, name, 0, 3)]).toEqual([name, applied]);
    }
    await sendExactly(brokers, names.topic, [article(3, -1)], 1);
    for (const [name] of starts) {
      await untilCaughtUp(service.url, name, 20_000);
      expect([name, await storedOf(service, name, 3, 4)]).toEqual([name, [3]]);
    }
    expect(await service.stop()).toBe(0);
  });

  it("at the end: a partition that is born later is read from its beginning", async () => {
    const names = await newTopic(3);
    await sendExactly(brokers, names.topic, [article(0)]);
    const service = await openService({ broker, source: { ...names, startFrom: "latest" } });
    await untilCaughtUp(service.url, "articles", 20_000);
    expect(await service.stop()).toBe(0);
    await growTopic(brokers, names.topic, 6);
    const late = Array.from({ length: 100 }, (_unused, index) => article(100 + index));
    await sendExactly(brokers, names.topic, late, 5);
    await service.restart();
    await until(
      () => getPartitions(service.url),
      (all) => all.length === 6 && all.every(({ observed }) => observed === "running"),
    );
    await untilCaughtUp(service.url, "articles", 20_000);
    expect(await storedOf(service, "articles", 100, 200)).toHaveLength(100);
    expect(await storedOf(service, "articles", 0, 1)).toEqual([]);
    expect(await readLag(service.url, "articles")).toBe(0);
  });
});

const BEHIND = 1_000;

/** What comes after a held batch waits in the log, not in memory, and the batch that holds it up is named. */
async function expectBoundedWhileHeld(service: ServiceProcess, topic: string): Promise<void> {
  const attempts = async (): Promise<number> => (await getPartitions(service.url))[0]?.hold?.attempts ?? 0;
  await sendExactly(
    brokers,
    topic,
    Array.from({ length: BEHIND }, () => article(9)),
  );
  const before = await attempts();
  await until(attempts, (now) => now > before);
  const { body } = await service.get("/v1/sources/articles/partitions/0");
  expect(body).toMatchObject({ inFlight: { batches: 1, records: 3 }, oldestUnacknowledged: { offset: "0" } });
}

describe("a dead-letter topic that cannot be written to", () => {
  it("is missing or deleted under way: the partition holds, commits nothing, and goes on with one letter once it is there", async () => {
    const names = await newTopic(1);
    const dlq = `${names.topic}.dlq`;
    const bad: ExactRecord = { key: "bad", value: POISON };
    await sendExactly(brokers, names.topic, [article(0), bad, article(1)]);
    const service = await openService({ broker, source: { ...names, createDeadLetterTopic: false } });
    for (const round of [0, 1]) {
      const held = await until(
        () => getPartitions(service.url),
        ([only]) => (only?.hold?.attempts ?? 0) >= 3,
      );
      expect(held[0]?.hold).toMatchObject({ code: "BROKER_TOPIC_MISSING" });
      expect((await untilSource(service, ({ observed }) => observed === "holding")).reason).toMatch(/--create --topic/);
      // What precedes the bad record in its batch waits with it: nothing of the batch is committed.
      expect((await committedOffsets(brokers, names.group, names.topic)).get(0)).toBe(round === 0 ? -1 : 3 + BEHIND);
      if (round === 0) await expectBoundedWhileHeld(service, names.topic);
      await createTopic(brokers, { topic: dlq, partitions: 1 });
      await untilCaughtUp(service.url, "articles", 30_000);
      expect((await topicBounds(brokers, dlq))[0]?.end).toBe(1);
      expect(await storedOf(service, "articles", 0, 2)).toEqual([0, 1]);
      if (round === 1) break;
      await until(
        () => committedOffsets(brokers, names.group, names.topic),
        (committed) => committed.get(0) === 3 + BEHIND,
      );
      await deleteTopics(brokers, [dlq]);
      await sendExactly(brokers, names.topic, [bad]);
    }
    expect((await warnings(service)).length).toBeLessThan(12);
  });
});

describe("metrics", () => {
  it("report each partition by the member that reads it; labels are names and numbers", async () => {
    const names = await newTopic(4);
    for (const partition of [0, 1, 2, 3]) await sendExactly(brokers, names.topic, [article(partition)], partition);
    const service = await openService({ broker, source: names });
    await untilCaughtUp(service.url, "articles", 20_000);
    await until(
      () => committedOffsets(brokers, names.group, names.topic),
      (committed) => [...committed.values()].every((offset) => offset === 1),
    );
    const metrics = async (): Promise<string> => (await fetch(`${service.url}/metrics`)).text();
    const lagSeries = (text: string): string[] =>
      text.split("\n").filter((line) => line.startsWith("ysearch_streams_lag_records{"));
    expect(lagSeries(await metrics())).toHaveLength(4);
    const other = new SourceProbe({ brokers, ...names }, () => undefined).run();
    await other.until("half of the partitions", () => other.assignment?.partitions.length === 2);
    await until(
      () => getPartitions(service.url),
      (all) => all.filter(({ observed }) => observed === "running").length === 2,
    );
    const text = await metrics();
    expect(lagSeries(text)).toHaveLength(2);
  });
});
