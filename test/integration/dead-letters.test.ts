import { describe, expect, it } from "vitest";

import { createTopic, topicBounds } from "../../local/broker/topics.ts";
import { articleOf, encodeArticle } from "../../local/feed/articles.ts";
import { untilCaughtUp } from "../../local/service/verify.ts";
import { uniqueTopic, useBroker } from "../support/broker.ts";
import { sendExactly, type ExactRecord } from "../support/exact-producer.ts";
import { until } from "../support/http.ts";
import { OperatorClient } from "../support/operator-client.ts";
import { openService } from "../support/open-service.ts";

const brokers = useBroker();
const LETTERS = "/v1/sources/articles/dead-letters";
const LARGE = 6;

interface Letter {
  readonly offset: string;
  readonly state: string;
  readonly code: string;
  readonly attempt: number;
  readonly omitted?: { readonly value?: { readonly bytes: number } };
  readonly raw?: { readonly value: string | null; readonly headers: readonly object[] };
}

function article(number: number, revision = 1): ExactRecord & { readonly key: string } {
  const made = articleOf(number, revision, Date.now());
  const body = number === LARGE ? "long ".repeat(4_000) : made.body;
  return { key: made.id, value: encodeArticle({ ...made, body }, false), headers: [[Uint8Array.of(0xff), null]] };
}

async function lettersOf(operator: OperatorClient, query = ""): Promise<readonly Letter[]> {
  const { status, body } = await operator.call("GET", `${LETTERS}${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body["letters"] as readonly Letter[];
}

async function redriven(operator: OperatorClient, change: object = {}) {
  const { status, body } = await operator.call("POST", "/v1/redrives", {
    source: "articles",
    reason: "mended",
    ...change,
  });
  expect(status, JSON.stringify(body)).toBe(202);
  const path = `/v1/redrives/${String(body["id"])}?wait=20`;
  const job = await until(
    async () => (await operator.call("GET", path)).body,
    ({ state }) => state !== "queued" && state !== "running",
  );
  expect(job, JSON.stringify(job)).toMatchObject({ state: "done" });
  return job["receipt"];
}

describe("the way back from the dead letters, against a real broker", () => {
  it("a wrong mapping's letters are listed, mended, redriven, and listed as resolved", async () => {
    const topic = uniqueTopic("way-back");
    const dlq = `${topic}.dlq`;
    await createTopic(brokers, { topic, partitions: 2 });
    await createTopic(brokers, { topic: dlq, partitions: 1, config: { "max.message.bytes": "4096" } });
    const numbers = [1, 2, 3, 4, 5, LARGE];
    await sendExactly(
      brokers,
      topic,
      numbers.map((number) => article(number)),
      1,
    );
    const source = { topic, group: `${topic}-group`, mapping: { id: [2] } };
    const service = await openService({ broker: { brokers: [...brokers] }, source });
    await untilCaughtUp(service.url, "articles", 30_000);
    const operator = new OperatorClient(service.url);

    const listed = await lettersOf(operator, "?raw=true&partition=1");
    expect(listed.map(({ offset, state, code, attempt }) => [offset, state, code, attempt])).toEqual(
      ["0", "1", "2", "3", "4", "5"].map((offset) => [offset, "open", "CONTRACT_KEY_MISMATCH", 1]),
    );
    expect(listed[0]?.raw).toMatchObject({ value: expect.any(String), headers: [{ name: "/w==", value: null }] });
    expect([listed[5]?.raw?.value, listed[5]?.omitted?.value?.bytes]).toEqual([
      null,
      Buffer.from(article(LARGE).value ?? "").length,
    ]);

    expect(await redriven(operator), "nothing was mended").toMatchObject({ read: 6, deadLettered: 6 });
    expect((await lettersOf(operator)).map(({ attempt }) => attempt)).toEqual([2, 2, 2, 2, 2, 2]);
    const path = "/v1/sources/articles/definition";
    const { body: inForce, etag } = await operator.call("GET", path);
    const definition = { ...(inForce["definition"] as object), mapping: { id: [1] } };
    const mended = await operator.call("PUT", path, definition, etag);
    expect(mended.status, JSON.stringify(mended.body)).toBe(200);
    await sendExactly(brokers, topic, [article(2, 2)], 1);
    await untilCaughtUp(service.url, "articles", 30_000);
    const dry = await operator.call("POST", "/v1/redrives", { source: "articles", reason: "look", dryRun: true });
    expect(dry, JSON.stringify(dry.body)).toMatchObject({ status: 200, body: { sampled: { records: 6, failed: 0 } } });

    const ends = async () => [await topicBounds(brokers, topic), await topicBounds(brokers, dlq)];
    const before = await ends();
    expect(await redriven(operator)).toMatchObject({ read: 6, applied: 5, superseded: 1, failed: 0 });
    expect((await lettersOf(operator)).map(({ offset, state }) => [offset, state])).toEqual([
      ["0", "applied"],
      ["1", "superseded"],
      ["2", "applied"],
      ["3", "applied"],
      ["4", "applied"],
      ["5", "applied"],
    ]);
    const { body: large } = await operator.call("GET", `/v1/documents/articles/article-${LARGE}`);
    expect(large, "fetched from its own log").toMatchObject({ provenance: { partition: 1, offset: "5" } });
    const { body: newer } = await operator.call("GET", "/v1/documents/articles/article-2");
    expect(newer).toMatchObject({ provenance: { offset: "6" } });
    expect(await redriven(operator)).toMatchObject({ read: 6, alreadyApplied: 5, superseded: 1 });
    expect(await ends(), "nothing was produced").toEqual(before);
    expect(await service.lastLines(100_000), "no payload in the log").not.toMatch(/article-\d/);
  });
});
