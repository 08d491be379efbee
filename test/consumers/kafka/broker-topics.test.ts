import { describe, expect, it } from "vitest";

import { createTopic, deleteTopics } from "../../../local/broker/topics.ts";
import { uniqueTopic, useBroker } from "../../support/broker.ts";
import { fill } from "./support/producing.ts";
import { SourceProbe, span } from "./support/source-probe.ts";

describe("a topic", () => {
  it("does not end the source when it is deleted: the topic that comes after it is read", async () => {
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

  it("may come later than the source", async () => {
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
