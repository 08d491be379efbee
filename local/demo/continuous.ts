import { setTimeout as delay } from "node:timers/promises";
import { ArticleFeed, POISON_KEY } from "../feed/plan.ts";
import { readLag } from "../service/verify.ts";
import { say, type Stage } from "./stage.ts";

const ARTICLES = 2_000;
const RECORDS_A_TURN = 5;
const TURN_MS = 250;
const TURNS_A_REPORT = 40;

/** Feeds gently until the signal; returns the exit code. */
export async function runContinuous(stage: Stage, signal: AbortSignal): Promise<number> {
  const feed = new ArticleFeed(ARTICLES);
  await stage.producer.send([...feed.next(ARTICLES, Date.now()), feed.poison(Date.now())]);
  whereToLook(stage);
  for (let turn = 1; !signal.aborted; turn += 1) {
    await stage.producer.send(feed.next(RECORDS_A_TURN, Date.now()));
    if (turn % TURNS_A_REPORT === 0) {
      const lag = await readLag(stage.service.url, "articles").catch((error: unknown) => String(error));
      say(`${feed.sent} records produced, lag ${lag}`);
    }
    await delay(TURN_MS, undefined, { signal }).catch(() => undefined);
  }
  say("stopping all that was started …");
  return 0;
}

function whereToLook({ service, topic, broker, folder }: Stage): void {
  const { url } = service;
  say("where to look:");
  for (const [path, what] of [
    ["/v1/sources", "the source, its state and counts"],
    ["/v1/sources/articles/partitions", "watermark, committed, position of each partition"],
    ["/v1/lag", "lag by partition"],
    ["/v1/documents/articles/article-1", "a document with its provenance"],
    [`/v1/documents/articles/${POISON_KEY}`, "the poison record: never stored"],
    ["/v1/kv/owners", "the three owners of the KV plane"],
    ["/openapi.json", "the contract"],
  ] as const) {
    console.log(`         ${url}${path}   ${what}`);
  }
  console.log(`         dead letters: topic ${topic}.dlq at ${broker.brokers.join(",")}`);
  console.log(`         log and data: ${folder}`);
  console.log("         Ctrl-C stops all of it.");
}
