import { request } from "undici";
import { describe, expect, it } from "vitest";

import { createTopic, topicBounds } from "../../local/broker/topics.ts";
import { articleOf, encodeArticle, POISON } from "../../local/feed/articles.ts";
import { untilCaughtUp } from "../../local/service/verify.ts";
import type { ServiceProcess } from "../../local/service/service-process.ts";
import { withProducer } from "../consumers/kafka/support/producing.ts";
import { uniqueTopic, useBroker } from "../support/broker.ts";
import { sendExactly, type ExactRecord } from "../support/exact-producer.ts";
import { until } from "../support/http.ts";
import { openService } from "../support/open-service.ts";

const brokers = useBroker();
const broker = { brokers: [...brokers] };

interface Explained {
  readonly verdict: string;
  readonly offset: string;
  readonly supersededBy?: { readonly offset: string };
  readonly record?: { readonly key?: { readonly text: string }; readonly judged?: Readonly<Record<string, unknown>> };
  readonly owners: readonly { readonly answer: string }[];
}

function article(number: number, revision = 1, newer = false): ExactRecord & { readonly key: string } {
  const made = articleOf(number, revision, Date.now());
  return { key: made.id, value: encodeArticle(made, newer) };
}

async function newTopic(partitions: number): Promise<{ topic: string; group: string }> {
  const topic = uniqueTopic("insight");
  await createTopic(brokers, { topic, partitions });
  return { topic, group: `${topic}-group` };
}

/** Sends one article in a transaction of its own: two offsets, the record and its marker, which may follow late. */
async function transaction(topic: string, number: number, outcome: "commit" | "abort", end: number): Promise<void> {
  const config = { transactionalId: uniqueTopic("tx"), idempotent: true, maxInFlightRequests: 1 };
  await withProducer(
    brokers,
    async (producer) => {
      const open = await producer.transaction();
      const { key, value } = article(number, 5);
      await open.send({ topic, messages: [{ key, value: Buffer.from(value ?? ""), partition: 0 }] });
      await open[outcome]();
    },
    config,
  );
  await expect.poll(async () => (await topicBounds(brokers, topic))[0]?.end, { timeout: 10_000 }).toBe(end);
}

async function call(service: ServiceProcess, method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: object) {
  const response = await request(`${service.url}${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  return { status: response.statusCode, headers: response.headers, body: await response.body.json() };
}

async function explained(service: ServiceProcess, query: string): Promise<readonly Explained[]> {
  const { status, body } = await call(service, "GET", `/v1/sources/articles/explain?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return (body as { records: readonly Explained[] }).records;
}

async function lagRow(service: ServiceProcess, partition: number) {
  const { body } = await call(service, "GET", "/v1/sources/articles/lag");
  type Row = { partition: number } & Readonly<
    Record<"records" | "seconds" | "timeToLossSeconds", { value?: number; cause?: string }>
  >;
  const row = (body as { partitions: readonly Row[] }).partitions.find((entry) => entry.partition === partition);
  if (row === undefined) throw new Error(`no lag of ${partition}`);
  return row;
}

describe("what an operator asks at night, against a real broker", () => {
  it("explain agrees with what happened to every record of a run", async () => {
    const names = await newTopic(1);
    const { topic } = names;
    await sendExactly(brokers, topic, [article(1), article(2), { key: "bad", value: POISON }, article(1, 2, true)]);
    await transaction(topic, 2, "abort", 6);
    await transaction(topic, 3, "commit", 8);
    await sendExactly(brokers, topic, [{ key: "article-3", value: null }, { ...article(9), key: null }, article(4)]);
    const [bounds] = await topicBounds(brokers, topic);
    expect(bounds?.end).toBe(11);
    const service = await openService({ broker, source: names });
    await untilCaughtUp(service.url, "articles", 30_000);
    const views: Explained[] = [];
    for (let offset = 0; offset <= 11; offset += 1) {
      views.push(...(await explained(service, `partition=0&offset=${offset}`)));
    }
    // 0 to 3 sent, 4 and 5 aborted with its marker, 6 and 7 committed with its marker, 8 to 10 sent.
    expect(views.map(({ verdict, supersededBy }) => [verdict, supersededBy?.offset])).toEqual([
      ["superseded", "3"],
      ["applied", undefined],
      ["dead-lettered", undefined],
      ["applied", undefined],
      ["no-record", undefined],
      ["no-record", undefined],
      ["superseded", "8"],
      ["no-record", undefined],
      ["applied", undefined],
      ["dead-lettered", undefined],
      ["applied", undefined],
      ["not-produced", undefined],
    ]);
    expect((await topicBounds(brokers, `${topic}.dlq`))[0]?.end).toBe(2);
    expect(views[2]?.record?.judged).toMatchObject({ outcome: { outcome: "fault", code: "DECODE_TRUNCATED" } });
    expect(views[9]?.record?.judged).toMatchObject({
      outcome: { outcome: "fault", code: expect.stringMatching(/^CONTRACT_KEY/) },
    });
    expect(views[3]).toMatchObject({
      record: {
        key: { text: "article-1" },
        judged: { revision: 1, descriptorVersion: 1, unknownFields: [{ path: "30", count: 1 }] },
      },
      owners: [{ answer: "holds" }, { answer: "holds" }, { answer: "holds" }],
    });
    const ofKey = await explained(service, "key=article-1&last=5");
    expect(ofKey.map(({ offset, verdict }) => [offset, verdict])).toEqual([
      ["3", "applied"],
      ["0", "superseded"],
    ]);
    expect(await service.lastLines(100_000)).not.toMatch(/article-\d/);
    const { body: gone } = await call(service, "GET", "/v1/sources/articles/explain?partition=5&offset=0");
    expect(gone).toMatchObject({ code: "PARTITION_UNKNOWN" });
  });

  it("what an open transaction holds back waits, by lag, health, barrier and explain, until it ends", async () => {
    const names = await newTopic(1);
    const { topic } = names;
    await sendExactly(brokers, topic, [article(1)]);
    const service = await openService({ broker, source: names });
    await untilCaughtUp(service.url, "articles", 30_000);
    const config = { transactionalId: uniqueTopic("tx"), idempotent: true, maxInFlightRequests: 1 };
    await withProducer(
      brokers,
      async (producer) => {
        const open = await producer.transaction();
        await open.send({
          topic,
          messages: [{ key: "held", value: Buffer.from(article(7).value ?? ""), partition: 0 }],
        });
        await sendExactly(brokers, topic, [article(8)]);
        const row = await until(
          () => lagRow(service, 0),
          ({ records }) => records.value === 2,
        );
        expect(row.seconds).toEqual({ known: false, cause: "open-transaction" });
        const health = await call(service, "GET", "/health/ingest?source=articles&maxLagSeconds=60");
        expect(health.status, JSON.stringify(health.body)).toBe(503);
        const at = { at: "now" };
        const barrier = await call(service, "POST", "/v1/sources/articles/barriers", at);
        expect(barrier.body).toMatchObject({ state: "waiting", partitions: [{ to: "3" }] });
        const [held] = await explained(service, "partition=0&offset=2");
        expect(held).toMatchObject({ verdict: "not-read", reason: "open-transaction" });
        await open.abort();
        const done = await call(service, "GET", `${String(barrier.headers["location"])}?wait=20`);
        expect(done.body).toMatchObject({ state: "done" });
      },
      config,
    );
    await untilCaughtUp(service.url, "articles", 30_000);
    expect((await lagRow(service, 0)).records).toMatchObject({ value: 0 });
  });

  it("lag and health say how old what waits is while a partition is paused; a barrier ends when it goes on", async () => {
    const names = await newTopic(2);
    const { topic } = names;
    const service = await openService({ broker, source: names });
    await sendExactly(brokers, topic, [article(1)], 1);
    await untilCaughtUp(service.url, "articles", 30_000);
    const pause = "/v1/sources/articles/partitions/0/pause";
    expect((await call(service, "PUT", pause, { reason: "test" })).status).toBe(200);
    const old = Date.now() - 600_000;
    await sendExactly(brokers, topic, [{ ...article(2), timestampMs: old }, article(3)], 0);
    const waiting = await until(
      () => lagRow(service, 0),
      ({ records, seconds }) => records.value === 2 && seconds.value !== undefined,
    );
    expect(waiting.seconds.value).toBeGreaterThanOrEqual(600);
    expect(waiting.seconds.value).toBeLessThan(700);
    // The broker's default of seven days.
    expect(waiting.timeToLossSeconds.value).toBeGreaterThan(6 * 86_400);
    expect(waiting.timeToLossSeconds.value).toBeLessThan(7 * 86_400);
    expect((await call(service, "GET", "/health/ingest?maxLagSeconds=900")).status).toBe(200);
    const unwell = await call(service, "GET", "/health/ingest?maxLagSeconds=300");
    expect([unwell.status, unwell.body]).toMatchObject([
      503,
      { sources: [{ reasons: [{ reason: "lag-above-limit", partitions: [0] }] }] },
    ]);
    expect((await call(service, "GET", "/readyz")).status).toBe(200);
    const refused = await call(service, "POST", "/v1/sources/articles/barriers", { at: "now" });
    expect([refused.status, refused.body]).toMatchObject([409, { code: "BARRIER_BLOCKED" }]);
    const metrics = await (await request(`${service.url}/metrics`)).body.text();
    expect(metrics).toMatch(/ysearch_streams_time_to_loss_seconds\{source="articles",partition="0"\} [56]\d{5}/);
    expect(metrics).not.toMatch(/ysearch_streams_time_to_loss_seconds\{source="articles",partition="1"\}/);
    expect((await call(service, "DELETE", pause)).status).toBe(200);
    const set = await call(service, "POST", "/v1/sources/articles/barriers", { at: "now" });
    expect(set.status, JSON.stringify(set.body)).toBe(201);
    const done = await call(service, "GET", `${String(set.headers["location"])}?wait=20`);
    expect(done.body).toMatchObject({ state: "done", partitions: [{ applied: "2" }, { applied: "1" }] });
    expect((await call(service, "GET", "/v1/documents/articles/article-3")).status).toBe(200);
    await service.kill();
    await service.restart();
    const again = await until(
      () => call(service, "GET", String(set.headers["location"])),
      ({ status }) => status === 200,
    );
    expect(again.body).toMatchObject({ state: "done" });
  });

  it("a wait for a barrier ends when the service is told to stop", async () => {
    const names = await newTopic(1);
    const service = await openService({ broker, source: names });
    await sendExactly(brokers, names.topic, [article(1)]);
    await untilCaughtUp(service.url, "articles", 30_000);
    const set = await call(service, "POST", "/v1/sources/articles/barriers", { at: { "0": "1000" } });
    expect(set.body).toMatchObject({ state: "waiting" });
    const began = Date.now();
    const waiting = call(service, "GET", `${String(set.headers["location"])}?wait=20`);
    const ended = expect(waiting).resolves.toMatchObject({ status: 200, body: { state: "waiting" } });
    await until(
      () => call(service, "GET", "/livez"),
      ({ status }) => status === 200,
    );
    expect(await service.stop()).toBe(0);
    await ended;
    expect(Date.now() - began).toBeLessThan(15_000);
  });
});
