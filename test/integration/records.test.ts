import { describe, expect, it } from "vitest";

import { committedOffsets, createTopic, topicBounds } from "../../local/broker/topics.ts";
import { articleOf, encodeArticle, expectedBody, POISON } from "../../local/feed/articles.ts";
import { readLag, untilCaughtUp } from "../../local/service/verify.ts";
import type { ServiceProcess } from "../../local/service/service-process.ts";
import { SourceProbe } from "../consumers/kafka/support/source-probe.ts";
import { withProducer } from "../consumers/kafka/support/producing.ts";
import { uniqueTopic, useBroker } from "../support/broker.ts";
import { sendExactly, type ExactRecord } from "../support/exact-producer.ts";
import { openService, warnings } from "../support/open-service.ts";

const brokers = useBroker();
const broker = { brokers: [...brokers] };

async function newTopic(partitions = 1): Promise<{ topic: string; group: string }> {
  const topic = uniqueTopic("records");
  await createTopic(brokers, { topic, partitions });
  return { topic, group: `${topic}-group` };
}

function article(number: number, revision = 1): ExactRecord & { readonly key: string } {
  const made = articleOf(number, revision, Date.now());
  return { key: made.id, value: encodeArticle(made, false) };
}

async function document(
  service: ServiceProcess,
  id: string,
): Promise<{ status: number; code?: string; title?: string }> {
  const { status, body } = await service.get(`/v1/documents/articles/${encodeURIComponent(id)}`);
  const { code, body: stored } = body as { code?: string; body?: { value: { title?: string } } };
  return {
    status,
    ...(code === undefined ? {} : { code }),
    ...(stored?.value.title === undefined ? {} : { title: stored.value.title }),
  };
}

/** Headers of the letters of a topic, as text and in order. */
async function lettersOf(topic: string, count: number): Promise<(readonly [string, string | null])[][]> {
  const probe = new SourceProbe({ brokers, topic: `${topic}.dlq`, group: uniqueTopic("letters") });
  const found: (readonly [string, string | null])[][] = [];
  probe.onBatch = (batch) => {
    for (let index = 0; index < batch.count; index += 1) {
      const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");
      found.push(batch.headersAt(index).map(({ name, value }) => [text(name), value === null ? null : text(value)]));
    }
  };
  probe.run();
  await probe.until(`${count} letters`, () => found.length >= count);
  return found;
}

async function expectCommittedToTheEnd({ topic, group }: { topic: string; group: string }): Promise<void> {
  const ends = await topicBounds(brokers, topic);
  await expect
    .poll(async () => committedOffsets(brokers, group, topic), { timeout: 10_000 })
    .toEqual(new Map(ends.map(({ partition, end }) => [partition, end])));
}

describe("records that a topic may hold", () => {
  it("bad ones amid five hundred good ones reach the dead letters, headers and all; the others are applied", async () => {
    const names = await newTopic();
    const { topic } = names;
    const good = Array.from({ length: 500 }, (_, index) => article(index));
    const many = Array.from({ length: 3_000 }, (_, index) => [`h${index}`, String(index)] as const);
    const odd = [
      ["r", "1"],
      ["x", "9"],
      ["r", "2"],
      ["n", null],
      ["", "nameless"],
      [Buffer.of(0xff, 0xfe), ""],
    ] as const;
    const bad: readonly ExactRecord[] = [
      { key: "odd", value: POISON, headers: odd },
      { key: "many", value: POISON, headers: many },
      { ...article(1_000), key: null },
      { ...article(1_001), key: "" },
      { key: null, value: null },
    ];
    await sendExactly(brokers, topic, good.slice(0, 250));
    await sendExactly(brokers, topic, [...bad.slice(0, 3), ...good.slice(250, 400), ...bad.slice(3)]);
    await sendExactly(brokers, topic, good.slice(400));
    const service = await openService({ broker, source: names });
    await untilCaughtUp(service.url, "articles", 30_000);
    const missing: string[] = [];
    for (const { key } of good) if ((await document(service, key)).status !== 200) missing.push(key);
    expect(missing).toEqual([]);
    expect((await topicBounds(brokers, `${topic}.dlq`))[0]?.end).toBe(bad.length);
    const letters = await lettersOf(topic, bad.length);
    const withOdd = letters.find((headers) => headers.some(([name]) => name === "x"));
    expect(withOdd?.slice(0, odd.length)).toEqual(
      odd.map(([name, value]) => [Buffer.from(name).toString("latin1"), value]),
    );
    expect(letters.find((headers) => headers.length > 3_000)?.slice(0, 3_000)).toEqual(many);
    await expectCommittedToTheEnd(names);
    expect(await service.stop()).toBe(0);
    expect(await service.lastLines(100_000)).not.toMatch(/article-\d|nameless/);
  });

  it("thousands of bad ones in a row are as many letters with their reason, a few lines, and no further label", async () => {
    const names = await newTopic();
    const bad = Array.from({ length: 2_000 }, (_unused, index) => ({ key: `secret-${index}`, value: POISON }));
    await sendExactly(brokers, names.topic, bad);
    // The breaker would stop the partition, which is another test's: here nothing may stop it.
    const limits = { poisonBreakerRun: 1_000_000, poisonBreakerWindow: 1_000_000 };
    const service = await openService({ broker, source: names, limits });
    await untilCaughtUp(service.url, "articles", 30_000);
    const letters = await lettersOf(names.topic, bad.length);
    expect(letters).toHaveLength(bad.length);
    const reasons = letters.map((headers) => new Map(headers).get("ysearch.error-code"));
    expect(new Set(reasons)).toEqual(new Set(["DECODE_TRUNCATED"]));
    expect((await warnings(service)).length).toBeLessThan(10);
    expect(await service.lastLines(100_000)).not.toMatch(/secret-/);
    const text = await (await fetch(`${service.url}/metrics`)).text();
    const series = [...text.matchAll(/^ysearch_streams_\w+\{([^}]*)\}/gm)].map(([, labels = ""]) => labels);
    const labels = series.flatMap((all) => [...all.matchAll(/(\w+)="/g)].map(([, label]) => label));
    const bounded = new Set(["code", "kind", "owner", "partition", "source", "state"]);
    expect(labels.filter((label) => label !== undefined && !bounded.has(label))).toEqual([]);
  });

  it("a null value deletes, also a key that was never seen", async () => {
    const names = await newTopic();
    await sendExactly(brokers, names.topic, [
      article(1),
      { key: "article-1", value: null },
      { key: "unseen", value: null },
    ]);
    const service = await openService({ broker, source: names });
    await untilCaughtUp(service.url, "articles", 20_000);
    expect(await document(service, "article-1")).toMatchObject({ status: 404, code: "DOCUMENT_DELETED" });
    expect((await document(service, "unseen")).status).toBe(404);
    expect(await topicBounds(brokers, `${names.topic}.dlq`).catch(() => "none")).toBe("none");
    await expectCommittedToTheEnd(names);
  });

  it("framed values are unframed, framed or not a null value deletes, and what is not framed is a dead letter", async () => {
    const names = await newTopic();
    const frame = (value: Uint8Array, ...indexes: readonly number[]) =>
      Buffer.concat([Buffer.of(0, 0, 0, 0, 9, ...indexes), value]);
    const [one, two] = [articleOf(1, 1, Date.now()), articleOf(2, 1, Date.now())];
    await sendExactly(brokers, names.topic, [
      { key: one.id, value: frame(encodeArticle(one, false), 0) },
      { key: two.id, value: frame(encodeArticle(two, false), 2, 0) },
      { key: two.id, value: null },
      { key: "unseen", value: null },
      { key: "unframed", value: encodeArticle(one, false) },
    ]);
    const service = await openService({ broker, source: { ...names, framing: "confluent" } });
    await untilCaughtUp(service.url, "articles", 20_000);
    expect(await document(service, one.id)).toMatchObject({ status: 200, title: expectedBody(one)["title"] });
    expect(await document(service, two.id)).toMatchObject({ status: 404, code: "DOCUMENT_DELETED" });
    expect((await document(service, "unframed")).status).toBe(404);
    expect((await topicBounds(brokers, `${names.topic}.dlq`))[0]?.end).toBe(1);
  });
});

describe("what a log ends with", () => {
  it("a marker of a transaction, committed or aborted, is passed: lag 0, committed to the end", async () => {
    const names = await newTopic();
    const { topic } = names;
    for (const outcome of ["commit", "abort"] as const) {
      const config = { transactionalId: uniqueTopic("tx"), idempotent: true, maxInFlightRequests: 1 };
      await withProducer(
        brokers,
        async (producer) => {
          const transaction = await producer.transaction();
          const { key, value } = article(outcome === "commit" ? 1 : 2);
          await transaction.send({ topic, messages: [{ key, value: Buffer.from(value ?? "") }] });
          await transaction[outcome]();
        },
        config,
      );
    }
    const service = await openService({ broker, source: names });
    await untilCaughtUp(service.url, "articles", 20_000);
    expect(await readLag(service.url, "articles")).toBe(0);
    expect((await document(service, "article-1")).status).toBe(200);
    expect((await document(service, "article-2")).status).toBe(404);
    await expectCommittedToTheEnd(names);
    expect((await topicBounds(brokers, topic))[0]?.end).toBe(4);
  });

  it("a bad record at the end is committed past: restarts do not send it again", async () => {
    const names = await newTopic();
    await sendExactly(brokers, names.topic, [article(1), { key: "bad", value: POISON }]);
    const service = await openService({ broker, source: names });
    await untilCaughtUp(service.url, "articles", 20_000);
    await expectCommittedToTheEnd(names);
    for (const end of ["stop", "kill", "stop"] as const) {
      await service[end]();
      await service.restart();
      await untilCaughtUp(service.url, "articles", 20_000);
    }
    expect((await topicBounds(brokers, `${names.topic}.dlq`))[0]?.end).toBe(1);
  });
});
