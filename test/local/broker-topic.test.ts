import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { withAdmin } from "../../local/broker/admin.ts";
import { createTopic, topicEnd } from "../../local/broker/topics.ts";
import { FeedProducer } from "../../local/feed/producer.ts";
import { uniqueTopic, useBroker } from "../support/broker.ts";

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const execute = promisify(execFile);

/** Runs `npm run topic` without npm on the shared broker. */
async function topicTool(...args: readonly string[]): Promise<Run> {
  const env = { ...process.env, KAFKA_BROKERS: useBroker().join(",") };
  const command = ["--import", "tsx", "local/topic/main.ts", ...args];
  return execute(process.execPath, command, { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: unknown) => error as Run,
  );
}

test("a topic is created, articles are produced to it, and the newest records are read; nothing is left of the reader", async () => {
  const topic = uniqueTopic("tool");
  expect(await topicTool("create", topic, "--partitions", "2")).toMatchObject({
    code: 0,
    stdout: `created ${topic} with 2 partitions\n`,
  });
  const produced = await topicTool("produce", topic, "--records", "6", "--poison");
  expect(produced.stdout).toMatch(/^produced article-0 to article-5 \(revision \d+\), and article-poison/);
  expect(await topicEnd(useBroker(), topic)).toBe(7);

  const { stdout, stderr } = await topicTool("read", topic);
  const records = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { key: string; valueBytes: number });
  expect(stderr).toContain("7 records");
  expect(records.map(({ key }) => key).toSorted()).toEqual([
    ...["0", "1", "2", "3", "4", "5"].map((number) => `article-${number}`),
    "article-poison",
  ]);
  expect(records.every(({ valueBytes }) => valueBytes > 0)).toBe(true);
  expect(stdout).not.toContain('"value":');
  const { groups } = await withAdmin(useBroker(), (admin) => admin.listGroups());
  expect(groups.filter(({ groupId }) => groupId.startsWith("ysearch-local-read-"))).toEqual([]);
});

test("--last bounds what is read of each partition, --values shows the values", async () => {
  const topic = uniqueTopic("tool");
  await createTopic(useBroker(), { topic, partitions: 1 });
  const producer = new FeedProducer(useBroker(), topic);
  await producer.connect();
  await producer.send(["a", "b", "c"].map((key) => ({ key, value: Buffer.from(key), timestampMs: Date.now() })));
  await producer.close();
  const { stdout } = await topicTool("read", topic, "--last", "1", "--values");
  expect(JSON.parse(stdout)).toMatchObject({ partition: 0, offset: "2", key: "c", valueBytes: 1, value: "Yw==" });
});

test("a topic that is missing is named with what to do; what it cannot do is refused with the usage", async () => {
  const missing = await topicTool("produce", uniqueTopic("missing"));
  expect(missing).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^there is no topic missing-.* creates it\n$/) as unknown,
  });
  const brokers = useBroker().join(",");
  expect((await topicTool("produce", uniqueTopic("missing"), "--brokers", brokers)).stderr).toContain(
    `--brokers ${brokers}' creates it`,
  );
  for (const args of [["create"], ["drop", "x"], ["read", "x", "--lst", "1"], []])
    expect(await topicTool(...args)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("npm run topic") as unknown,
    });
  expect(await topicTool("create", "x", "--partitions", "0")).toMatchObject({ code: 1 });
});
