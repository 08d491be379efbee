import { describe, expect, it } from "vitest";

import { createTopic, deleteTopics } from "../../../local/broker/topics.ts";
import { startOwnBroker, uniqueTopic, useBroker } from "../../support/broker.ts";
import { fill } from "./support/producing.ts";
import { SourceProbe, span } from "./support/source-probe.ts";

describe("a broker that dies", () => {
  it("is read on after its restart, by the same process, with commits", async () => {
    const broker = await startOwnBroker();
    const { brokers } = broker;
    const topic = uniqueTopic("outage");
    await createTopic(brokers, { topic, partitions: 2 });
    await fill(brokers, topic, [0, 1], 10);
    const positions = new Map<number, number>();
    const probe = new SourceProbe(
      { brokers, topic, group: `${topic}-group` },
      (partition) => positions.get(partition) ?? 0,
    );
    probe.onBatch = (batch) => positions.set(batch.partition, batch.next);
    probe.run();
    await probe.until("the first records", () => probe.records.length === 20);
    await broker.kill();
    await probe.until("the outage noticed", () => probe.states.some(({ state }) => state === "backing-off"));
    const during = await probe.source.commit(probe.epoch, new Map([[0, 10]]));
    expect(during.outcome).not.toBe("committed");
    await expect(probe.source.bounds()).rejects.toMatchObject({ name: "SourceFault" });
    await broker.restart();
    await fill(brokers, topic, [0, 1], 10, 10);
    await probe.until("the rest", () => probe.records.length === 40, 30_000);
    expect(probe.offsets(0)).toEqual(span(0, 20));
    expect(probe.offsets(1)).toEqual(span(0, 20));
    await expect
      .poll(
        async () =>
          probe.source.commit(
            probe.epoch,
            new Map([
              [0, 20],
              [1, 20],
            ]),
          ),
        { timeout: 10_000 },
      )
      .toEqual({ outcome: "committed" });
    const states = probe.states.filter(({ state }) => state === "backing-off");
    expect(states.every(({ cause }) => cause !== undefined && cause !== "unknown")).toBe(true);
    expect(probe.logger.lines.length).toBeLessThan(10);
    await probe.source.stop(10_000);
  });

  it("does not keep a source from stopping", async () => {
    const probe = new SourceProbe({ brokers: ["127.0.0.1:1"], topic: "none", group: "none" }).run();
    await probe.until("backing off", () => probe.states.some(({ state }) => state === "backing-off"));
    const before = performance.now();
    await probe.source.stop(5_000);
    expect(performance.now() - before).toBeLessThan(3_000);
    expect(probe.states.at(-1)?.state).toBe("stopped");
  });

  it("or a topic that is deleted ends nothing: reading goes on with the topic that comes after it", async () => {
    const brokers = useBroker();
    const topic = uniqueTopic("deleted");
    await createTopic(brokers, { topic, partitions: 2 });
    await fill(brokers, topic, [0, 1], 5);
    const probe = new SourceProbe({ brokers, topic, group: `${topic}-group` }).run();
    await probe.until("the records", () => probe.records.length === 10);
    await deleteTopics(brokers, [topic]);
    await probe.until("the topic missed", () => probe.states.some(({ cause }) => cause === "topic-missing"));
    await expect(probe.source.identity()).rejects.toMatchObject({ code: "topic-missing" });
    await createTopic(brokers, { topic, partitions: 1 });
    await fill(brokers, topic, [0], 3);
    await probe.until("the new records", () => probe.records.length === 13);
    expect(probe.assignment?.partitions).toEqual([0]);
    expect(probe.offsets(0)).toEqual([...span(0, 5), ...span(0, 3)]);
    expect(await probe.source.committed()).toEqual(new Map([[0, undefined]]));
  });

  it("does not matter when it is the topic that comes later", async () => {
    const topic = uniqueTopic("late");
    const brokers = useBroker();
    const probe = new SourceProbe({ brokers, topic, group: `${topic}-group` }).run();
    await probe.until("the topic missed", () => probe.states.some(({ cause }) => cause === "topic-missing"));
    await createTopic(brokers, { topic, partitions: 1 });
    await fill(brokers, topic, [0], 3);
    await probe.until("the records", () => probe.records.length === 3);
    await probe.source.stop(10_000);
  });
});
