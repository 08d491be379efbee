import { request } from "undici";
import { expect, it } from "vitest";
import { startBroker } from "../../local/broker/start-broker.ts";
import { ArticleFeed } from "../../local/feed/plan.ts";
import type { ServiceProcess } from "../../local/service/service-process.ts";
import { differingArticles, untilCaughtUp } from "../../local/service/verify.ts";
import { getJson, until } from "../support/http.ts";
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

it(`${RECORDS} offsets are replayed beside live updates and deletes, killed ${KILLS} times: equal to a fold of the topic`, async () => {
  const broker = await startBroker({ way: "kafka" });
  const scenario = await openScenario({ brokers: broker.brokers, partitions: PARTITIONS });
  const { producer, service } = scenario;
  const poller = new Poller(service);
  try {
    const feed = new ArticleFeed(KEYS);
    while (feed.sent < RECORDS) await producer.send(feed.next(Math.min(BATCH, RECORDS - feed.sent), Date.now()));
    await untilCaughtUp(service.url, "articles", 120_000);
    const rates = { recordsPerSecond: Math.ceil(RECORDS / SECONDS) };
    const answer = await request(`${service.url}/v1/replays`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ source: "articles", reason: "a soak", rates }),
    });
    const { id, partitions } = (await answer.body.json()) as JobBody;
    expect(answer.statusCode).toBe(202);
    const polling = poller.run();
    const started = Date.now();
    const job = async () => (await getJson(`${service.url}/v1/replays/${id}`)).body as JobBody;
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
      const before = await job();
      expect(before.state).toBe("running");
      percents.push(Math.round(before.percent));
      await service.kill();
      await service.restart();
    }
    await flow(({ state }) => state !== "running" && state !== "queued");
    const done = await job();
    const replayMs = Date.now() - started;
    expect(done.state).toBe("done");
    expect(done.partitions.map(({ from, to }) => [from, to])).toEqual(partitions.map(({ from, to }) => [from, to]));
    expect(done.partitions.every(({ next, to }) => next === to)).toBe(true);
    const { read = 0, applied, alreadyApplied = 0, superseded = 0, deadLettered, failed } = done.receipt;
    expect([read, applied, deadLettered, failed]).toEqual([RECORDS, 0, 0, 0]);
    expect(alreadyApplied + superseded).toBe(read);
    await untilCaughtUp(service.url, "articles", 60_000);
    poller.end();
    await polling;
    expect(poller.backwards).toEqual([]);
    expect(poller.reads).toBeGreaterThan(WATCHED);
    await until(
      () => differingArticles(service.url, "articles", feed.expected),
      (differing) => differing.length === 0,
      60_000,
    );
    writeSoakResult("replay", {
      records: RECORDS,
      keys: KEYS,
      partitions: PARTITIONS,
      kills: KILLS,
      killedAtPercent: percents.join(" "),
      liveRecords: live,
      replayMs,
      alreadyApplied,
      superseded,
      polledReads: poller.reads,
      backwards: poller.backwards.length,
      differing: 0,
    });
  } finally {
    poller.end();
    await scenario.close();
    await broker.stop();
  }
}, 355_000);
