import { describe, expect, it } from "vitest";

import { committedOffsets, createTopic, deleteRecords, growTopic } from "../../../local/broker/topics.ts";
import { uniqueTopic, useBroker } from "../../support/broker.ts";
import { fill, plainKafka } from "./support/producing.ts";
import { SourceProbe, span } from "./support/source-probe.ts";

const brokers = useBroker();

async function topicOf(partitions: number): Promise<{ topic: string; group: string }> {
  const topic = uniqueTopic("reading");
  await createTopic(brokers, { topic, partitions });
  return { topic, group: `${topic}-group` };
}

async function membersOf(group: string): Promise<number> {
  const admin = plainKafka(brokers).admin();
  await admin.connect();
  try {
    return (await admin.describeGroups([group])).groups[0]?.members.length ?? 0;
  } finally {
    await admin.disconnect();
  }
}

describe("reading and committing", () => {
  it("reads four partitions from explicit positions and commits watermarks", async () => {
    const names = await topicOf(4);
    await fill(brokers, names.topic, [0, 1, 2, 3], 50);
    const probe = new SourceProbe({ brokers, ...names }, (partition) => partition * 10).run();
    await probe.until("all records", () => probe.records.length === 50 + 40 + 30 + 20);
    for (const partition of [0, 1, 2, 3]) expect(probe.offsets(partition)).toEqual(span(partition * 10, 50));
    expect(probe.records[0]?.value).toBe(`p${probe.records[0]?.partition}-${probe.records[0]?.offset}`);

    const outcome = await probe.source.commit(
      probe.epoch,
      new Map([
        [0, 50],
        [1, 20],
      ]),
    );
    expect(outcome).toEqual({ outcome: "committed" });
    expect(await probe.source.committed()).toEqual(
      new Map([
        [0, 50],
        [1, 20],
        [2, undefined],
        [3, undefined],
      ]),
    );
    expect(await probe.source.commit(probe.epoch - 1, new Map([[0, 50]]))).toEqual({ outcome: "fenced" });
    expect((await probe.source.commit(probe.epoch, new Map([[0, -1]]))).outcome).toBe("failed");
    expect((await probe.source.commit(probe.epoch, new Map([[9, 1]]))).outcome).toBe("fenced");
    expect((await probe.source.committed()).get(0)).toBe(50);
  });

  it("answers bounds, offsets by time, identity and retention", async () => {
    const names = await topicOf(2);
    await fill(brokers, names.topic, [0], 20);
    await deleteRecords(brokers, names.topic, 0, 5);
    const { source } = new SourceProbe({ brokers, ...names });
    expect(await source.bounds()).toEqual(
      new Map([
        [0, { known: true, logStart: 5, end: 20 }],
        [1, { known: true, logStart: 0, end: 0 }],
      ]),
    );
    expect(await source.offsetsAt(1)).toEqual(
      new Map([
        [0, 5],
        [1, 0],
      ]),
    );
    expect((await source.offsetsAt(Date.now() + 3_600_000)).get(0)).toBe(20);
    const identity = await source.identity();
    expect(identity).toMatchObject({ topic: names.topic, partitions: 2 });
    expect(identity.clusterId.length).toBeGreaterThan(10);
    expect(await source.retention()).toMatchObject({ compacted: false, retentionMs: 604_800_000 });
    const absent = new SourceProbe({ brokers, topic: uniqueTopic("absent"), group: names.group });
    await expect(absent.source.bounds()).rejects.toMatchObject({ code: "topic-missing" });
    await expect(absent.source.identity()).rejects.toMatchObject({ code: "topic-missing" });
  });

  it("fetches nothing before begin, and nothing while paused", async () => {
    const names = await topicOf(2);
    await fill(brokers, names.topic, [0, 1], 10);
    const probe = new SourceProbe({ brokers, ...names }, (partition) => (partition === 0 ? 0 : undefined)).run();
    await probe.until("partition 0", () => probe.offsets(0).length === 10);
    probe.source.pause(probe.epoch, 0);
    await fill(brokers, names.topic, [0, 1], 10, 10);
    probe.begin(1, 3);
    await probe.until("partition 1", () => probe.offsets(1).length === 17);
    expect(probe.offsets(0)).toEqual(span(0, 10));
    expect(probe.offsets(1)).toEqual(span(3, 20));
    probe.source.resume(probe.epoch, 0);
    await probe.until("partition 0 again", () => probe.offsets(0).length === 20);
    expect(probe.offsets(0)).toEqual(span(0, 20));
  });

  it("stops only the partition whose position is out of range and commits nothing", async () => {
    const names = await topicOf(3);
    await fill(brokers, names.topic, [0, 1, 2], 100);
    await deleteRecords(brokers, names.topic, 0, 50);
    await deleteRecords(brokers, names.topic, 1, 60);
    const first = new SourceProbe({ brokers, ...names }, () => 99).run();
    await first.until("a batch", () => first.batches.length === 3);
    await first.source.commit(
      first.epoch,
      new Map([
        [0, 10],
        [1, 10],
        [2, 10],
      ]),
    );
    await first.source.stop(10_000);

    const probe = new SourceProbe({ brokers, ...names }, () => 10).run();
    await probe.until("both faults", () => probe.faults.length === 2 && probe.offsets(2).length === 90);
    expect(probe.faults.toSorted((a, b) => a.partition - b.partition)).toMatchObject([
      { partition: 0, position: 10, code: "out-of-range", assignmentEpoch: probe.epoch },
      { partition: 1, position: 10, code: "out-of-range", assignmentEpoch: probe.epoch },
    ]);
    expect(await committedOffsets(brokers, names.group, names.topic)).toEqual(
      new Map([
        [0, 10],
        [1, 10],
        [2, 10],
      ]),
    );
    probe.begin(0, 50);
    await probe.until("partition 0", () => probe.offsets(0).length === 50);
    expect(probe.offsets(0)).toEqual(span(50, 100));
    expect(probe.offsets(1)).toEqual([]);
    expect(probe.assignments).toHaveLength(1);
  });
});

describe("membership", () => {
  it("shares partitions with a second member, and gives them back", async () => {
    const names = await topicOf(4);
    await fill(brokers, names.topic, [0, 1, 2, 3], 20);
    const first = new SourceProbe({ brokers, ...names }).run();
    await first.until("all", () => first.records.length === 80);
    const commits: Array<Promise<unknown>> = [];
    first.onRebalancing = (epoch) =>
      commits.push(
        first.source.commit(
          epoch,
          new Map([
            [0, 20],
            [1, 20],
            [2, 20],
            [3, 20],
          ]),
        ),
      );
    const second = new SourceProbe({ brokers, ...names }).run();
    await second.until(
      "two members",
      () => second.assignment?.partitions.length === 2 && first.assignments.length === 2,
    );
    expect(first.revokedEpochs).toEqual([1]);
    expect(first.assignment?.partitions).toHaveLength(2);
    expect(
      [...(first.assignment?.partitions ?? []), ...(second.assignment?.partitions ?? [])].toSorted((a, b) => a - b),
    ).toEqual([0, 1, 2, 3]);
    expect(await Promise.all(commits)).toEqual([{ outcome: "committed" }]);
    expect([...(await committedOffsets(brokers, names.group, names.topic)).values()]).toEqual([20, 20, 20, 20]);
    await second.source.stop(10_000);
    await first.until("alone again", () => first.assignment?.partitions.length === 4);
    expect(await membersOf(names.group)).toBe(1);
  });

  it("leaves no member behind when it is stopped while it joins", async () => {
    const names = await topicOf(1);
    // A join takes some tens of milliseconds: one of these stops meets it.
    for (let afterMs = 0; afterMs < 120; afterMs += 8) {
      const probe = new SourceProbe({ brokers, ...names }).run();
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      await probe.source.stop(10_000);
      expect(probe.states.at(-1)?.state).toBe("stopped");
      expect(await membersOf(names.group)).toBe(0);
    }
  });

  it("notices new partitions", async () => {
    const names = await topicOf(1);
    const probe = new SourceProbe({ brokers, ...names }).run();
    await probe.until("joined", () => probe.assignments.length === 1);
    await growTopic(brokers, names.topic, 3);
    await fill(brokers, names.topic, [1, 2], 5);
    // A producer may send twice while the new partitions find their leaders: at least five each, none left out.
    await probe.until("new partitions", () => [1, 2].every((partition) => probe.offsets(partition).length >= 5));
    expect(probe.offsets(2)).toEqual(span(0, probe.offsets(2).length));
    expect(probe.assignment?.partitions).toEqual([0, 1, 2]);
  });
});
