import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { BeaconLoad } from "../../bench/support/beacons.ts";
import { RawProducer } from "../../bench/support/raw-producer.ts";
import { withAdmin } from "../../local/broker/admin.ts";
import { committedOffsets, createTopic, deleteTopics } from "../../local/broker/topics.ts";
import { uniqueTopic, useBroker } from "../support/broker.ts";
import { type CountingScenario, openCounting } from "../support/counting-scenario.ts";
import { until } from "../support/http.ts";
import { openService } from "../support/open-service.ts";
import { OperatorClient } from "../support/operator-client.ts";

const BEACONS = { seed: 3, records: 24_000, articles: 300, metrics: ["view", "read_10s"], hours: 3, visitors: 900 };
const ACTIONS = {
  seed: 4,
  records: 8_000,
  campaigns: 20,
  articles: 40,
  placements: 3,
  sites: 4,
  publishers: 3,
  hours: 5,
};

let scenario: CountingScenario | undefined;

afterEach(async () => {
  await scenario?.close();
  scenario = undefined;
});

describe("beacons and ad actions, counted once (I8)", () => {
  it("through SIGKILL at any moment and a replay from the start of the log, every counter is exact", async () => {
    const [broker = ""] = useBroker();
    scenario = await openCounting({ broker, partitions: 3, beacons: BEACONS, actions: ACTIONS });
    const { service } = scenario;
    for (let kill = 0; kill < 2; kill += 1) {
      await scenario.send(BEACONS.records / 3);
      await delay(200 * kill);
      await service.kill();
      await service.restart();
    }
    await scenario.send(BEACONS.records);
    await scenario.committed(60_000);
    await service.stop();
    await scenario.resetGroups();
    await service.restart();
    await scenario.committed(60_000);
    // What was counted wrongly before the replay is not mended by it: it finds that all is counted.
    expect(await scenario.differences()).toEqual([]);
  }, 180_000);
});

describe("START_UNCOVERED", () => {
  it("a group moved below the first row counts nothing there, and goes on from the copy", async () => {
    const brokers = useBroker();
    const topic = uniqueTopic("uncovered");
    const group = `${topic}-group`;
    await createTopic(brokers, { topic, partitions: 1 });
    onTestFinished(() => deleteTopics(brokers, [topic]));
    const load = new BeaconLoad({ ...BEACONS, records: 300, fromSeconds: Math.floor(Date.now() / 1_000) - 86_400 });
    const producer = await RawProducer.connect({ broker: brokers[0] ?? "", topic, partitions: 1, batchBytes: 1_024 });
    onTestFinished(() => producer.close());
    await producer.send(load, 100);
    const kind = { kind: "traffic", descriptor: { subject: "ysearch.beacon" } };
    const source = { ...kind, topic, group, startFrom: "latest" };
    const service = await openService({ broker: { brokers: [...brokers] }, source });
    const operator = new OperatorClient(service.url);
    const observed = (wanted: string) =>
      until(
        () => operator.partition(0),
        ({ body }) => body["observed"] === wanted,
      );
    const committed = (wanted: number) =>
      until(
        () => committedOffsets(brokers, group, topic),
        (offsets) => offsets.get(0) === wanted,
      );
    expect((await observed("running")).body["position"]).toBe("100");
    await producer.send(load, 100);
    await committed(200);
    expect(await service.stop()).toBe(0);
    const partitions = [{ partition: 0, offset: "40" }];
    await withAdmin(brokers, (admin) => admin.setOffsets({ groupId: group, topic, partitions }));
    await service.restart();
    const page = "docs/stops/START_UNCOVERED.md";
    expect((await observed("stopped")).body["stop"]).toMatchObject({ code: "START_UNCOVERED", wanted: "40", page });
    await committed(40);
    expect((await operator.resume(0, { from: "copy" })).status).toBe(200);
    await producer.send(load, 100);
    await committed(300);
    expect(await operator.gaps()).toEqual([]);
    const { body } = await operator.call("GET", "/v1/sources/articles/ledger");
    expect(body).toMatchObject({ rows: [{ from: "100", until: "300" }] });
  });
});
