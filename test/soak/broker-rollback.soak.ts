import { cp, rm } from "node:fs/promises";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { committedOffsets, createTopic, topicBounds } from "../../local/broker/topics.ts";
import { articleOf, encodeArticle } from "../../local/feed/articles.ts";
import { ArticleFeed } from "../../local/feed/plan.ts";
import { FeedProducer } from "../../local/feed/producer.ts";
import type { ServiceProcess } from "../../local/service/service-process.ts";
import { differingArticles, untilCaughtUp } from "../../local/service/verify.ts";
import { uniqueTopic } from "../support/broker.ts";
import { startDataBroker } from "../support/data-broker.ts";
import { sendExactly } from "../support/exact-producer.ts";
import { getPartitions, until, type PartitionBody } from "../support/http.ts";
import { openService } from "../support/open-service.ts";

async function partitionsOf(service: ServiceProcess, settled: (all: readonly PartitionBody[]) => boolean) {
  return until(
    () => getPartitions(service.url),
    (all) => all.length > 0 && settled(all),
    40_000,
  );
}

const article = (number: number): { key: string; value: Buffer } => {
  const made = articleOf(number, 1, Date.now());
  return { key: made.id, value: encodeArticle(made, false) };
};

it("a broker that comes back with an older copy of its data stops what was read beyond it; the rest flows", async () => {
  const broker = await startDataBroker();
  onTestFinished(() => broker.stop());
  const topic = uniqueTopic("older");
  const group = `${topic}-group`;
  const names = { topic, group };
  await createTopic(broker.brokers, { topic, partitions: 2 });
  const feed = new ArticleFeed(20);
  const send = async (count: number): Promise<void> => {
    const producer = new FeedProducer(broker.brokers, topic);
    await producer.connect();
    await producer.send(feed.next(count, Date.now()));
    await producer.close();
  };
  await send(30);
  const limits = { disputeFor: "2s", retryMax: "500ms" };
  const service = await openService({ broker: { brokers: [...broker.brokers] }, source: names, limits });
  await untilCaughtUp(service.url, "articles", 20_000);
  const copy = join(broker.folder, "copy");
  await broker.whileDown((data) => cp(data, copy, { recursive: true }));
  await sendExactly(broker.brokers, topic, [article(100), article(101)], 1);
  await untilCaughtUp(service.url, "articles", 20_000);
  const ends = (await topicBounds(broker.brokers, topic)).map(({ end }) => end);
  await until(
    () => committedOffsets(broker.brokers, group, topic),
    (committed) => committed.get(1) === ends[1],
  );
  await broker.whileDown(async (data) => {
    await rm(data, { recursive: true });
    await cp(copy, data, { recursive: true });
  });
  const [first, second] = await partitionsOf(
    service,
    (all) => all[1]?.observed === "stopped" && all[0]?.observed === "running",
  );
  expect(second?.stop).toMatchObject({ code: "ABOVE_LOG_END", wanted: String(ends[1]) });
  expect(first?.committed).toBe(String(ends[0]));
  const held = await committedOffsets(broker.brokers, group, topic);
  expect(held.get(1)).toBeLessThan(ends[1] ?? 0);
  expect((await service.get("/v1/documents/articles/article-101")).status).toBe(200);
  expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
});
