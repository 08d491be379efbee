import { setTimeout as delay } from "node:timers/promises";
import { topicBounds } from "../broker/topics.ts";
import { ArticleFeed, POISON_KEY } from "../feed/plan.ts";
import { readLag } from "../service/verify.ts";
import { AdFeeds } from "./ad-feeds.ts";
import { say, type Stage } from "./stage.ts";

const ARTICLES = 2_000;
const RECORDS_A_TURN = 5;
const TURN_MS = 250;
const TURNS_A_REPORT = 40;
/** How long the first dead letter is waited for before the demo goes on without. */
const LETTER_MS = 15_000;

/** Feeds gently until the signal; returns the exit code. */
export async function runContinuous(stage: Stage, signal: AbortSignal): Promise<number> {
  const feed = new ArticleFeed(ARTICLES);
  await stage.producer.send([...feed.next(ARTICLES, Date.now()), feed.poison(Date.now())]);
  const ads = new AdFeeds(stage);
  await ads.begin();
  await ads.next(ARTICLES);
  await untilLetter(stage, signal);
  whereToLook(stage);
  for (let turn = 1; !signal.aborted; turn += 1) {
    await stage.producer.send(feed.next(RECORDS_A_TURN, Date.now()));
    await ads.next(RECORDS_A_TURN);
    if (turn % TURNS_A_REPORT === 0) {
      const lag = await readLag(stage.service.url, "articles").catch((error: unknown) => String(error));
      const letters = await deadLetters(stage).catch((error: unknown) => String(error));
      say(`${feed.sent} records produced, lag ${lag}, dead letters ${letters}`);
    }
    await delay(TURN_MS, undefined, { signal }).catch(() => undefined);
  }
  say("stopping all that was started …");
  return 0;
}

/** Waits until the poison record is among the dead letters, so that what is said of it is true. */
async function untilLetter(stage: Stage, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + LETTER_MS;
  while (!signal.aborted && Date.now() < deadline && (await deadLetters(stage)) < 1)
    await delay(TURN_MS, undefined, { signal }).catch(() => undefined);
}

/** How many letters the dead-letter topic holds. */
async function deadLetters({ broker, topic }: Stage): Promise<number> {
  const bounds = await topicBounds(broker.brokers, `${topic}.dlq`);
  return bounds.reduce((sum, { logStart, end }) => sum + end - logStart, 0);
}

function whereToLook({ service, topic, broker, folder }: Stage): void {
  const { url } = service;
  say("where to look:");
  for (const [path, what] of [
    ["/v1/sources", "the six sources, their state and counts"],
    ["/v1/sources/articles/partitions", "watermark, committed, position of each partition"],
    ["/v1/lag", "lag by partition"],
    ["/v1/documents/articles/article-1", "a document with its provenance"],
    [`/v1/documents/articles/${POISON_KEY}`, "the poison record: never stored"],
    ["/v1/traffic/article-1?by=hour", "beacons counted, with visitors"],
    ["/v1/campaigns/campaign-1/actions?by=site", "impressions and clicks of a campaign"],
    ["/v1/campaigns/campaign-1/calibration", "how well served scores predicted clicks"],
    ["/v1/documents/campaigns/campaign-1", "a campaign"],
    ["/v1/dials/dial-1", "a reach target"],
    ["/v1/kv/owners", "the three owners of the KV plane"],
    ["/openapi.json", "the contract"],
  ] as const) {
    console.log(`         ${url}${path}   ${what}`);
  }
  console.log(`         dead letters: one so far, the poison record; to read it, in another terminal:`);
  console.log(`           npm run topic -- read ${topic}.dlq --brokers ${broker.brokers.join(",")}`);
  console.log(`         log and data: ${folder}`);
  console.log("         Ctrl-C stops all of it.");
}
