import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { withAdmin } from "../../local/broker/admin.ts";
import {
  committedOffsets,
  createTopic,
  deleteRecords,
  deleteTopics,
  growTopic,
  topicBounds,
} from "../../local/broker/topics.ts";
import { FeedProducer } from "../../local/feed/producer.ts";
import { ArticleFeed } from "../../local/feed/plan.ts";
import type { ServiceProcess } from "../../local/service/service-process.ts";
import { differingArticles, untilCaughtUp } from "../../local/service/verify.ts";
import { SourceProbe } from "../consumers/kafka/support/source-probe.ts";
import { uniqueTopic, useBroker } from "../support/broker.ts";
import { getPartitions, until, type PartitionBody } from "../support/http.ts";
import { openService, untilSource } from "../support/open-service.ts";

const brokers = useBroker();
/** Short, where the defaults wait for an election or spare an idle broker. */
const limits = { disputeFor: "2s", retryMax: "500ms", metadataMaxAge: "1s" };

interface Applied {
  readonly topic: string;
  readonly group: string;
  readonly folder: string;
  readonly service: ServiceProcess;
  readonly feed: ArticleFeed;
  readonly send: (count: number) => Promise<void>;
}

/** A topic of `partitions` with `count` records that the service has applied and committed. */
async function applied(partitions: number, count: number, source: Record<string, unknown> = {}): Promise<Applied> {
  const topic = uniqueTopic("events");
  const group = `${topic}-group`;
  await createTopic(brokers, { topic, partitions });
  const feed = new ArticleFeed(30);
  const send = async (more: number): Promise<void> => sendTo(topic, feed, more);
  await send(count);
  const folder = await mkdtemp(join(tmpdir(), "ysearch-events-"));
  const service = await openService({
    broker: { brokers: [...brokers] },
    source: { topic, group, ...source },
    limits,
    folder,
  });
  await untilCaughtUp(service.url, "articles", 20_000);
  await untilCommitted(topic, group);
  return { topic, group, folder, service, feed, send };
}

async function sendTo(topic: string, feed: ArticleFeed, count: number): Promise<void> {
  const producer = new FeedProducer(brokers, topic);
  await producer.connect();
  await producer.send(feed.next(count, Date.now()));
  await producer.close();
}

async function untilCommitted(topic: string, group: string): Promise<ReadonlyMap<number, number>> {
  const ends = await topicBounds(brokers, topic);
  return until(
    () => committedOffsets(brokers, group, topic),
    (committed) => ends.every(({ partition, end }) => end === 0 || committed.get(partition) === end),
  );
}

async function untilStopped(service: ServiceProcess, partition = 0): Promise<PartitionBody> {
  const all = await until(
    () => getPartitions(service.url),
    (seen) => seen.find((one) => one.partition === partition)?.observed === "stopped",
  );
  const found = all.find((one) => one.partition === partition);
  if (found === undefined) throw new Error(`no partition ${partition}`);
  return found;
}

async function topicExists(topic: string): Promise<boolean> {
  return withAdmin(brokers, async (admin) => (await admin.listTopics()).includes(topic));
}

describe("a topic that is deleted", () => {
  it("is missed by name and not created again; a smaller one in its place stops, for good", async () => {
    const { topic, group, service } = await applied(1, 60);
    await deleteTopics(brokers, [topic]);
    await untilSource(
      service,
      ({ observed, recentErrors }) => observed === "backing-off" && recentErrors[0]?.code === "BROKER_TOPIC_MISSING",
    );
    expect((await service.get("/livez")).status).toBe(200);
    expect(await topicExists(topic)).toBe(false);
    await createTopic(brokers, { topic, partitions: 1 });
    await sendTo(topic, new ArticleFeed(5), 10);
    const { stop } = await untilStopped(service);
    expect(["ABOVE_LOG_END", "COMMIT_VANISHED"]).toContain(stop?.code);
    expect(stop?.wanted).toBe("60");
    await service.kill();
    await service.restart();
    expect((await untilStopped(service)).stop?.code).toBe(stop?.code);
    expect((await committedOffsets(brokers, group, topic)).get(0)).toBe(-1);
    expect((await service.get("/readyz")).status).toBe(200);
    expect((await untilSource(service, ({ observed }) => observed === "stopped")).reason).toMatch(/partition 0/);
  });

  it("and re-created larger than our position stops too, whether the service ran or not", async () => {
    for (const ran of [true, false]) {
      const { topic, group, service, feed } = await applied(1, 20);
      if (!ran) await service.stop();
      await deleteTopics(brokers, [topic]);
      // Other content at the same offsets, and beyond them at once.
      await createTopic(brokers, { topic, partitions: 1 });
      await sendTo(topic, new ArticleFeed(7), 90);
      if (!ran) await service.restart();
      const { stop } = await untilStopped(service);
      expect(["COMMIT_VANISHED", "TOPIC_RECREATED"]).toContain(stop?.code);
      expect((await committedOffsets(brokers, group, topic)).get(0)).toBe(-1);
      // While the service runs, what it fetched of the other log before the next read-back is applied; never committed.
      if (!ran) expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
      await service.kill();
    }
  });
});

describe("a topic whose partitions grow", () => {
  it("to a multiple under load is read in all of them, from their beginning, without a stop", async () => {
    const { topic, service, feed, send } = await applied(2, 40, { startFrom: "earliest" });
    const before = performance.now();
    await growTopic(brokers, topic, 4);
    for (let round = 0; round < 5; round += 1) await send(60);
    await until(
      () => getPartitions(service.url),
      (all) => all.length === 4 && all.every(({ observed }) => observed === "running"),
    );
    // The age of the metadata, a rejoin, and a reading of the bounds.
    expect(performance.now() - before).toBeLessThan(20_000);
    await untilCaughtUp(service.url, "articles", 20_000);
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
    const ends = (await topicBounds(brokers, topic)).map(({ end }) => end);
    expect(ends.slice(2).every((end) => end > 0)).toBe(true);
  });

  it("to no multiple stops its partitions by name; nothing is read of the new ones", async () => {
    const { topic, group, service } = await applied(2, 40);
    await service.stop();
    const before = await committedOffsets(brokers, group, topic);
    await growTopic(brokers, topic, 3);
    await service.restart();
    for (const partition of [0, 1, 2]) {
      expect((await untilStopped(service, partition)).stop?.code).toBe("PARTITIONS_CHANGED");
    }
    const after = await committedOffsets(brokers, group, topic);
    expect(after).toEqual(new Map([...before, [2, -1]]));
  });
});

describe("records that are deleted", () => {
  it("below the position change nothing; under a held partition they are a lost range, and its sibling flows", async () => {
    const { topic, group, service, send } = await applied(2, 60, { createDeadLetterTopic: false });
    const [first] = await topicBounds(brokers, topic);
    await deleteRecords(brokers, topic, 0, (first?.end ?? 0) - 5);
    await send(40);
    await untilCaughtUp(service.url, "articles", 20_000);
    expect((await getPartitions(service.url)).every(({ observed }) => observed === "running")).toBe(true);
    const held = await untilCommitted(topic, group);
    const bad = new ArticleFeed(1);
    const producer = new FeedProducer(brokers, topic);
    await producer.connect();
    onTestFinished(() => producer.close());
    await producer.send([bad.poison(Date.now())]);
    const [holding] = await until(
      async () => (await getPartitions(service.url)).filter(({ observed }) => observed === "holding"),
      (all) => all.length === 1,
    );
    const partition = holding?.partition ?? -1;
    for (let round = 0; round < 3; round += 1) await send(60);
    const end = (await topicBounds(brokers, topic))[partition]?.end ?? 0;
    await deleteRecords(brokers, topic, partition, end);
    await service.kill();
    await service.restart();
    const { stop, committed } = await untilStopped(service, partition);
    expect(stop).toMatchObject({
      code: "BELOW_LOG_START",
      wanted: String(held.get(partition)),
      lost: { from: String(held.get(partition)), to: String(end) },
    });
    expect(committed).toBe(String(held.get(partition)));
    await until(
      () => getPartitions(service.url),
      (all) => all.filter((one) => one.partition !== partition).every(({ observed }) => observed === "running"),
    );
  });
});

describe("a group or a store that is changed from outside", () => {
  it("a commit that is moved ahead stops; a group that is deleted is taken up from the copy", async () => {
    const { topic, group, service, send, feed } = await applied(1, 20);
    await service.stop();
    await send(30);
    await withAdmin(brokers, (admin) => admin.deleteGroups([group]));
    await service.restart();
    await untilCaughtUp(service.url, "articles", 20_000);
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
    await untilCommitted(topic, group);
    await service.stop();
    await send(30);
    const mover = new SourceProbe({ brokers, topic, group }, () => 50).run();
    const move = async () => mover.source.commit(mover.epoch, new Map([[0, 80]]));
    await until(move, ({ outcome }) => outcome === "committed");
    await mover.source.stop(10_000);
    await service.restart();
    expect((await untilStopped(service)).stop).toMatchObject({ code: "COMMIT_MOVED", wanted: "80" });
  });

  it("a store that is gone under a committed group stops; nothing is read or committed", async () => {
    const { topic, group, service, send, folder } = await applied(1, 20);
    await service.stop();
    await rm(join(folder, "data"), { recursive: true });
    await send(30);
    await service.restart();
    expect((await untilStopped(service)).stop).toMatchObject({ code: "KV_COPY_MISSING", wanted: "20" });
    expect((await committedOffsets(brokers, group, topic)).get(0)).toBe(20);
  });
});
