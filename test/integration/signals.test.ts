import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { committedOffsets, topicEnd } from "../../local/broker/topics.ts";
import { ArticleFeed } from "../../local/feed/plan.ts";
import { useBroker } from "../support/broker.ts";
import { getPartitions, until } from "../support/http.ts";
import { commitsAheadOfOwners, openScenario, type Scenario } from "../support/scenario.ts";

const PARTITIONS = 4;
let scenario: Scenario | undefined;

afterEach(async () => {
  await scenario?.close();
  scenario = undefined;
});

/** Produces until the signal; resolves when the last records are with the broker. */
async function load({ producer }: Scenario, signal: AbortSignal): Promise<void> {
  const feed = new ArticleFeed(500);
  while (!signal.aborted) await producer.send(feed.next(300, Date.now()));
}

/** The drain may be over already: then there is nobody to meet the second signal, which is as good. */
function killIfRunning(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || error.code !== "ESRCH") throw error;
  }
}

const watermarks = async ({ service }: Scenario) =>
  new Map((await getPartitions(service.url)).map(({ partition, watermark = "0" }) => [partition, Number(watermark)]));

it.each([
  ["SIGTERM", "SIGTERM"],
  ["SIGINT", "SIGTERM"],
  ["SIGINT", "SIGINT"],
] as const)("%s and %s 50 ms apart under load: everything acknowledged is committed, exit 0", async (first, second) => {
  // Nothing is committed but by the drain.
  const limits = { commitEvery: "15s" };
  scenario = await openScenario({ brokers: useBroker(), partitions: PARTITIONS, limits });
  const { brokers, group, topic, service } = scenario;
  const here = scenario;
  const ending = new AbortController();
  const loaded = load(here, ending.signal);
  try {
    const before = await until(
      () => watermarks(here),
      (all) => all.size === PARTITIONS && [...all.values()].every((watermark) => watermark > 100),
    );
    const pid = service.pid ?? 0;
    process.kill(pid, first);
    await delay(50);
    killIfRunning(pid, second);
    await until(
      () => Promise.resolve(service.pid),
      (running) => running === undefined,
    );
    expect(await service.stop(), await service.lastLines(8)).toBe(0);

    const lines = await service.lastLines(8);
    expect(lines.split("\n").at(-1), lines).toMatch(/"uncommitted":\[\],"hanging":\[\],"msg":"stopped"/);
    const committed = await committedOffsets(brokers, group, topic);
    for (const [partition, watermark] of before) expect(committed.get(partition)).toBeGreaterThanOrEqual(watermark);
    expect(await commitsAheadOfOwners(here)).toEqual([]);
  } finally {
    ending.abort();
    await loaded;
  }
  const all = [...(await committedOffsets(brokers, group, topic)).values()].reduce((sum, offset) => sum + offset, 0);
  expect(all).toBeLessThanOrEqual(await topicEnd(brokers, topic));
});
