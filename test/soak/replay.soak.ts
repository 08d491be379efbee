import { request } from "undici";
import { expect, it } from "vitest";
import { startBroker } from "../../local/broker/start-broker.ts";
import { ArticleFeed } from "../../local/feed/plan.ts";
import type { ServiceProcess } from "../../local/service/service-process.ts";
import { differingArticles, untilCaughtUp } from "../../local/service/verify.ts";
import { getJson } from "../support/http.ts";
import { openScenario } from "../support/scenario.ts";
import { writeSoakResult } from "../support/soak-result.ts";

const RECORDS = Number(process.env["SOAK_RECORDS"] ?? "1000000");
const KEYS = 20_000;
const WATCHED = 50;
const PARTITIONS = 8;
const KILLS = 3;
const BATCH = 2_000;
/** How long the replay takes at its pace: long enough to be killed in the middle of it. */
const SECONDS = 40;

interface JobBody {
  readonly id: string;
  readonly state: string;
  readonly percent: number;
  readonly receipt: Readonly<Record<string, number>>;
  readonly partitions: readonly { readonly from: string; readonly to: string; readonly next: string }[];
}

/** Looks at keys over and over: offsets by provenance never fall, and what was deleted never comes back as it was. */
class Poller {
  readonly backwards: string[] = [];
  reads = 0;
  #ended = false;
  readonly #seen = new Map<string, { readonly offset: number; readonly deleted: boolean }>();
  readonly #service: ServiceProcess;

  constructor(service: ServiceProcess) {
    this.#service = service;
  }

  async run(): Promise<void> {
    while (!this.#ended) {
      for (let key = 0; key < WATCHED && !this.#ended; key += 1) {
        // While the service is killed nobody answers.
        await this.#look(`article-${key}`).catch(() => new Promise((resolve) => setTimeout(resolve, 100)));
      }
    }
  }

  end(): void {
    this.#ended = true;
  }

  async #look(id: string): Promise<void> {
    const { status, body } = await getJson(`${this.#service.url}/v1/documents/articles/${id}`);
    const { provenance, code } = body as { readonly provenance?: { readonly offset: string }; readonly code?: string };
    const before = this.#seen.get(id) ?? { offset: -1, deleted: false };
    if (code === "DOCUMENT_DELETED") this.#seen.set(id, { ...before, deleted: true });
    if (status !== 200 || provenance === undefined) return;
    this.reads += 1;
    const offset = Number(provenance.offset);
    const fell = before.deleted ? offset <= before.offset : offset < before.offset;
    if (fell) this.backwards.push(`${id}: ${offset} after ${before.offset}${before.deleted ? ", deleted" : ""}`);
    this.#seen.set(id, { offset, deleted: false });
  }
}

async function submit(url: string): Promise<JobBody> {
  const rates = { recordsPerSecond: Math.ceil(RECORDS / SECONDS) };
  const answer = await request(`${url}/v1/replays`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ source: "articles", reason: "a soak", rates }),
  });
  expect(answer.statusCode).toBe(202);
  return (await answer.body.json()) as JobBody;
}

async function jobOf(url: string, id: string): Promise<JobBody> {
  return (await getJson(`${url}/v1/replays/${id}`)).body as JobBody;
}

/** The same ranges as when it was submitted, read to their ends, once, and nothing of them was new. */
function expectWhole(done: JobBody, submitted: JobBody["partitions"]): void {
  expect(done.state).toBe("done");
  expect(done.partitions.map(({ from, to }) => [from, to])).toEqual(submitted.map(({ from, to }) => [from, to]));
  expect(done.partitions.every(({ next, to }) => next === to)).toBe(true);
  const { read = 0, applied, alreadyApplied = 0, superseded = 0, deadLettered, failed } = done.receipt;
  expect([read, applied, deadLettered, failed]).toEqual([RECORDS, 0, 0, 0]);
  expect(alreadyApplied + superseded).toBe(read);
}

it(`${RECORDS} offsets are replayed beside live updates and deletes, killed ${KILLS} times: equal to a fold of the topic`, async () => {
  const broker = await startBroker({ way: "kafka" });
  const scenario = await openScenario({ brokers: broker.brokers, partitions: PARTITIONS });
  const { producer, service } = scenario;
  const poller = new Poller(service);
  try {
    const feed = new ArticleFeed(KEYS);
    while (feed.sent < RECORDS) await producer.send(feed.next(Math.min(BATCH, RECORDS - feed.sent), Date.now()));
    await untilCaughtUp(service.url, "articles", 120_000);
    const { id, partitions } = await submit(service.url);
    const polling = poller.run();
    const started = Date.now();
    const job = () => jobOf(service.url, id);
    let live = 0;
    const percents: number[] = [];
    const flow = async (isOver: (now: JobBody) => boolean) => {
      const deadline = Date.now() + 120_000;
      for (let now = await job(); !isOver(now); now = await job()) {
        expect(Date.now(), `at ${now.percent} %`).toBeLessThan(deadline);
        await producer.send(feed.next(100, Date.now()));
        live += 100;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    };
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await flow(({ percent }) => percent >= (kill * 100) / (KILLS + 2));
      const { state, percent } = await job();
      expect(state).toBe("running");
      percents.push(Math.round(percent));
      await service.kill();
      await service.restart();
    }
    await flow(({ state }) => state !== "running" && state !== "queued");
    const [done, replayMs] = [await job(), Date.now() - started];
    expectWhole(done, partitions);
    await untilCaughtUp(service.url, "articles", 60_000);
    poller.end();
    await polling;
    expect(poller.backwards).toEqual([]);
    expect(poller.reads).toBeGreaterThan(WATCHED);
    expect(await differingArticles(service.url, "articles", feed.expected)).toEqual([]);
    writeSoakResult("replay", {
      records: RECORDS,
      keys: KEYS,
      partitions: PARTITIONS,
      kills: KILLS,
      killedAtPercent: percents.join(" "),
      liveRecords: live,
      replayMs,
      alreadyApplied: done.receipt["alreadyApplied"] ?? 0,
      superseded: done.receipt["superseded"] ?? 0,
      polledReads: poller.reads,
    });
  } finally {
    poller.end();
    await scenario.close();
    await broker.stop();
  }
}, 355_000);
