import { describe, expect, it } from "vitest";

import { createTopic } from "../../../local/broker/topics.ts";
import { startOwnBroker, uniqueTopic } from "../../support/broker.ts";
import { fill } from "./support/producing.ts";
import { SourceProbe, span } from "./support/source-probe.ts";

describe("a broker that freezes", () => {
  it("is noticed, every question has a deadline, and reading goes on afterwards", async () => {
    const own = await startOwnBroker();
    const topic = uniqueTopic("frozen");
    await createTopic(own.brokers, { topic, partitions: 1 });
    await fill(own.brokers, topic, [0], 5);
    const timings = {
      requestMs: 2_000,
      connectMs: 1_000,
      adminMs: 2_000,
      rebalanceTimeoutMs: 4_000,
      sessionTimeoutMs: 3_000,
    };
    let at = 0;
    const probe = new SourceProbe({ brokers: own.brokers, topic, group: `${topic}-group`, timings }, () => at);
    probe.onBatch = (batch) => {
      at = batch.next;
    };
    probe.run();
    await probe.until("the records", () => probe.records.length === 5);
    if (own.pid === undefined) throw new Error("the broker is not ours");
    process.kill(own.pid, "SIGSTOP");
    try {
      await expect(probe.source.bounds()).rejects.toMatchObject({ code: "timeout" });
      const outcome = await probe.source.commit(probe.epoch, new Map([[0, 5]]));
      expect(outcome.outcome).not.toBe("committed");
      await probe.until("the freeze noticed", () => probe.states.some(({ state }) => state === "backing-off"), 40_000);
    } finally {
      process.kill(own.pid, "SIGCONT");
    }
    await fill(own.brokers, topic, [0], 5, 5);
    await probe.until("the rest", () => probe.records.length === 10, 30_000);
    expect(probe.offsets(0)).toEqual(span(0, 10));
    await probe.source.stop(5_000);
  });
});
