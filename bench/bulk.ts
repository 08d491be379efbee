import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startBroker } from "../local/broker/start-broker.ts";
import { createTopic } from "../local/broker/topics.ts";
import { ServiceProcess } from "../local/service/service-process.ts";
import { ArticleLoad, type ArticlePlan } from "./support/articles.ts";
import { fillBareLmdb } from "./support/bare-lmdb.ts";
import { median, writeResult } from "./support/result.ts";
import { type LagWatch, watchLag } from "./support/lag-watch.ts";
import { RawProducer } from "./support/raw-producer.ts";
import { costOf, drainWithService, rateOf } from "./support/service-drain.ts";

/**
 * The first fill: articles of 1 KB, all new, from the start of a topic into the service, against bare LMDB as one would use it
 * (`bench/kv.ts`); rounds alternate. Meanwhile a second source with a few records a second says what live records wait.
 * Bar: 0.6. Run: `npm run build && npx tsx bench/bulk.ts [records] [rounds]`.
 */

const RECORDS = Number(process.argv[2] ?? 200_000);
const ROUNDS = Number(process.argv[3] ?? 2);
const PARTITIONS = 8;
/** About what one fetch of one partition holds: see `limits.fetchBytesPerPartition`. */
const BATCH = 1_000;
const DEADLINE_MS = 240_000;
const LIVE_EVERY_MS = 50;

const plan: ArticlePlan = {
  records: RECORDS,
  articles: RECORDS,
  bodyBytes: 900,
  publishedSeconds: Math.floor(Date.now() / 1_000),
};

const root = mkdtempSync(join(tmpdir(), "ysearch-bench-bulk-"));

function config(broker: string): Readonly<Record<string, unknown>> {
  const common = { kind: "documents", descriptor: { subject: "ysearch.article" } };
  return {
    broker: { brokers: [broker] },
    sources: [
      { ...common, name: "articles", topic: "articles", namespace: "articles" },
      { ...common, name: "live", topic: "live", namespace: "live" },
    ],
  };
}

/** Sends a record now and then until it is told to end. */
async function trickle(broker: string, ended: () => boolean): Promise<void> {
  const producer = await RawProducer.connect({ broker, topic: "live", partitions: 1 });
  const load = new ArticleLoad({ ...plan, records: Number.POSITIVE_INFINITY, articles: 1_000 });
  while (!ended()) {
    await producer.send(load, 1);
    await delay(LIVE_EVERY_MS);
  }
  producer.close();
}

async function ours(broker: string, round: number): Promise<{ readonly rate: number; readonly live: LagWatch }> {
  const folder = join(root, `service-${round}`);
  // Another group for each round: its start record and commits are those of a first start.
  const { sources, ...rest } = config(broker);
  const named = (sources as readonly { readonly name: string }[]).map((source) => ({
    ...source,
    group: `bench-bulk-${round}-${source.name}`,
  }));
  const service = await ServiceProcess.start({ folder, config: { ...rest, sources: named } });
  let ended = false;
  const live = watchLag(service, "live", () => ended);
  const trickling = trickle(broker, () => ended);
  try {
    const figures = await drainWithService(service, "articles", RECORDS, DEADLINE_MS);
    ended = true;
    console.log(
      `  service: ${rateOf(figures).toFixed(1)} k/s, ${costOf(figures).toFixed(1)} s CPU per million, RssAnon ${figures.mainRssMiB.toFixed(0)} MiB, owner ${figures.ownerRssMiB.toFixed(0)} MiB`,
    );
    return { rate: rateOf(figures), live: await live };
  } finally {
    ended = true;
    await trickling;
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function bare(round: number, value: Uint8Array): Promise<number> {
  const folder = join(root, `bare-${round}`);
  const figures = await fillBareLmdb(folder, RECORDS, BATCH, value);
  rmSync(folder, { recursive: true, force: true });
  console.log(`  bare LMDB: ${rateOf(figures).toFixed(1)} k/s, ${costOf(figures).toFixed(1)} s CPU per million`);
  return rateOf(figures);
}

async function produce(broker: string): Promise<Uint8Array> {
  await createTopic([broker], { topic: "articles", partitions: PARTITIONS });
  await createTopic([broker], { topic: "live", partitions: 1 });
  const load = new ArticleLoad(plan);
  const producer = await RawProducer.connect({
    broker,
    topic: "articles",
    partitions: PARTITIONS,
    batchBytes: 262_144,
  });
  await producer.send(load);
  producer.close();
  return load.value.slice(0, load.valueBytes);
}

async function main(): Promise<void> {
  const started = await startBroker({ way: "kafka" });
  try {
    const [broker = ""] = started.brokers;
    const value = await produce(broker);
    const rates: { ours: number[]; bare: number[]; lag: number[] } = { ours: [], bare: [], lag: [] };
    for (let round = 1; round <= ROUNDS; round += 1) {
      console.log(`round ${round}: ${RECORDS} documents of ${value.length} bytes`);
      const measured = await ours(broker, round);
      rates.ours.push(measured.rate);
      rates.lag.push(measured.live.secondsMax);
      rates.bare.push(await bare(round, value));
    }
    const ratio = median(rates.ours) / median(rates.bare);
    const liveLagSecondsMax = Math.max(...rates.lag);
    console.log(`ratio ${ratio.toFixed(2)} (bar 0.6); live records lagged ${liveLagSecondsMax.toFixed(1)} s at most`);
    writeResult("bulk", {
      records: RECORDS,
      ratio,
      ours: median(rates.ours),
      bare: median(rates.bare),
      liveLagSecondsMax,
    });
  } finally {
    await started.stop();
    rmSync(root, { recursive: true, force: true });
  }
}

await main();
