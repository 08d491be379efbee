import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { afterAll, beforeAll, expect, it } from "vitest";

import { committedOffsets, createTopic, topicBounds } from "../../local/broker/topics.ts";
import { articleOf, encodeArticle } from "../../local/feed/articles.ts";
import type { ServiceProcess } from "../../local/service/service-process.ts";
import { craft } from "../consumers/kafka/support/batch-builder.ts";
import { uniqueTopic } from "../support/broker.ts";
import { startDataBroker, type DataBroker } from "../support/data-broker.ts";
import { sendExactly } from "../support/exact-producer.ts";
import { getPartitions, until, type PartitionBody } from "../support/http.ts";
import { openService } from "../support/open-service.ts";

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

/** Resident memory of the service, from its own metrics. */
async function rssMiB(service: ServiceProcess): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]) / MIB;
}
