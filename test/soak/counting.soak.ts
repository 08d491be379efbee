import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { LocalBroker } from "../../local/broker/local-broker.ts";
import { startBroker } from "../../local/broker/start-broker.ts";
import { deleteRecords, topicBounds } from "../../local/broker/topics.ts";
import { type CountingScenario, openCounting } from "../support/counting-scenario.ts";
import { getJson, until } from "../support/http.ts";
import { OperatorClient } from "../support/operator-client.ts";
import { writeSoakResult } from "../support/soak-result.ts";

/** A divisor of all sizes, to try the stories out: `SOAK_SHARE=20`. */
const SHARE = Number(process.env["SOAK_SHARE"] ?? 1);
const PARTITIONS = 16;

const BEACONS = {
  seed: 11,
  records: 2_000_000 / SHARE,
  articles: 20_000 / SHARE,
  metrics: ["view", "read_10s"],
  hours: 4,
  visitors: 50_000,
};

const ACTIONS = {
  seed: 12,
  records: 1_000_000 / SHARE,
  campaigns: 200,
  articles: 500,
  placements: 6,
  sites: 20,
  publishers: 10,
  hours: 24,
};

let broker: LocalBroker;
let scenario: CountingScenario | undefined;

beforeAll(async () => {
  broker = await startBroker({ way: "kafka" });
});

afterAll(async () => {
  await scenario?.close();
  await broker.stop();
});

async function open(options: Omit<Parameters<typeof openCounting>[0], "broker">): Promise<CountingScenario> {
  await scenario?.close();
  scenario = await openCounting({ broker: broker.brokers[0] ?? "", ...options });
  return scenario;
}

/** Kills the service, or now and then one of its owners, every few seconds until told to end. */
async function killing(counting: CountingScenario, ended: () => boolean, pauseMs: number) {
  const { service } = counting;
  const restartMs: number[] = [];
  let owners = 0;
  while (!ended()) {
    await delay(pauseMs * (0.5 + Math.random()));
    if (ended()) break;
    if (Math.random() < 0.25) {
      counting.killOwner();
      owners += 1;
      continue;
    }
    await service.kill();
    const started = Date.now();
    await service.restart();
    restartMs.push(Date.now() - started);
  }
  return { kills: restartMs.length, ownersKilled: owners, restartMsMax: Math.max(0, ...restartMs) };
}

/** Sends everything, in portions, over about `ms`. */
async function sendAll(counting: CountingScenario, records: number, ms: number): Promise<void> {
  const portions = 100;
  const started = Date.now();
  for (let portion = 1; await counting.send(Math.ceil(records / portions)); portion += 1) {
    await delay(Math.max(0, started + (portion * ms) / portions - Date.now()));
  }
}

it("2 M beacons and 1 M ad actions, killed every few seconds, replayed twice: every counter is exact", async () => {
  const counting = await open({ partitions: PARTITIONS, beacons: BEACONS, actions: ACTIONS });
  const started = Date.now();
  let ended = false;
  const kills = killing(counting, () => ended, 4_000);
  try {
    await sendAll(counting, BEACONS.records, 180_000);
  } finally {
    ended = true;
  }
  const killed = await kills;
  await counting.committed();
  const appliedMs = Date.now() - started;
  expect(await counting.differences()).toEqual([]);
  const replayedMs: number[] = [];
  for (let replay = 0; replay < 2; replay += 1) {
    await counting.resetGroups();
    await counting.service.restart();
    const again = Date.now();
    await counting.committed();
    replayedMs.push(Date.now() - again);
    expect(await counting.differences()).toEqual([]);
  }
  writeSoakResult("counting", {
    beacons: BEACONS.records,
    actions: ACTIONS.records,
    partitions: PARTITIONS,
    ...killed,
    appliedMs,
    replayedMs: Math.max(...replayedMs),
    exact: true,
  });
});

it("an owner is wiped and repaired while events are counted and the service is killed: every counter is exact", async () => {
  const counting = await open({
    partitions: PARTITIONS,
    beacons: { ...BEACONS, records: BEACONS.records / 4 },
    actions: { ...ACTIONS, records: ACTIONS.records / 4 },
  });
  const { service, folder } = counting;
  const operator = new OperatorClient(service.url);
  const sending = sendAll(counting, BEACONS.records / 4, 40_000 / SHARE);
  for (const owner of ["a", "b", "c"]) {
    await delay(2_000);
    await rm(join(folder, "data", owner), { recursive: true, force: true });
    await untilOwner(service.url, owner, (state) => state === "lost" || state === "down");
    if (owner === "b") {
      await service.kill();
      await service.restart();
    }
    await until(
      () => operator.call("POST", `/v1/kv/owners/${owner}/repair`, { reason: "its disk was wiped" }),
      ({ status }) => status === 202,
    );
    await untilOwner(service.url, owner, (state) => state === "up");
  }
  await sending;
  await counting.committed();
  expect(await counting.differences()).toEqual([]);
});

async function untilOwner(url: string, owner: string, accept: (state: string | undefined) => boolean): Promise<void> {
  const read = async () => {
    const { body } = await getJson(`${url}/v1/kv/owners`);
    const { owners } = body as { readonly owners: readonly { readonly owner: string; readonly state: string }[] };
    return owners.find((one) => one.owner === owner)?.state;
  };
  await until(read, accept, 120_000);
}

/** Beacons carry 2^32 as their visitor: where it is mapped to the count, each adds that instead of 1. */
const HEAVY = 2n ** 32n;

it("the mapping changes while events flow, with crashes in between: each event is counted once, under one revision", async () => {
  const beacons = { ...BEACONS, records: BEACONS.records / 4, visitors: 1 };
  const counting = await open({ partitions: PARTITIONS, beacons });
  const { service } = counting;
  const operator = new OperatorClient(service.url);
  const { mapping } = (await operator.call("GET", "/v1/sources/traffic/definition")).body["definition"] as {
    readonly mapping: Readonly<Record<string, readonly number[]>>;
  };
  const { visitor, count, ...common } = mapping;
  const heavy = { ...common, count: visitor };
  const light = { ...common, count, visitor };
  const sending = sendAll(counting, beacons.records, 30_000 / SHARE);
  for (const wanted of [heavy, light, heavy]) {
    await delay(3_000);
    const { etag } = await operator.call("GET", "/v1/sources/traffic/definition");
    const body = { version: 1, mapping: wanted };
    const { status } = await operator.call("PUT", "/v1/sources/traffic/descriptor", body, etag);
    expect(status).toBe(200);
    await delay(Math.random() * 500);
    await service.kill();
    await service.restart();
  }
  await sending;
  await counting.committed();
  await service.stop();
  const counters = await counting.beacons();
  expect(counters.filter(({ held, produced }) => (held % HEAVY) + held / HEAVY !== produced)).toEqual([]);
  const sum = (weigh: (held: bigint) => bigint): bigint => counters.reduce((all, { held }) => all + weigh(held), 0n);
  expect(sum((held) => held % HEAVY)).toBeGreaterThan(0n);
  expect(sum((held) => held / HEAVY)).toBeGreaterThan(0n);
});

it("retention cuts the log in the middle of history: totals stay, through a crash, too", async () => {
  const beacons = { ...BEACONS, records: BEACONS.records / 4 };
  const counting = await open({ partitions: PARTITIONS, beacons });
  await counting.send(beacons.records / 2);
  await counting.committed();
  const topic = counting.feeds[0]?.topic ?? "";
  for (const { partition, end } of await topicBounds(broker.brokers, topic)) {
    await deleteRecords(broker.brokers, topic, partition, Math.floor(end / 2));
  }
  await counting.service.kill();
  await counting.service.restart();
  await counting.send(Number.POSITIVE_INFINITY);
  await counting.committed();
  expect(await counting.differences()).toEqual([]);
  // What is still there is read again; what is gone stays as it was counted.
  await counting.resetGroups();
  await counting.service.restart();
  await counting.committed();
  expect(await counting.differences()).toEqual([]);
});
