import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";

import { withAdmin } from "../../local/broker/admin.ts";
import { committedOffsets, createTopic, deleteTopics, topicBounds } from "../../local/broker/topics.ts";
import { ArticleFeed } from "../../local/feed/plan.ts";
import { FeedProducer } from "../../local/feed/producer.ts";
import type { ServiceProcess } from "../../local/service/service-process.ts";
import { differingArticles, untilCaughtUp } from "../../local/service/verify.ts";
import { Member } from "../consumers/kafka/support/member.ts";
import { SourceProbe } from "../consumers/kafka/support/source-probe.ts";
import { uniqueTopic } from "../support/broker.ts";
import { until } from "../support/http.ts";
import { OperatorClient } from "../support/operator-client.ts";
import { getSource, openService, untilSource, warnings } from "../support/open-service.ts";
import { startProxiedBroker, type ProxiedBroker } from "../support/proxied-broker.ts";

let broker: ProxiedBroker;

beforeAll(async () => {
  broker = await startProxiedBroker();
});
afterAll(() => broker.stop());

interface Running {
  readonly topic: string;
  readonly group: string;
  readonly service: ServiceProcess;
  readonly feed: ArticleFeed;
  readonly send: (count: number) => Promise<void>;
  readonly sendBad: () => Promise<void>;
}

/** The service on a topic of its own, with a producer that goes around the proxy. */
async function run(limits: Record<string, unknown> = {}, more: Record<string, unknown> = {}): Promise<Running> {
  const topic = uniqueTopic("outage");
  const group = `${topic}-group`;
  await createTopic(broker.admin, { topic, partitions: 2 });
  const producer = new FeedProducer(broker.admin, topic);
  await producer.connect();
  onTestFinished(() => producer.close());
  const feed = new ArticleFeed(40);
  const send = (count: number): Promise<void> => producer.send(feed.next(count, Date.now()));
  await send(60);
  const service = await openService({
    broker: { brokers: [broker.proxy.address] },
    source: { topic, group, ...more },
    limits,
  });
  const sendBad = (): Promise<void> => producer.send([feed.poison(Date.now())]);
  return { topic, group, service, feed, send, sendBad };
}

interface LagRow {
  readonly records: { readonly known: boolean; readonly cause?: string };
}

async function lagRows(service: ServiceProcess): Promise<readonly LagRow[]> {
  const { status, body } = await service.get("/v1/sources/articles/lag");
  expect(status).toBe(200);
  return (body as { readonly partitions: readonly LagRow[] }).partitions;
}

async function expectServing(service: ServiceProcess): Promise<void> {
  for (const path of ["/livez", "/readyz", "/v1/sources", "/v1/sources/articles/partitions", "/metrics"]) {
    const response = await fetch(`${service.url}${path}`);
    await response.arrayBuffer();
    expect([path, response.status]).toEqual([path, 200]);
  }
}

/**
 * By default within 20 seconds. A join that was cut off leaves a member that the group waits for: its session (10 s) has to
 * end, and the rebalance that it was part of.
 */
async function expectApplied({ service, feed }: Running, withinMs = 20_000): Promise<void> {
  await untilCaughtUp(service.url, "articles", withinMs);
  expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
}

it("serves without a broker at start and during an outage, says so, and goes on by itself", async () => {
  await broker.proxy.close();
  const running = await run();
  const { service, send } = running;
  const away = await untilSource(service, ({ consumer }) => consumer.rebuilds >= 2);
  expect(away).toMatchObject({ observed: "backing-off", consumer: { cause: "broker-unreachable" } });
  await expectServing(service);
  expect(await lagRows(service)).toEqual([]);
  await broker.proxy.open();
  await expectApplied(running);

  const { rebuilds } = (await getSource(service)).consumer;
  await broker.proxy.close();
  await send(60);
  await untilSource(
    service,
    ({ observed, consumer }) => observed === "backing-off" && consumer.rebuilds > rebuilds + 1,
  );
  await expectServing(service);
  const rows = await lagRows(service);
  expect(rows).toHaveLength(2);
  for (const { records } of rows) expect(records).toMatchObject({ known: false, cause: "broker-unreachable" });
  expect((await warnings(service)).length).toBeLessThan(12);
  await broker.proxy.open();
  await expectApplied(running);
  expect((await getSource(service)).consumer.rebuilds).toBeGreaterThan(rebuilds);
});

it("goes on when connections are cut over and over, and over a slow line", async () => {
  const running = await run();
  const { service, send, topic, group } = running;
  for (let round = 0; round < 8; round += 1) {
    await send(20);
    broker.proxy.cut();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await expectApplied(running, 45_000);
  const { rebuilds } = (await getSource(service)).consumer;
  broker.proxy.set({ mode: "delay", ms: 150 });
  try {
    await send(100);
    await expectApplied(running);
    expect((await getSource(service)).consumer.rebuilds).toBe(rebuilds);
    const ends = await topicBounds(broker.admin, topic);
    const committed = async () => committedOffsets(broker.admin, group, topic);
    await expect
      .poll(committed, { timeout: 10_000 })
      .toEqual(new Map(ends.map(({ partition, end }) => [partition, end])));
  } finally {
    broker.proxy.set({ mode: "forward" });
  }
});

it("leaves the group for a join that was cut off, so that nobody waits for it", async () => {
  const running = await run();
  const { topic, group, service } = running;
  await expectApplied(running);
  expect(await service.stop()).toBe(0);
  // A frozen member keeps the join of the next one open, until its session is over.
  const frozen = new Member(String(broker.admin[0]), topic, group, 10_000);
  await frozen.until("member");
  await frozen.signal("SIGSTOP");
  const members = () =>
    withAdmin(broker.admin, async (admin) => (await admin.describeGroups([group])).groups[0]?.members ?? []);
  const [alone] = await members();
  const others = async () => (await members()).map(({ memberId }) => memberId).filter((id) => id !== alone?.memberId);
  await service.restart();
  const [joining] = await until(others, (ids) => ids.length === 1);
  broker.proxy.cut();
  const next = await until(others, (ids) => ids.some((id) => id !== joining), 15_000);
  expect(next).not.toContain(joining);
  expect(next).toHaveLength(1);
  const before = performance.now();
  await running.send(20);
  await expectApplied(running);
  expect(performance.now() - before).toBeLessThan(15_000);
});

it("never has a topic created by asking for it: not the one that was deleted, not one for dead letters", async () => {
  const running = await run({}, { createDeadLetterTopic: false });
  const { service, topic, sendBad } = running;
  await expectApplied(running);
  await sendBad();
  await untilSource(service, ({ observed, reason }) => observed === "holding" && reason?.includes(".dlq") === true);
  await deleteTopics(broker.admin, [topic]);
  const { rebuilds } = (await getSource(service)).consumer;
  await untilSource(
    service,
    ({ observed, consumer }) => observed === "backing-off" && consumer.rebuilds >= rebuilds + 2,
  );
  expect((await getSource(service)).recentErrors.some(({ code }) => code === "BROKER_TOPIC_MISSING")).toBe(true);
  const topics = await withAdmin(broker.admin, (admin) => admin.listTopics());
  expect(topics.filter((name) => name.startsWith(topic))).toEqual([]);
});

it("OFFSET_DISPUTED: an offset that bounds contain and a replica denies stops that partition alone; its page gets it going", async () => {
  const running = await run({ disputeFor: "2s", retryMax: "500ms" });
  const { service, send, topic, group } = running;
  const operator = new OperatorClient(service.url);
  await expectApplied(running);
  const committed = async (partition: number) => (await committedOffsets(broker.admin, group, topic)).get(partition);
  const [zero, one] = await topicBounds(broker.admin, topic);
  await until(
    () => committed(0),
    (offset) => offset === zero?.end,
  );
  broker.proxy.outOfRange = new Set([0]);
  onTestFinished(() => {
    broker.proxy.outOfRange = new Set();
  });
  await send(60);
  const { body } = await until(
    () => operator.partition(0),
    ({ body: seen }) => seen["observed"] === "stopped",
  );
  const end = (await topicBounds(broker.admin, topic)).map((bounds) => bounds.end);
  expect(body["stop"]).toMatchObject({
    code: "OFFSET_DISPUTED",
    wanted: String(zero?.end),
    bounds: { logStart: "0", end: String(end[0]) },
    page: "docs/stops/OFFSET_DISPUTED.md",
  });
  // Nothing moved; the sibling, which the same broker answers, is read to its end.
  expect(await committed(0)).toBe(zero?.end);
  await until(
    () => committed(1),
    (offset) => offset === end[1],
  );
  expect(end[1]).toBeGreaterThan(one?.end ?? 0);
  const { recentErrors } = await getSource(service);
  expect(recentErrors.find(({ code }) => code === "FETCH_OUT_OF_RANGE")?.text).toBeDefined();
  // Before the broker is healthy the resumption is taken, and the partition stops again where it stood.
  expect((await operator.resume(0, { from: "committed" })).status).toBe(200);
  await until(
    () => operator.partition(0),
    ({ body: seen }) =>
      seen["observed"] === "stopped" &&
      (seen["stop"] as { since: string }).since !== (body["stop"] as { since: string }).since,
  );
  expect(await committed(0)).toBe(zero?.end);
  broker.proxy.outOfRange = new Set();
  expect((await operator.resume(0, { from: "committed" })).status).toBe(200);
  await expectApplied(running);
  expect(await operator.gaps()).toEqual([]);
});

it("ends in its time and with 0 when it is told to while the broker is away, and goes on after that", async () => {
  const running = await run({ drainTimeout: "3s" });
  const { service, send } = running;
  await expectApplied(running);
  await send(60);
  await broker.proxy.close();
  const before = performance.now();
  expect(await service.stop()).toBe(0);
  expect(performance.now() - before).toBeLessThan(6_000);
  await broker.proxy.open();
  await service.restart();
  await expectApplied(running);
});

it("ends in its time and with 0 when it is told to during a rebalance", async () => {
  const running = await run();
  const { service, send, topic, group } = running;
  for (const delayMs of [0, 400]) {
    await send(60);
    const other = new SourceProbe({ brokers: broker.admin, topic, group }, () => undefined).run();
    await other.until("it joins", () => other.states.at(-1)?.state === "joining");
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    const before = performance.now();
    expect(await service.stop()).toBe(0);
    expect(performance.now() - before).toBeLessThan(8_000);
    await other.source.stop(10_000);
    await service.restart();
    await expectApplied(running);
  }
  expect(await service.lastLines(100_000)).not.toMatch(/unhandled|nobody looked|\n {4}at /);
});
