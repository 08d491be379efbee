import { describe, expect, it } from "vitest";

import { createTopic } from "../../../local/broker/topics.ts";
import { startOwnBroker, uniqueTopic } from "../../support/broker.ts";
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

  it("is asked less and less often, and does not keep a source from stopping", async () => {
    const started = performance.now();
    const probe = new SourceProbe({ brokers: ["127.0.0.1:1"], topic: "none", group: "none", leaveFor: "dead" }).run();
    await probe.until("five attempts", () => probe.states.filter(({ state }) => state === "backing-off").length === 5);
    const before = performance.now();
    // Half of 250 + 500 + 1000 + 2000 ms at the least, beside the attempts themselves.
    expect(before - started).toBeGreaterThan(1_875);
    await probe.source.stop(5_000);
    expect(performance.now() - before).toBeLessThan(3_000);
    expect(probe.states.at(-1)?.state).toBe("stopped");
  });
});
