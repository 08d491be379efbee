import { afterEach, describe, expect, it } from "vitest";
import { committedOffsets, deleteRecords, topicBounds } from "../../local/broker/topics.ts";
import { withAdmin } from "../../local/broker/admin.ts";
import { ArticleFeed, POISON_KEY } from "../../local/feed/plan.ts";
import { differingArticles, untilCaughtUp } from "../../local/service/verify.ts";
import { useBroker } from "../support/broker.ts";
import { getJson, getPartitions, until } from "../support/http.ts";
import { commitsAheadOfOwners, openScenario, resetGroup, type Scenario } from "../support/scenario.ts";

/** The broker deletes what is older than its retention, by the record's own time. */
const NOW = Date.now();
let scenario: Scenario | undefined;

async function open(partitions: number, more: Partial<Parameters<typeof openScenario>[0]> = {}): Promise<Scenario> {
  scenario = await openScenario({ brokers: useBroker(), partitions, ...more });
  return scenario;
}

afterEach(async () => {
  await scenario?.close();
  scenario = undefined;
});

/** Everything that is stored of the feed's articles, with provenance, as text. */
async function stored(url: string, feed: ArticleFeed): Promise<Map<string, string>> {
  const documents = new Map<string, string>();
  for (const id of feed.expected.keys()) {
    const { body } = await getJson(`${url}/v1/documents/articles/${id}`);
    const { asOf: _asOf, requestId: _requestId, instance: _instance, ...same } = body as Record<string, unknown>;
    documents.set(id, JSON.stringify(same));
  }
  return documents;
}

describe("one record, end to end, that cannot be lost", () => {
  it("survives SIGKILL at any moment: newest versions stand, deletes stay, no commit is ahead of two owners", async () => {
    const { producer, service } = await open(4);
    const feed = new ArticleFeed(150);
    for (let round = 0; round < 4; round += 1) {
      await producer.send(feed.next(400, NOW));
      if (round === 3) break;
      if (round > 0)
        await until(
          () => getPartitions(service.url),
          (all) => all.some((one) => one.watermark !== "0"),
        );
      await service.kill();
      expect(await commitsAheadOfOwners(scenario as Scenario)).toEqual([]);
      await service.restart();
    }
    await untilCaughtUp(service.url, "articles", 60_000);
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
  });

  it("replaying the topic by a group reset changes nothing, not even provenance", async () => {
    const { producer, service, brokers, group, topic } = await open(2);
    const feed = new ArticleFeed(60);
    await producer.send(feed.next(500, NOW));
    await untilCaughtUp(service.url, "articles", 30_000);
    const before = await stored(service.url, feed);
    expect(await service.stop()).toBe(0);
    await resetGroup(scenario as Scenario);
    await service.restart();
    await untilCaughtUp(service.url, "articles", 30_000);
    const ends = await topicBounds(brokers, topic);
    await until(
      () => committedOffsets(brokers, group, topic),
      (committed) => ends.every(({ partition, end }) => committed.get(partition) === end),
    );
    expect(await stored(service.url, feed)).toEqual(before);
  });

  it("SIGTERM commits what is acknowledged, leaves the group and exits 0", async () => {
    const { producer, service, brokers, group, topic } = await open(2);
    const feed = new ArticleFeed(50);
    await producer.send(feed.next(300, NOW));
    await untilCaughtUp(service.url, "articles", 30_000);
    expect(await service.stop()).toBe(0);
    const ends = await topicBounds(brokers, topic);
    const committed = await committedOffsets(brokers, group, topic);
    expect(ends.map(({ partition }) => committed.get(partition))).toEqual(ends.map(({ end }) => end));
    const { groups } = await withAdmin(brokers, (admin) => admin.describeGroups([group]));
    expect(groups[0]?.members).toEqual([]);
  });
});

describe("poison", () => {
  it("goes to the dead letters with its origin, and its offset is committed after that", async () => {
    const { producer, service, brokers, topic } = await open(1);
    const feed = new ArticleFeed(5);
    await producer.send([...feed.next(3, NOW), feed.poison(NOW), ...feed.next(3, NOW)]);
    await untilCaughtUp(service.url, "articles", 30_000);
    const [letters] = await topicBounds(brokers, `${topic}.dlq`);
    expect(letters?.end).toBe(1);
    expect((await service.get(`/v1/documents/articles/${POISON_KEY}`)).status).toBe(404);
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
  });
});

describe("I4: an offset out of range", () => {
  it("stops its partition of eight visibly and for good; seven flow; nothing was moved", async () => {
    const { producer, service, brokers, group, topic } = await open(8);
    const feed = new ArticleFeed(200);
    await producer.send(feed.next(800, NOW));
    await untilCaughtUp(service.url, "articles", 30_000);
    expect(await service.stop()).toBe(0);
    const before = await committedOffsets(brokers, group, topic);
    await producer.send(feed.next(800, NOW));
    const [, , , cut] = await topicBounds(brokers, topic);
    await deleteRecords(brokers, topic, 3, cut?.end ?? 0);
    await service.restart();
    for (let life = 0; life < 2; life += 1) {
      const partitions = await until(
        () => getPartitions(service.url),
        (all) => all.length === 8 && all.every((one) => one.observed === "running" || one.observed === "stopped"),
      );
      const stopped = partitions.filter((one) => one.observed === "stopped");
      expect(stopped.map((one) => one.partition)).toEqual([3]);
      expect(stopped[0]?.stop).toMatchObject({
        code: "BELOW_LOG_START",
        wanted: String(before.get(3)),
        lost: { from: String(before.get(3)), to: String(cut?.end) },
      });
      const ends = await topicBounds(brokers, topic);
      await until(
        () => committedOffsets(brokers, group, topic),
        (committed) => ends.every(({ partition, end }) => partition === 3 || committed.get(partition) === end),
      );
      expect((await committedOffsets(brokers, group, topic)).get(3)).toBe(before.get(3));
      if (life === 0) {
        await service.kill();
        await service.restart();
      }
    }
    expect((await service.get("/readyz")).status).toBe(200);
  });
});
