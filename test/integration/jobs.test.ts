import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { request } from "undici";
import { ArticleFeed } from "../../local/feed/plan.ts";
import { differingArticles, untilCaughtUp } from "../../local/service/verify.ts";
import { useBroker } from "../support/broker.ts";
import { getJson, until } from "../support/http.ts";
import { OperatorClient } from "../support/operator-client.ts";
import { openScenario, type Scenario } from "../support/scenario.ts";

const NOW = Date.now();
let scenario: Scenario | undefined;

afterEach(async () => {
  await scenario?.close();
  scenario = undefined;
});

interface Receipt {
  readonly read: number;
  readonly applied: number;
  readonly alreadyApplied: number;
  readonly superseded: number;
  readonly deadLettered: number;
  readonly failed: number;
}

interface JobBody {
  readonly id: string;
  readonly state: string;
  readonly receipt: Receipt;
  readonly partitions: readonly { readonly next: string; readonly to: string; readonly receipt: Receipt }[];
}

const job = async (url: string, id: string) => (await getJson(`${url}/v1/replays/${id}`)).body as JobBody;

/** Versions of a document as they are seen one after the other: offset by provenance, −1 while it is deleted. */
async function offsetOf(url: string, id: string): Promise<number> {
  const { body } = await getJson(`${url}/v1/documents/articles/${id}`);
  const { provenance } = body as { readonly provenance?: { readonly offset: string } };
  return provenance === undefined ? -1 : Number(provenance.offset);
}

describe("a replay on a real broker", () => {
  it("beside live updates and deletes, killed twice and adopted, changes nothing that is newer", async () => {
    scenario = await openScenario({ brokers: useBroker(), partitions: 2 });
    const { producer, service } = scenario;
    const feed = new ArticleFeed(60);
    await producer.send(feed.next(900, NOW));
    await producer.send([feed.poison(NOW)]);
    await untilCaughtUp(service.url, "articles", 30_000);
    const ask = { source: "articles", reason: "a proof", rates: { recordsPerSecond: 150 } };
    const submit = (url: string, key: string, body: object) =>
      request(`${url}/v1/replays`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": key },
        body: JSON.stringify(body),
      });
    const key = randomUUID();
    const first = await submit(service.url, key, ask);
    const { id } = (await first.body.json()) as JobBody;
    expect([first.statusCode, first.headers["location"]]).toEqual([202, `/v1/replays/${id}`]);
    const again = await submit(service.url, key, ask);
    expect([again.statusCode, ((await again.body.json()) as JobBody).id]).toEqual([200, id]);
    const other = await submit(service.url, key, { ...ask, reason: "another" });
    expect(other.statusCode, await other.body.text()).toBe(200);
    const reused = await submit(service.url, key, { ...ask, rates: { recordsPerSecond: 9 } });
    expect(await reused.body.json()).toMatchObject({ status: 422, code: "JOB_KEY_REUSED" });
    const overlapping = await submit(service.url, randomUUID(), { ...ask, ranges: [{ partition: 1 }] });
    expect(await overlapping.body.json()).toMatchObject({ status: 409, code: "JOB_OVERLAPS" });
    const seen = new Map<string, number>();
    for (let life = 0; life < 2; life += 1) {
      await until(
        () => job(service.url, id),
        ({ receipt }) => receipt.read > 0,
      );
      await producer.send(feed.next(60, NOW));
      for (const article of feed.expected.keys()) {
        const offset = await offsetOf(service.url, article);
        expect(offset === -1 ? Infinity : offset, article).toBeGreaterThanOrEqual(seen.get(article) ?? 0);
        if (offset !== -1) seen.set(article, offset);
      }
      await service.kill();
      await service.restart();
    }
    const done = await until(
      () => job(service.url, id),
      ({ state }) => state !== "running" && state !== "queued",
      40_000,
    );
    expect(done).toMatchObject({ state: "done", receipt: { applied: 0, deadLettered: 1, failed: 0 } });
    for (const { receipt, next, to } of done.partitions) {
      expect(next).toBe(to);
      const { read, applied, alreadyApplied, superseded, deadLettered, failed } = receipt;
      expect(applied + alreadyApplied + superseded + deadLettered + failed).toBe(read);
    }
    expect(done.receipt.read).toBe(901);
    await untilCaughtUp(service.url, "articles", 30_000);
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
  }, 90_000);

  it("is cancelled within a second or two, refused beyond the log, and done at once where there is nothing", async () => {
    scenario = await openScenario({ brokers: useBroker(), partitions: 1 });
    const { producer, service } = scenario;
    const feed = new ArticleFeed(50);
    await producer.send(feed.next(300, NOW));
    await untilCaughtUp(service.url, "articles", 30_000);
    const client = new OperatorClient(service.url);
    const ask = (more: object) =>
      client.call("POST", "/v1/replays", { source: "articles", reason: "a proof", ...more });
    const slow = await ask({ rates: { recordsPerSecond: 1 } });
    const id = String(slow.body["id"]);
    await client.call("POST", `/v1/replays/${id}/cancel`, { reason: "enough" });
    await until(
      () => job(service.url, id),
      ({ state }) => state === "cancelled",
      5_000,
    );
    expect(await ask({ ranges: [{ partition: 0, to: "301" }] })).toMatchObject({
      status: 422,
      body: { code: "JOB_RANGE", bounds: { logStart: "0", end: "300" } },
    });
    const nothing = await ask({ ranges: [{ partition: 0, from: "300" }] });
    const ended = await getJson(`${service.url}/v1/replays/${String(nothing.body["id"])}?wait=5`);
    expect(ended.body).toMatchObject({ state: "done", receipt: { read: 0 } });
    const dry = await ask({ dryRun: true });
    expect(dry).toMatchObject({ status: 200, body: { dryRun: true, offsets: 300, sampled: { failed: 0 } } });
    expect(await client.call("GET", "/v1/replays")).toMatchObject({ body: { jobs: [{ state: "done" }, { id }] } });
  }, 60_000);
});
