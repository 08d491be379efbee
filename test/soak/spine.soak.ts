import { expect, it } from "vitest";
import { startBroker } from "../../local/broker/start-broker.ts";
import { committedOffsets, topicBounds } from "../../local/broker/topics.ts";
import { ArticleFeed } from "../../local/feed/plan.ts";
import { differingArticles, untilCaughtUp } from "../../local/service/verify.ts";
import { until } from "../support/http.ts";
import { commitsAheadOfOwners, openScenario, resetGroup } from "../support/scenario.ts";
import { writeSoakResult } from "../support/soak-result.ts";

const RECORDS = 200_000;
const KEYS = 20_000;
const PARTITIONS = 8;
const KILLS = 5;
const BATCH = 2_000;

it("200,000 updates and deletes on 20,000 keys, killed five times, replayed once: nothing is lost or goes back", async () => {
  const broker = await startBroker({ way: "kafka" });
  const scenario = await openScenario({ brokers: broker.brokers, partitions: PARTITIONS });
  const { producer, service, group, topic } = scenario;
  try {
    const feed = new ArticleFeed(KEYS);
    const rounds = RECORDS / BATCH;
    const killAt = new Set(
      Array.from({ length: KILLS }, (_unused, kill) => Math.floor(((kill + Math.random()) * rounds) / KILLS)),
    );
    const started = Date.now();
    const restartMs: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await producer.send(feed.next(BATCH, Date.now()));
      if (!killAt.has(round)) continue;
      await service.kill();
      expect(await commitsAheadOfOwners(scenario)).toEqual([]);
      const restarting = Date.now();
      await service.restart();
      restartMs.push(Date.now() - restarting);
    }
    await untilCaughtUp(service.url, "articles", 600_000);
    const appliedMs = Date.now() - started;
    const differing = await differingArticles(service.url, "articles", feed.expected);
    expect(differing).toEqual([]);
    expect(await service.stop()).toBe(0);
    expect(await commitsAheadOfOwners(scenario)).toEqual([]);
    await resetGroup(scenario);
    await service.restart();
    const replaying = Date.now();
    const ends = await topicBounds(broker.brokers, topic);
    await until(
      () => committedOffsets(broker.brokers, group, topic),
      (committed) => ends.every(({ partition, end }) => committed.get(partition) === end),
      600_000,
    );
    const replayedMs = Date.now() - replaying;
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
    writeSoakResult("spine", {
      records: RECORDS,
      keys: KEYS,
      partitions: PARTITIONS,
      kills: restartMs.length,
      deleted: [...feed.expected.values()].filter((article) => article === undefined).length,
      appliedMs,
      restartMsMax: Math.max(...restartMs),
      replayedMs,
      replayedRecordsPerSecond: Math.round(RECORDS / (replayedMs / 1_000)),
      differing: differing.length,
      commitsAheadOfOwners: 0,
    });
  } finally {
    await scenario.close();
    await broker.stop();
  }
});
