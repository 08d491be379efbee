import { afterEach, describe, expect, it } from "vitest";
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
import { differingArticles, untilCaughtUp } from "../../local/service/verify.ts";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { useBroker } from "../support/broker.ts";
import { until } from "../support/http.ts";
import { OperatorClient } from "../support/operator-client.ts";
import { updateRecord } from "../../src/control/json-record.ts";
import { LedgerRecord, recordNames } from "../../src/control/records.ts";
import { openScenario, type Scenario, withPlane } from "../support/scenario.ts";

/** Each story stops a partition in earnest, then does what the page of its stop says, over HTTP alone. */
const limits = { disputeFor: "2s", retryMax: "500ms", metadataMaxAge: "1s" };
const NOW = Date.now();
let scenario: Scenario | undefined;

async function open(partitions: number, more: Partial<Parameters<typeof openScenario>[0]> = {}) {
  scenario = await openScenario({ brokers: useBroker(), partitions, limits, ...more });
  return { ...scenario, operator: new OperatorClient(scenario.service.url), feed: new ArticleFeed(40) };
}

afterEach(async () => {
  await scenario?.close();
  scenario = undefined;
});

async function untilStop(operator: OperatorClient, partition = 0): Promise<Readonly<Record<string, unknown>>> {
  const { body } = await until(
    () => operator.partition(partition),
    ({ body: seen }) => seen["observed"] === "stopped",
  );
  const stop = body["stop"] as Readonly<Record<string, unknown>>;
  expect(stop["page"]).toBe(`docs/stops/${String(stop["code"])}.md`);
  return stop;
}

async function untilCommitted({ brokers, group, topic }: Scenario): Promise<void> {
  const ends = await topicBounds(brokers, topic);
  await until(
    () => committedOffsets(brokers, group, topic),
    (committed) => ends.every(({ partition, end }) => end === 0 || committed.get(partition) === end),
  );
}

async function send(topic: string, feed: ArticleFeed, count: number): Promise<void> {
  const producer = new FeedProducer(useBroker(), topic);
  await producer.connect();
  await producer.send(feed.next(count, NOW));
  await producer.close();
}

describe("BELOW_LOG_START", () => {
  it("is refused without its loss accepted, goes on with it, and the gap names the call", async () => {
    const { service, operator, feed, producer, brokers, topic } = await open(2);
    await producer.send(feed.next(60, NOW));
    await untilCaughtUp(service.url, "articles", 30_000);
    await untilCommitted(scenario as Scenario);
    expect(await service.stop()).toBe(0);
    await producer.send(feed.next(60, NOW));
    const [cut] = await topicBounds(brokers, topic);
    const end = cut?.end ?? 0;
    await deleteRecords(brokers, topic, 0, end);
    await service.restart();
    const stop = await untilStop(operator);
    const lost = stop["lost"] as { readonly from: string; readonly to: string };
    expect([stop["code"], lost.to]).toEqual(["BELOW_LOG_START", String(end)]);
    const refused = await operator.resume(0, { from: "log-start" });
    expect([refused.status, refused.body["code"], refused.body["lost"]]).toEqual([409, "LOSS_NOT_ACCEPTED", lost]);
    const outside = await operator.resume(0, { from: lost.from });
    expect([outside.status, outside.body["code"]]).toEqual([422, "RESUME_OUT_OF_RANGE"]);
    const path = "/v1/sources/articles/partitions/0/resume";
    expect((await operator.call("POST", path, { from: "log-start", reason: "x" })).status).toBe(428);
    const { etag } = await operator.partition(0);
    const body = { from: "log-start", acceptLoss: { from: lost.from, toMax: lost.to }, reason: "retention" };
    const both = await Promise.all([operator.call("POST", path, body, etag), operator.call("POST", path, body, etag)]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412]);
    await producer.send(feed.next(40, NOW));
    await untilCaughtUp(service.url, "articles", 30_000);
    const [gap] = await operator.gaps();
    expect(gap).toMatchObject({ partition: 0, from: lost.from, to: lost.to, cause: "lost", actor: "anonymous" });
    const entry = (await operator.audit()).find(({ outcome }) => outcome === "applied");
    expect([entry?.["gaps"], gap?.["audit"]]).toEqual([[gap?.["id"]], entry?.["id"]]);
    await service.kill();
    await service.restart();
    await untilCaughtUp(service.url, "articles", 30_000);
    expect((await operator.partition(0)).body["observed"]).toBe("running");
  });
});

describe("COMMIT_MOVED and COMMIT_VANISHED", () => {
  it("go on from the copy: what was to be skipped is read, the group holds the end again", async () => {
    const { service, operator, feed, producer, brokers, topic, group } = await open(1);
    await producer.send(feed.next(30, NOW));
    await untilCaughtUp(service.url, "articles", 30_000);
    await untilCommitted(scenario as Scenario);
    expect(await service.stop()).toBe(0);
    await producer.send(feed.next(30, NOW));
    await withAdmin(brokers, (admin) =>
      admin.setOffsets({ groupId: group, topic, partitions: [{ partition: 0, offset: "55" }] }),
    );
    await service.restart();
    expect((await untilStop(operator))["code"]).toBe("COMMIT_MOVED");
    expect((await operator.resume(0, { from: "committed" })).body["lost"]).toEqual({ from: "30", to: "55" });
    expect((await operator.resume(0, { from: "copy" })).status).toBe(200);
    await untilCaughtUp(service.url, "articles", 30_000);
    await untilCommitted(scenario as Scenario);
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
    expect(await operator.gaps()).toEqual([]);
    expect(await service.stop()).toBe(0);
    await withAdmin(brokers, (admin) => admin.deleteGroups([group]));
    await service.restart();
    await until(
      () => operator.partition(0),
      ({ body }) => body["observed"] === "running" || body["observed"] === "stopped",
    );
    const { body } = await operator.partition(0);
    if (body["observed"] === "stopped") expect((await operator.resume(0, { from: "copy" })).status).toBe(200);
    await producer.send(feed.next(10, NOW));
    await untilCaughtUp(service.url, "articles", 30_000);
    await untilCommitted(scenario as Scenario);
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
  });
});

describe("KV_COPY_MISSING", () => {
  it("goes on from the log's start and builds the KV plane again", async () => {
    const { service, operator, feed, producer, folder } = await open(2);
    await producer.send(feed.next(80, NOW));
    await untilCaughtUp(service.url, "articles", 30_000);
    await untilCommitted(scenario as Scenario);
    expect(await service.stop()).toBe(0);
    await rm(join(folder, "data"), { recursive: true });
    await service.restart();
    expect((await untilStop(operator))["code"]).toBe("KV_COPY_MISSING");
    await untilStop(operator, 1);
    const { etag } = await operator.call("GET", "/v1/sources/articles");
    const body = { from: "log-start", reason: "the disks were replaced" };
    const answer = await operator.call("POST", "/v1/sources/articles/resumptions", body, etag);
    expect(answer.body["items"]).toMatchObject([
      { partition: 0, outcome: "resumed", from: "0" },
      { partition: 1, outcome: "resumed", from: "0" },
    ]);
    await producer.send(feed.next(10, NOW));
    await untilCaughtUp(service.url, "articles", 30_000);
    await untilCommitted(scenario as Scenario);
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
  });
});

describe("POISON and POISON_BREAKER", () => {
  it("go on with allowPoison: the records are in the dead-letter topic and in the gap ledger", async () => {
    const { service, operator, feed, producer, brokers, topic } = await open(1, { source: { onPoison: "stop" } });
    await producer.send([...feed.next(5, NOW), feed.poison(NOW), ...feed.next(5, NOW)]);
    const stop = await untilStop(operator);
    expect([stop["code"], stop["wanted"]]).toEqual(["POISON", "5"]);
    await untilAsked(operator, "5");
    expect((await operator.resume(0, { from: "committed", allowPoison: { to: "6" } })).status).toBe(200);
    await untilCaughtUp(service.url, "articles", 30_000);
    expect((await topicBounds(brokers, `${topic}.dlq`))[0]?.end).toBe(1);
    expect(await operator.gaps("&cause=dead-letter")).toMatchObject([{ from: "5", to: "6", records: 1 }]);
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
  });

  it("stop a bad deploy after the run, whatever the policy says", async () => {
    const bad = { poisonBreakerRun: 10, ...limits };
    const { service, operator, feed, producer } = await open(1, { limits: bad });
    const poison = Array.from({ length: 25 }, () => feed.poison(NOW));
    await producer.send([...feed.next(5, NOW), ...poison, ...feed.next(5, NOW)]);
    const stop = await untilStop(operator);
    expect([stop["code"], stop["wanted"]]).toEqual(["POISON_BREAKER", "14"]);
    await untilAsked(operator, "14");
    expect((await operator.resume(0, { from: "committed", allowPoison: { to: "30" } })).status).toBe(200);
    await untilCaughtUp(service.url, "articles", 30_000);
    const [gap] = await operator.gaps();
    expect(gap).toMatchObject({ from: "5", to: "30", records: 25 });
  });
});

async function untilAsked(operator: OperatorClient, committed: string): Promise<void> {
  await until(
    () => operator.partition(0),
    ({ body }) => body["committed"] === committed,
  );
}

/** Closes, or opens again, the last row of a ledger: it is open by a promise of ours. */
async function closeLedger(folder: string, end: number | null): Promise<void> {
  await withPlane(folder, async ({ control }) => {
    await updateRecord(control, recordNames.ledger("articles", 0, 0), LedgerRecord, (present) => {
      if (present === undefined) throw new Error("there is a ledger");
      return {
        ...present,
        rows: present.rows.map((row, index, all) => (index < all.length - 1 ? row : { ...row, until: end })),
      };
    });
  });
}

describe("INVARIANT_BROKEN", () => {
  it("commits nothing, leaves the process and the sibling alone, and goes on from committed once it is mended", async () => {
    const { service, operator, feed, producer, brokers, topic, group, folder } = await open(2);
    await producer.send(feed.next(60, NOW));
    await untilCaughtUp(service.url, "articles", 30_000);
    await untilCommitted(scenario as Scenario);
    const before = (await committedOffsets(brokers, group, topic)).get(0);
    expect(await service.stop()).toBe(0);
    await closeLedger(folder, before ?? 0);
    await producer.send(feed.next(60, NOW));
    await service.restart();
    const stop = await untilStop(operator);
    expect([stop["code"], stop["text"]]).toEqual([
      "INVARIANT_BROKEN",
      expect.stringContaining("LEDGER_CLOSED") as string,
    ]);
    const [, one] = await topicBounds(brokers, topic);
    await until(
      () => committedOffsets(brokers, group, topic),
      (committed) => committed.get(1) === one?.end,
    );
    expect((await committedOffsets(brokers, group, topic)).get(0)).toBe(before);
    expect((await service.get("/readyz")).status).toBe(200);
    // What is not understood stops again, where it stood.
    expect((await operator.resume(0, { from: "committed" })).status).toBe(200);
    await until(
      () => operator.partition(0),
      ({ body }) => body["observed"] === "stopped" && (body["stop"] as typeof stop)["since"] !== stop["since"],
    );
    expect(await service.stop()).toBe(0);
    await closeLedger(folder, null);
    await service.restart();
    expect((await untilStop(operator))["code"]).toBe("INVARIANT_BROKEN");
    expect((await operator.resume(0, { from: "committed" })).status).toBe(200);
    await untilCaughtUp(service.url, "articles", 30_000);
    await untilCommitted(scenario as Scenario);
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
    expect(await operator.gaps()).toEqual([]);
  });
});

describe("a topic that is deleted and created again", () => {
  it("is read under a topic epoch: what it says is newer than everything before", async () => {
    const { service, operator, feed, producer, brokers, topic } = await open(2);
    await producer.send(feed.next(60, NOW));
    await untilCaughtUp(service.url, "articles", 30_000);
    await untilCommitted(scenario as Scenario);
    expect(await service.stop()).toBe(0);
    await deleteTopics(brokers, [topic]);
    await createTopic(brokers, { topic, partitions: 2 });
    await send(topic, feed, 20);
    await service.restart();
    const { code } = await untilStop(operator);
    expect(["ABOVE_LOG_END", "TOPIC_RECREATED", "COMMIT_VANISHED"]).toContain(code);
    const refused = await operator.resume(0, { from: "log-start", acceptLoss: { from: "0", toMax: "999" } });
    expect([refused.status, refused.body["code"]]).toEqual([409, "EPOCH_REQUIRED"]);
    const opened = await operator.call("POST", "/v1/sources/articles/epochs", { reason: "re-created" });
    expect([opened.status, opened.body["topicEpoch"]]).toEqual([200, 1]);
    await send(topic, feed, 20);
    await untilCaughtUp(service.url, "articles", 30_000);
    await untilCommitted(scenario as Scenario);
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
    expect(await operator.gaps("&cause=epoch")).toHaveLength(2);
    const again = await operator.call("POST", "/v1/sources/articles/epochs", { reason: "twice" });
    expect([again.status, again.body["code"]]).toEqual([409, "EPOCH_NOT_NEEDED"]);
    await service.kill();
    await service.restart();
    await send(topic, feed, 20);
    await untilCaughtUp(service.url, "articles", 30_000);
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
  });
});

describe("partitions that grow", () => {
  it("from 4 to 16 under load go on by themselves; moved keys stay newest, a replay included", async () => {
    const { service, feed, brokers, topic, group } = await open(4);
    for (let round = 0; round < 6; round += 1) {
      await send(topic, feed, 150);
      if (round === 2) await growTopic(brokers, topic, 16);
    }
    await until(
      () => service.get("/v1/sources/articles/partitions"),
      ({ body }) => {
        const { partitions } = body as { partitions: readonly { observed: string }[] };
        return partitions.length === 16 && partitions.every(({ observed }) => observed === "running");
      },
      60_000,
    );
    await untilCaughtUp(service.url, "articles", 30_000);
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
    await untilCommitted(scenario as Scenario);
    expect(await service.stop()).toBe(0);
    const zero = Array.from({ length: 16 }, (_unused, partition) => ({ partition, offset: "0" }));
    await withAdmin(brokers, (admin) => admin.setOffsets({ groupId: group, topic, partitions: zero }));
    await service.restart();
    await untilCaughtUp(service.url, "articles", 60_000);
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
  });

  it("from 4 to 6 stop with their reason until old ones are read and an epoch is opened", async () => {
    const { service, operator, feed, brokers, topic } = await open(4);
    await send(topic, feed, 200);
    await untilCaughtUp(service.url, "articles", 30_000);
    await untilCommitted(scenario as Scenario);
    expect(await service.stop()).toBe(0);
    await send(topic, feed, 50);
    await growTopic(brokers, topic, 6);
    await service.restart();
    for (let partition = 0; partition < 6; partition += 1) {
      expect((await untilStop(operator, partition))["code"]).toBe("PARTITIONS_CHANGED");
    }
    const epochs = "/v1/sources/articles/epochs";
    const early = await operator.call("POST", epochs, { reason: "grown" });
    expect([early.status, early.body["code"]]).toEqual([409, "EPOCH_NOT_READ"]);
    for (let partition = 0; partition < 4; partition += 1) {
      expect((await operator.resume(partition, { from: "copy" })).status).toBe(200);
    }
    expect((await operator.resume(4, { from: "log-start" })).body["code"]).toBe("EPOCH_REQUIRED");
    const opened = await until(
      () => operator.call("POST", epochs, { reason: "grown" }),
      ({ status }) => status === 200,
    );
    expect(opened.body).toMatchObject({ topicEpoch: 1, partitions: 6 });
    await send(topic, feed, 150);
    await untilCaughtUp(service.url, "articles", 30_000);
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
    expect(await operator.gaps()).toEqual([]);
  });
});

describe("a pause", () => {
  it("keeps a partition from being read over SIGKILL, its sibling flows, and it ends by itself", async () => {
    const { service, operator, feed, topic } = await open(2);
    const path = "/v1/sources/articles/partitions/0/pause";
    expect((await operator.call("PUT", path, { reason: "disk" })).body).toMatchObject({ desired: "paused" });
    await send(topic, feed, 60);
    await service.kill();
    await service.restart();
    const { body } = await until(
      () => operator.partition(0),
      ({ body: seen }) => seen["observed"] === "paused",
    );
    expect(body).toMatchObject({ desired: "paused", reason: "disk", pause: { by: "partition", actor: "anonymous" } });
    await until(
      () => operator.partition(1),
      ({ body: seen }) => seen["observed"] === "running" && Number(seen["watermark"]) > 0,
    );
    expect((await operator.partition(0)).body["watermark"] ?? "0").toBe("0");
    const soon = new Date(Date.now() + 2_000).toISOString();
    await operator.call("PUT", path, { reason: "disk", until: soon });
    await untilCaughtUp(service.url, "articles", 30_000);
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
    const past = await operator.call("PUT", path, { reason: "disk", until: soon });
    expect([past.status, past.body["code"]]).toEqual([422, "PAUSE_UNTIL_PAST"]);
  });
});
