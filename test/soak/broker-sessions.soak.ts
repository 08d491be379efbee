import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { createTopic } from "../../local/broker/topics.ts";
import { ArticleFeed } from "../../local/feed/plan.ts";
import { FeedProducer } from "../../local/feed/producer.ts";
import { differingArticles, untilCaughtUp } from "../../local/service/verify.ts";
import { uniqueTopic } from "../support/broker.ts";
import { getSource, openService, warnings } from "../support/open-service.ts";
import { PASSWORD, startSecureBroker, USER } from "../support/secure-broker.ts";

/** How long a login holds; a client logs in again 20 s before it ends, so here every 5 s. */
const SESSION_MS = 25_000;
const ROUNDS = 60;

it("logins that end are renewed on open connections: a minute without one rebuild", async () => {
  const broker = await startSecureBroker({ "connections.max.reauth.ms": String(SESSION_MS) });
  onTestFinished(() => broker.stop());
  const folder = await mkdtemp(join(tmpdir(), "ysearch-sessions-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const passwordFile = join(folder, "password");
  await writeFile(passwordFile, PASSWORD);
  const topic = uniqueTopic("sessions");
  await createTopic(broker.admin, { topic, partitions: 2 });
  const sasl = { mechanism: "scram-sha-512", username: USER, passwordFile };
  const service = await openService({ broker: { brokers: [broker.sasl], sasl }, source: { topic } });
  const producer = new FeedProducer(broker.admin, topic);
  await producer.connect();
  onTestFinished(() => producer.close());
  const feed = new ArticleFeed(50);
  for (let round = 0; round < ROUNDS; round += 1) {
    await producer.send(feed.next(20, Date.now()));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  await untilCaughtUp(service.url, "articles", 20_000);
  expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
  expect((await getSource(service)).consumer.rebuilds).toBe(0);
  expect(await warnings(service)).toEqual([]);
});
