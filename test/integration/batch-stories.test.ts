import { CompressionTypes, Kafka, logLevel, Partitioners } from "kafkajs";
import { afterEach, describe, expect, it } from "vitest";
import { topicBounds } from "../../local/broker/topics.ts";
import { ArticleFeed } from "../../local/feed/plan.ts";
import { differingArticles, untilCaughtUp } from "../../local/service/verify.ts";
import { useBroker } from "../support/broker.ts";
import { until } from "../support/http.ts";
import { OperatorClient } from "../support/operator-client.ts";
import { openScenario, type Scenario } from "../support/scenario.ts";

let scenario: Scenario | undefined;

afterEach(async () => {
  await scenario?.close();
  scenario = undefined;
});

/** One batch of `bytes` in memory, a few KiB on the wire. */
async function sendInflating(topic: string, bytes: number): Promise<void> {
  const kafka = new Kafka({ clientId: "inflating", brokers: [...useBroker()], logLevel: logLevel.NOTHING });
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  const value = Buffer.alloc(bytes / 4);
  const messages = Array.from({ length: 4 }, () => ({ key: "inflating", value }));
  await producer.send({ topic, acks: -1, compression: CompressionTypes.GZIP, messages });
  await producer.disconnect();
}

describe("BATCH_TOO_LARGE", () => {
  it("goes on behind the batch when its loss is accepted", async () => {
    scenario = await openScenario({
      brokers: useBroker(),
      partitions: 1,
      limits: { batchDecompressedBytes: "1MiB" },
    });
    const { service, producer, brokers, topic } = scenario;
    const operator = new OperatorClient(service.url);
    const feed = new ArticleFeed(10);
    await producer.send(feed.next(5, Date.now()));
    await untilCaughtUp(service.url, "articles", 30_000);
    await sendInflating(topic, 4 * 1024 * 1024);
    const [behind] = await topicBounds(brokers, topic);
    await producer.send(feed.next(5, Date.now()));
    const { body } = await until(
      () => operator.partition(0),
      ({ body: seen }) => seen["observed"] === "stopped" && seen["committed"] === "5",
    );
    expect(body["stop"]).toMatchObject({ code: "BATCH_TOO_LARGE", wanted: "5", page: "docs/stops/BATCH_TOO_LARGE.md" });
    const from = String(behind?.end);
    const refused = await operator.resume(0, { from });
    expect([refused.status, refused.body["lost"]]).toEqual([409, { from: "5", to: from }]);
    expect((await operator.resume(0, { from, acceptLoss: { from: "5", toMax: from } })).status).toBe(200);
    await untilCaughtUp(service.url, "articles", 30_000);
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
    expect(await operator.gaps()).toMatchObject([{ from: "5", to: from, cause: "skipped" }]);
  });
});
