import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";

import { committedOffsets, createTopic, deleteTopics, topicBounds } from "../../local/broker/topics.ts";
import { articleOf, encodeArticle } from "../../local/feed/articles.ts";
import type { ServiceProcess } from "../../local/service/service-process.ts";
import { untilCaughtUp } from "../../local/service/verify.ts";
import { craft } from "../consumers/kafka/support/batch-builder.ts";
import { OFFSET_LIMIT } from "../../src/core/offset.ts";
import { uniqueTopic, useBroker } from "../support/broker.ts";
import { startDataBroker, type DataBroker } from "../support/data-broker.ts";
import { sendExactly } from "../support/exact-producer.ts";
import { getPartitions, until, type PartitionBody } from "../support/http.ts";
import { openService } from "../support/open-service.ts";
import { OperatorClient } from "../support/operator-client.ts";

const MIB = 1024 * 1024;
let broker: DataBroker;

beforeAll(async () => {
  broker = await startDataBroker();
});
afterAll(() => broker.stop());

/** Adds bytes to, or changes those of, the only segment of a partition. */
async function rewrite(data: string, topic: string, partition: number, change: (log: Buffer) => Buffer): Promise<void> {
  const directory = join(data, `${topic}-${partition}`);
  const segment = (await readdir(directory)).find((name) => name.endsWith(".log"));
  if (segment === undefined) throw new Error(`no segment in ${directory}`);
  await writeFile(join(directory, segment), change(await readFile(join(directory, segment))));
}

async function partitionsOf(service: ServiceProcess, settled: (all: readonly PartitionBody[]) => boolean) {
  return until(
    () => getPartitions(service.url),
    (all) => all.length > 0 && settled(all),
    40_000,
  );
}

async function namesOf(kind: string, partitions: number): Promise<{ topic: string; group: string }> {
  const topic = uniqueTopic(kind);
  await createTopic(broker.brokers, { topic, partitions });
  return { topic, group: `${topic}-group` };
}

const article = (number: number): { key: string; value: Buffer } => {
  const made = articleOf(number, 1, Date.now());
  return { key: made.id, value: encodeArticle(made, false) };
};

it("a damaged batch and one that inflates beyond all bounds stop their partitions alone, where they stand, for good", async () => {
  const names = await namesOf("damaged", 4);
  const { topic, group } = names;
  const partitions = [0, 1, 2, 3];
  for (const partition of partitions) {
    for (const number of [0, 1, 2]) {
      await sendExactly(broker.brokers, topic, [article(10 * partition + number)], partition);
    }
  }
  const bomb = { number: 1, deflate: () => gzipSync(Buffer.alloc(96 * MIB)) };
  await broker.whileDown(async (data) => {
    await rewrite(data, topic, 0, (log) => {
      // The second batch's last byte: a header of its record.
      const second = 12 + log.readInt32BE(8);
      log.writeUInt8(log.readUInt8(second + 80) ^ 0xff, second + 80);
      return log;
    });
    await rewrite(data, topic, 1, (log) =>
      Buffer.concat([log, craft({ base: 3, records: [{ value: "x" }], codec: bomb })]),
    );
    const unknown = { number: 6, deflate: (records: Buffer) => records };
    await rewrite(data, topic, 2, (log) =>
      Buffer.concat([log, craft({ base: 3, records: [{ value: "x" }], codec: unknown })]),
    );
  });
  expect((await topicBounds(broker.brokers, topic)).map(({ end }) => end)).toEqual([3, 4, 4, 3]);
  const service = await openService({ broker: { brokers: [...broker.brokers] }, source: names });
  for (let life = 0; life < 2; life += 1) {
    const all = await partitionsOf(
      service,
      (seen) =>
        seen.filter(({ observed }) => observed === "stopped").length === 3 &&
        seen.some(({ observed }) => observed === "running"),
    );
    expect(all.map(({ observed, stop }) => [observed, stop?.code, stop?.wanted])).toEqual([
      ["stopped", "UNDECODABLE_BATCH", "1"],
      ["stopped", "BATCH_TOO_LARGE", "3"],
      ["stopped", "UNDECODABLE_BATCH", "3"],
      ["running", undefined, undefined],
    ]);
    await until(
      () => committedOffsets(broker.brokers, group, topic),
      (committed) => partitions.every((partition) => committed.get(partition) === [1, 3, 3, 3][partition]),
    );
    if (life === 0) {
      expect(await rssMiB(service)).toBeLessThan(350);
      await service.kill();
      await service.restart();
    }
  }
  for (const number of [0, 10, 11, 12, 20, 21, 22, 30, 31, 32]) {
    expect((await service.get(`/v1/documents/articles/article-${number}`)).status).toBe(200);
  }
  expect((await topicBounds(broker.brokers, `${topic}.dlq`).catch(() => [])).length).toBe(0);
});

async function untilStop(operator: OperatorClient, partition: number): Promise<Readonly<Record<string, unknown>>> {
  const { body } = await until(
    () => operator.partition(partition),
    ({ body: seen }) => seen["observed"] === "stopped",
  );
  return body["stop"] as Readonly<Record<string, unknown>>;
}

it("UNDECODABLE_BATCH: goes on from where it stood once the batch is repaired, or behind it when its loss is accepted", async () => {
  const names = await namesOf("undecodable", 2);
  const { topic, group } = names;
  for (const partition of [0, 1]) {
    for (const number of [0, 1, 2]) {
      await sendExactly(broker.brokers, topic, [article(10 * partition + number)], partition);
    }
  }
  const flip = (log: Buffer): Buffer => {
    const second = 12 + log.readInt32BE(8);
    log.writeUInt8(log.readUInt8(second + 80) ^ 0xff, second + 80);
    return log;
  };
  await broker.whileDown(async (data) => {
    for (const partition of [0, 1]) await rewrite(data, topic, partition, flip);
  });
  const service = await openService({ broker: { brokers: [...broker.brokers] }, source: names });
  const operator = new OperatorClient(service.url);
  for (const partition of [0, 1]) {
    expect(await untilStop(operator, partition)).toMatchObject({
      code: "UNDECODABLE_BATCH",
      wanted: "1",
      page: "docs/stops/UNDECODABLE_BATCH.md",
    });
  }
  const committed = async () => committedOffsets(broker.brokers, group, topic);
  await until(committed, (offsets) => offsets.get(0) === 1 && offsets.get(1) === 1);
  // The batch of partition 1 is given up: a range is asked for, and covers it.
  const refused = await operator.resume(1, { from: "2" });
  expect([refused.status, refused.body["lost"]]).toEqual([409, { from: "1", to: "2" }]);
  expect((await operator.resume(1, { from: "2", acceptLoss: { from: "1", toMax: "2" } })).status).toBe(200);
  await until(committed, (offsets) => offsets.get(1) === 3);
  expect(await operator.gaps()).toMatchObject([{ partition: 1, from: "1", to: "2", cause: "skipped" }]);
  // The bytes of partition 0 come back, as from a replica that is whole.
  await broker.whileDown((data) => rewrite(data, topic, 0, flip));
  expect((await untilStop(operator, 0))["wanted"]).toBe("1");
  const answer = await until(
    () => operator.resume(0, { from: "committed" }),
    ({ status }) => status !== 503,
  );
  expect(answer.status).toBe(200);
  await untilCaughtUp(service.url, "articles", 30_000);
  const stored = async (number: number) => (await service.get(`/v1/documents/articles/article-${number}`)).status;
  for (const number of [0, 1, 2, 10, 12]) expect(await stored(number)).toBe(200);
  expect(await stored(11)).toBe(404);
});

/** The log of a partition without records begins at `base` instead, with these bytes. */
async function beginAt(data: string, topic: string, base: number, log: Buffer): Promise<void> {
  const directory = join(data, `${topic}-0`);
  for (const name of await readdir(directory)) {
    if (/\.(?:log|index|timeindex|snapshot)$/.test(name)) await rm(join(directory, name));
  }
  await writeFile(join(directory, `${String(base).padStart(20, "0")}.log`), log);
}

it("OFFSET_LIMIT: a fetch that reaches the largest offset stops its partition alone; a new topic goes on under an epoch", async () => {
  const names = await namesOf("limit", 2);
  const { topic, group } = names;
  const batch = (base: number, number: number) =>
    craft({ base, records: [{ ...article(number), timestampMs: Date.now() }] });
  // A log as long as that cannot be produced: its last two records are laid down as the broker would have kept them.
  const last = OFFSET_LIMIT - 1;
  await broker.whileDown((data) => beginAt(data, topic, last, Buffer.concat([batch(last, 1), batch(last + 1, 2)])));
  await sendExactly(broker.brokers, topic, [article(10)], 1);
  const service = await openService({ broker: { brokers: [...broker.brokers] }, source: names });
  const operator = new OperatorClient(service.url);
  const page = "docs/stops/OFFSET_LIMIT.md";
  // Both came in one fetch, and a fetch that reaches the limit is not begun.
  expect(await untilStop(operator, 0)).toMatchObject({ code: "OFFSET_LIMIT", wanted: String(last), page });
  const committed = async () => committedOffsets(broker.brokers, group, topic);
  await until(committed, (offsets) => offsets.get(1) === 1);
  const stored = async (number: number) => service.get(`/v1/documents/articles/article-${number}`);
  for (const [number, status] of [
    [1, 404],
    [2, 404],
    [10, 200],
  ])
    expect((await stored(number ?? 0)).status).toBe(status);
  expect((await committed()).get(0)).toBe(-1);

  await deleteTopics(broker.brokers, [topic]);
  await createTopic(broker.brokers, { topic, partitions: 2 });
  await sendExactly(broker.brokers, topic, [article(1), article(2)], 0);
  const opened = await until(
    () => operator.call("POST", "/v1/sources/articles/epochs", { reason: "offsets were used up" }),
    ({ status }) => status === 200,
  );
  expect(opened.body["topicEpoch"]).toBe(1);
  await untilCaughtUp(service.url, "articles", 30_000);
  await until(committed, (offsets) => offsets.get(0) === 2);
  // Newer than the largest version of the log before.
  for (const [number, offset] of [
    [1, "0"],
    [2, "1"],
  ] as const) {
    expect((await stored(number)).body).toMatchObject({ provenance: { topicEpoch: 1, partition: 0, offset } });
  }
});

it("IDENTITY_CHANGED: another cluster stops the source; back at the old one it goes on, or an epoch is opened for the new one", async () => {
  const names = await namesOf("identity", 2);
  const { topic, group } = names;
  const other = useBroker();
  await createTopic(other, { topic, partitions: 2 });
  onTestFinished(() => deleteTopics(other, [topic]));
  for (const partition of [0, 1]) await sendExactly(broker.brokers, topic, [article(partition)], partition);
  await sendExactly(other, topic, [article(7), article(8)], 0);
  const folder = await mkdtemp(join(tmpdir(), "ysearch-identity-"));
  const at = (brokers: readonly string[]) => openService({ broker: { brokers: [...brokers] }, source: names, folder });
  const first = await at(broker.brokers);
  await untilCaughtUp(first.url, "articles", 30_000);
  const committed = async () => committedOffsets(broker.brokers, group, topic);
  await until(committed, (offsets) => offsets.get(0) === 1 && offsets.get(1) === 1);
  expect(await first.stop()).toBe(0);
  await sendExactly(broker.brokers, topic, [article(2)], 0);

  const wrong = await at(other);
  const stops = await Promise.all([0, 1].map((partition) => untilStop(new OperatorClient(wrong.url), partition)));
  for (const stop of stops)
    expect(stop).toMatchObject({ code: "IDENTITY_CHANGED", page: "docs/stops/IDENTITY_CHANGED.md" });
  const nowhere = await new OperatorClient(wrong.url).resume(0, { from: "log-start" });
  expect([nowhere.status, nowhere.body["code"]]).toEqual([409, "EPOCH_REQUIRED"]);
  expect([...(await committedOffsets(other, group, topic)).values()]).toEqual([-1, -1]);
  expect((await wrong.get("/v1/documents/articles/article-7")).status).toBe(404);
  expect(await wrong.stop()).toBe(0);

  // The configuration is pointed back: the stop stands until somebody resumes, and nothing is lost.
  const back = await at(broker.brokers);
  const operator = new OperatorClient(back.url);
  expect((await untilStop(operator, 0))["code"]).toBe("IDENTITY_CHANGED");
  const { etag } = await operator.call("GET", "/v1/sources/articles");
  const body = { from: "committed", reason: "the address was wrong" };
  const resumed = await operator.call("POST", "/v1/sources/articles/resumptions", body, etag);
  expect(resumed.body["items"]).toMatchObject([{ outcome: "resumed" }, { outcome: "resumed" }]);
  await untilCaughtUp(back.url, "articles", 30_000);
  expect((await back.get("/v1/documents/articles/article-2")).status).toBe(200);
  expect(await operator.gaps()).toEqual([]);
  await until(committed, (offsets) => offsets.get(0) === 2);
  expect(await back.stop()).toBe(0);

  // The cluster was replaced in earnest: all of the new log is read, and is newer than everything before.
  const moved = await at(other);
  const mover = new OperatorClient(moved.url);
  await untilStop(mover, 0);
  const opened = await mover.call("POST", "/v1/sources/articles/epochs", { reason: "moved to the new cluster" });
  expect([opened.status, opened.body["topicEpoch"]]).toEqual([200, 1]);
  await sendExactly(other, topic, [article(0)], 1);
  await untilCaughtUp(moved.url, "articles", 30_000);
  for (const number of [1, 2, 7, 8]) {
    expect((await moved.get(`/v1/documents/articles/article-${number}`)).status).toBe(200);
  }
  const { body: newest } = await moved.get("/v1/documents/articles/article-0");
  expect(newest).toMatchObject({ provenance: { topicEpoch: 1, partition: 1, offset: "0" } });
});

/** Resident memory of the service, from its own metrics. */
async function rssMiB(service: ServiceProcess): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]) / MIB;
}
