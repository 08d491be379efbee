import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } from "kafkajs";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { withAdmin } from "../../local/broker/admin.ts";
import { committedOffsets, createTopic, topicBounds } from "../../local/broker/topics.ts";
import { FeedProducer } from "../../local/feed/producer.ts";
import { ArticleFeed } from "../../local/feed/plan.ts";
import { differingArticles, untilCaughtUp } from "../../local/service/verify.ts";
import { uniqueTopic } from "../support/broker.ts";
import { makeAuthority } from "../support/certificates.ts";
import { getJson, getPartitions, until } from "../support/http.ts";
import { getSource, openService, untilSource, warnings } from "../support/open-service.ts";
import { PASSWORD, startSecureBroker, USER, type SecureBroker } from "../support/secure-broker.ts";

let broker: SecureBroker;
let folder: string;

beforeAll(async () => {
  // Logins end under each story, sooner than kafkajs alone can renew them.
  const settings = { "connections.max.reauth.ms": String(SESSION_MS) };
  [broker, folder] = await Promise.all([startSecureBroker(settings), mkdtemp(join(tmpdir(), "ysearch-security-"))]);
  await writeFile(join(folder, "password"), `${PASSWORD}\n`);
  await writeFile(join(folder, "wrong-password"), "wrong horse\n");
});

afterAll(async () => {
  await broker.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Shorter than the 20 s before its end at which a login is renewed. */
const SESSION_MS = 6_000;

type Mechanism = "plain" | "scram-sha-256" | "scram-sha-512";

function saslOf(mechanism: Mechanism, password = "password"): Record<string, unknown> {
  return { sasl: { mechanism, username: USER, passwordFile: join(folder, password) } };
}

const tls = (): Record<string, unknown> => ({ ssl: { caFile: broker.caFile } });

async function filledTopic(count = 20): Promise<{ topic: string; feed: ArticleFeed }> {
  const topic = uniqueTopic("secure");
  await createTopic(broker.admin, { topic, partitions: 1 });
  const feed = new ArticleFeed(5);
  const producer = new FeedProducer(broker.admin, topic);
  await producer.connect();
  await producer.send([...feed.next(count, Date.now()), feed.poison(Date.now())]);
  await producer.close();
  return { topic, feed };
}

/** Each check beside the others, since most of its time is waiting; a failure names its case. */
async function allOf<T>(cases: readonly (readonly [name: string, made: T])[], check: (made: T) => Promise<void>) {
  const named = async ([name, made]: readonly [string, T]): Promise<void> => {
    try {
      await check(made);
    } catch (error) {
      throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  };
  await Promise.all(cases.map(named));
}

it("reads and writes dead letters over TLS, SASL PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512", async () => {
  const ways: readonly (readonly [name: string, block: Record<string, unknown>])[] = [
    ["TLS under an authority of its own", { brokers: [broker.tls], ...tls() }],
    ["SASL PLAIN over TLS", { brokers: [broker.saslTls], ...tls(), ...saslOf("plain") }],
    ["SCRAM-SHA-256 over TLS", { brokers: [broker.saslTls], ...tls(), ...saslOf("scram-sha-256") }],
    ["SCRAM-SHA-512 without TLS", { brokers: [broker.sasl], ...saslOf("scram-sha-512") }],
  ];
  await allOf(ways, async (block) => {
    const { topic, feed } = await filledTopic();
    const service = await openService({ broker: block, source: { topic, group: topic } });
    await untilCaughtUp(service.url, "articles", 20_000);
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
    expect((await topicBounds(broker.admin, `${topic}.dlq`))[0]?.end).toBe(1);
    expect((await getSource(service)).consumer.rebuilds).toBe(0);
    expect(await service.stop()).toBe(0);
  });
});

it("says why a broker is not trusted or does not trust us, in few lines, and serves on", async () => {
  const { caFile } = await makeAuthority(folder, "stranger");
  const { saslTls } = broker;
  const scram = saslOf("scram-sha-512", "wrong-password");
  const refusals: readonly (readonly [name: string, refusal: { block: Record<string, unknown>; text: RegExp }])[] = [
    ["another authority", { block: { brokers: [broker.tls], ssl: { caFile } }, text: /certificate/ }],
    ["another host's certificate", { block: { brokers: [broker.wrongName], ...tls() }, text: /altnames/ }],
    [
      "a wrong password, PLAIN",
      { block: { brokers: [saslTls], ...tls(), ...saslOf("plain", "wrong-password") }, text: /authentication failed/i },
    ],
    ["a wrong password, SCRAM", { block: { brokers: [saslTls], ...tls(), ...scram }, text: /authentication failed/i }],
  ];
  await allOf(refusals, async ({ block, text }) => {
    const service = await openService({ broker: block, source: { topic: "any" } });
    const refused = await untilSource(
      service,
      (seen) => seen.observed === "backing-off" && seen.consumer.rebuilds >= 3,
    );
    expect(refused.reason).toMatch(text);
    expect(refused.consumer.cause).toBe("authentication-failed");
    expect((await getJson(`${service.url}/livez`)).status).toBe(200);
    expect((await getJson(`${service.url}/readyz`)).status).toBe(200);
    expect((await warnings(service)).length).toBeLessThan(8);
    expect(await service.lastLines(100_000)).not.toMatch(/horse/);
    expect(await service.stop()).toBe(0);
  });
});

/** The service on a filled topic, caught up, as the user whose rights are taken. */
async function running(partitions: number) {
  const topic = uniqueTopic("lost");
  await createTopic(broker.admin, { topic, partitions });
  await createTopic(broker.admin, { topic: `${topic}.dlq`, partitions: 1 });
  const block = { brokers: [broker.saslTls], ...tls(), ...saslOf("plain") };
  const group = `${topic}-group`;
  const service = await openService({ broker: block, source: { topic, group } });
  const producer = new FeedProducer(broker.admin, topic);
  await producer.connect();
  onTestFinished(() => producer.close());
  const feed = new ArticleFeed(20);
  await producer.send(feed.next(30, Date.now()));
  await untilCaughtUp(service.url, "articles", 20_000);
  return { topic, group, service, producer, feed };
}

describe("a permission that is lost while the service runs", () => {
  const target = (resourceType: AclResourceTypes, resourceName: string, operation: AclOperationTypes) => ({
    resourceType,
    resourceName,
    resourcePatternType: ResourcePatternTypes.LITERAL,
    principal: `User:${USER}`,
    host: "*",
    operation,
  });
  type Target = ReturnType<typeof target>;

  async function deny(denied: Target): Promise<void> {
    const entry = { ...denied, permissionType: AclPermissionTypes.DENY };
    await withAdmin(broker.admin, (admin) => admin.createAcls({ acl: [entry] }));
  }

  async function allow(denied: Target): Promise<void> {
    const entry = { ...denied, permissionType: AclPermissionTypes.DENY };
    await withAdmin(broker.admin, (admin) => admin.deleteAcls({ filters: [entry] }));
  }

  it("to read: the source says so and asks less and less often; given back, everything is read", async () => {
    const { topic, group, service, producer, feed } = await running(2);
    const losses = [
      target(AclResourceTypes.TOPIC, topic, AclOperationTypes.READ),
      target(AclResourceTypes.GROUP, group, AclOperationTypes.READ),
    ];
    for (const [index, denied] of losses.entries()) {
      const { rebuilds } = (await getSource(service)).consumer;
      await deny(denied);
      await producer.send(feed.next(30, Date.now()));
      await untilSource(service, (seen) => seen.consumer.rebuilds > rebuilds && seen.observed === "backing-off");
      const noticed = performance.now();
      const told = await untilSource(service, (seen) => seen.consumer.rebuilds > rebuilds + (index === 0 ? 2 : 0));
      // Waits of 250 and 500 ms at the least, each shortened by half at the most; they go on growing at the second loss.
      if (index === 0) expect(performance.now() - noticed).toBeGreaterThan(350);
      expect(told.consumer.cause ?? "not-authorized").toBe("not-authorized");
      expect(told.recentErrors[0]?.code).toBe("BROKER_NOT_AUTHORIZED");
      await allow(denied);
      await untilCaughtUp(service.url, "articles", 20_000);
    }
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
    expect((await topicBounds(broker.admin, `${topic}.dlq`))[0]?.end).toBe(0);
    expect((await warnings(service)).length).toBeLessThan(20);
  });

  it("to write dead letters: the partition holds and commits nothing; given back, there is one letter", async () => {
    const { topic, group, service, producer, feed } = await running(1);
    const denied = target(AclResourceTypes.TOPIC, `${topic}.dlq`, AclOperationTypes.WRITE);
    await deny(denied);
    await producer.send([feed.poison(Date.now()), ...feed.next(30, Date.now())]);
    const attempts = async () => (await getPartitions(service.url))[0]?.hold?.attempts ?? 0;
    await until(attempts, (count) => count >= 1);
    const noticed = performance.now();
    await until(attempts, (count) => count >= 4);
    expect(performance.now() - noticed).toBeGreaterThan(500);
    expect((await getSource(service)).reason).toMatch(/not authorized/i);
    expect((await committedOffsets(broker.admin, group, topic)).get(0)).toBe(30);
    expect((await warnings(service)).length).toBeLessThan(12);
    await allow(denied);
    await untilCaughtUp(service.url, "articles", 20_000);
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
    expect((await topicBounds(broker.admin, `${topic}.dlq`))[0]?.end).toBe(1);
  });
});
