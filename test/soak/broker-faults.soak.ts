import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";

import { createTopic, growTopic } from "../../local/broker/topics.ts";
import { ArticleFeed } from "../../local/feed/plan.ts";
import { FeedProducer } from "../../local/feed/producer.ts";
import type { ServiceProcess } from "../../local/service/service-process.ts";
import { differingArticles, untilCaughtUp } from "../../local/service/verify.ts";
import { uniqueTopic } from "../support/broker.ts";
import { getPartitions, until } from "../support/http.ts";
import { getSource, openService, untilSource, warnings } from "../support/open-service.ts";
import { startProxiedBroker, type ProxiedBroker } from "../support/proxied-broker.ts";
import { writeSoakResult } from "../support/soak-result.ts";

const MINUTES = Number(process.env["SOAK_MINUTES"] ?? "10");
const MIB = 1024 * 1024;
let broker: ProxiedBroker;

beforeAll(async () => {
  broker = await startProxiedBroker();
});
afterAll(() => broker.stop());

interface Running {
  readonly topic: string;
  readonly service: ServiceProcess;
  readonly feed: ArticleFeed;
  readonly send: (count: number) => Promise<void>;
}

async function run(partitions: number): Promise<Running> {
  const topic = uniqueTopic("faults");
  await createTopic(broker.admin, { topic, partitions });
  const producer = new FeedProducer(broker.admin, topic);
  await producer.connect();
  onTestFinished(() => producer.close());
  const feed = new ArticleFeed(500);
  const send = (count: number): Promise<void> => producer.send(feed.next(count, Date.now()));
  await send(1_000);
  const source = { topic, group: `${topic}-group` };
  const service = await openService({ broker: { brokers: [broker.proxy.address] }, source });
  await untilCaughtUp(service.url, "articles", 60_000);
  return { topic, service, feed, send };
}

async function expectApplied({ service, feed }: Running): Promise<void> {
  await untilCaughtUp(service.url, "articles", 120_000);
  expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
}

async function rssMiB(service: ServiceProcess): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]) / MIB;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

it("partitions that are added under load are read within the age of the metadata, from their beginning", async () => {
  const running = await run(3);
  const { service, topic, send } = running;
  const started = performance.now();
  await growTopic(broker.admin, topic, 6);
  const enough = new AbortController();
  const load = (async () => {
    while (!enough.signal.aborted) await send(100);
  })();
  try {
    await until(
      () => getPartitions(service.url),
      (all) => all.length === 6 && all.every(({ observed }) => observed === "running"),
      90_000,
    );
  } finally {
    enough.abort();
    await load;
  }
  const discoveredMs = Math.round(performance.now() - started);
  await expectApplied(running);
  expect((await getPartitions(service.url)).filter(({ observed }) => observed === "stopped")).toEqual([]);
  writeSoakResult("partitions-under-load", { discoveredMs });
});

it("a line that swallows everything is noticed in a minute; reading goes on when it is back", async () => {
  const running = await run(2);
  const { service, send } = running;
  broker.proxy.set({ mode: "blackhole" });
  const started = performance.now();
  await send(200);
  const noticed = await untilSource(service, ({ observed }) => observed === "backing-off", 90_000);
  const noticedMs = Math.round(performance.now() - started);
  expect(noticed.consumer.cause).toMatch(/timeout|broker-unreachable/);
  expect((await service.get("/readyz")).status).toBe(200);
  broker.proxy.set({ mode: "forward" });
  const back = performance.now();
  await expectApplied(running);
  writeSoakResult("blackhole", { noticedMs, backMs: Math.round(performance.now() - back) });
});

it("a broker that comes and goes for minutes costs no memory and few lines, and loses nothing", async () => {
  const running = await run(8);
  const { service, send } = running;
  await wait(5_000);
  const before = await rssMiB(service);
  const rounds = Math.ceil((MINUTES * 60) / 6);
  for (let round = 0; round < rounds; round += 1) {
    await send(200);
    await broker.proxy.close();
    await wait(round % 2 === 0 ? 500 : 3_000);
    await broker.proxy.open();
    await wait(3_000);
  }
  await expectApplied(running);
  const after = await rssMiB(service);
  const lines = (await warnings(service)).length;
  const { rebuilds } = (await getSource(service)).consumer;
  writeSoakResult("flapping", { rounds, rebuilds, rssMiBBefore: before, rssMiBAfter: after, lines });
  expect(after).toBeLessThan(before * 1.3 + 50);
  expect(lines).toBeLessThan(30 + 10 * MINUTES);
});

it("a long outage ends by itself: bounded lines, nothing lost", async () => {
  const running = await run(4);
  const { service, send } = running;
  await broker.proxy.close();
  await send(1_000);
  await wait((MINUTES * 60_000) / 5);
  expect((await service.get("/livez")).status).toBe(200);
  const lines = (await warnings(service)).length;
  await broker.proxy.open();
  const back = performance.now();
  await expectApplied(running);
  const backMs = Math.round(performance.now() - back);
  writeSoakResult("long-outage", { minutes: MINUTES / 5, lines, backMs });
  expect(lines).toBeLessThan(10 + 5 * MINUTES);
});
