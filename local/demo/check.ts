import { topicBounds } from "../broker/topics.ts";
import { ArticleFeed, POISON_KEY } from "../feed/plan.ts";
import { differingArticles, untilCaughtUp } from "../service/verify.ts";
import { AdFeeds } from "./ad-feeds.ts";
import { FEED_NAMES, say, type Stage } from "./stage.ts";

const ARTICLES = 400;
const ROUNDS = 6;
const RECORDS_A_ROUND = 500;
/** The service is killed right after these rounds were produced, while it works on them. */
const KILLED_AFTER = new Set([1, 3]);
const CATCH_UP_MS = 90_000;
const DIFFERENCES_SHOWN = 10;

/** Produces a fixed set with kills in between and verifies it over HTTP. Returns the exit code. */
export async function runCheck(stage: Stage): Promise<number> {
  const feed = new ArticleFeed(ARTICLES);
  const ads = new AdFeeds(stage);
  await ads.begin();
  for (let round = 0; round < ROUNDS; round += 1) {
    const records = feed.next(RECORDS_A_ROUND, Date.now());
    if (round === 2) records.push(feed.poison(Date.now()));
    await stage.producer.send(records);
    await ads.next(RECORDS_A_ROUND);
    say(`produced ${feed.sent} articles, ${ads.beacons.sent} beacons, ${ads.actions.sent} ad actions`);
    if (!KILLED_AFTER.has(round)) continue;
    await stage.service.kill();
    say("killed the service with SIGKILL; starting it again on the same data");
    await stage.service.restart();
  }
  say("waiting until everything is applied …");
  await Promise.all(FEED_NAMES.map((source) => untilCaughtUp(stage.service.url, source, CATCH_UP_MS)));
  return report([...(await ads.problems()), ...(await problems(stage, feed))], feed, ads);
}

async function problems(stage: Stage, feed: ArticleFeed): Promise<readonly string[]> {
  const { service, broker, topic } = stage;
  const found = await differingArticles(service.url, "articles", feed.expected);
  const poison = await service.get(`/v1/documents/articles/${POISON_KEY}`);
  if (poison.status !== 404) found.push(`${POISON_KEY}: must not be stored, but answered ${poison.status}`);
  const letters = await topicBounds(broker.brokers, `${topic}.dlq`);
  const count = letters.reduce((sum, { end, logStart }) => sum + end - logStart, 0);
  say(`dead letters in ${topic}.dlq: ${count} (the poison record, ${POISON_KEY})`);
  if (count < 1) found.push("the poison record is not among the dead letters");
  const code = await service.stop();
  if (code !== 0) found.push(`the service ended with exit code ${code} after SIGTERM`);
  return found;
}

function report(found: readonly string[], feed: ArticleFeed, ads: AdFeeds): number {
  if (found.length === 0) {
    const deleted = [...feed.expected.values()].filter((article) => article === undefined).length;
    say(
      `verified ${feed.expected.size} articles (${deleted} of them deleted) of ${feed.sent} records, ${ads.beacons.sent} beacons and ${ads.actions.sent} ad actions counted once each, campaigns, dials and bids; lag 0; all is as expected`,
    );
    return 0;
  }
  for (const line of found.slice(0, DIFFERENCES_SHOWN)) console.error(`[demo] differs: ${line}`);
  console.error(`[demo] ${found.length} differences`);
  return 1;
}
