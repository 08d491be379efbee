import { describe, expect, it } from "vitest";

import { committedOffsets, createTopic } from "../../../local/broker/topics.ts";
import { uniqueTopic, useBroker } from "../../support/broker.ts";
import { Member } from "./support/member.ts";
import { fill, plainKafka } from "./support/producing.ts";
import { SourceProbe, span } from "./support/source-probe.ts";

const brokers = useBroker();
const [broker = ""] = brokers;

async function filled(count: number, config: Record<string, string> = {}): Promise<{ topic: string; group: string }> {
  const topic = uniqueTopic("life");
  await createTopic(brokers, { topic, partitions: 1, config });
  if (count > 0) await fill(brokers, topic, [0], count);
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

describe("a dead predecessor", () => {
  it("is left for by its member id, so that its partitions are read within seconds", async () => {
    const { topic, group } = await filled(5);
    const dead = new Member(broker, topic, group, 60_000);
    await dead.until("records 5");
    const memberId = await dead.until("member");
    await dead.signal("SIGKILL");
    const before = performance.now();
    const heir = new SourceProbe({ brokers, topic, group, leaveFor: memberId }).run();
    await heir.until("its records", () => heir.records.length === 5);
    expect(performance.now() - before).toBeLessThan(5_000);
    expect(heir.assignments).toHaveLength(1);
  });
});

describe("a member that was frozen longer than its session", () => {
  it("commits nothing under its old assignment once it wakes: its heir's commit stands", async () => {
    const { topic, group } = await filled(5);
    const frozen = new Member(broker, topic, group, 6_000);
    await frozen.until("records 5");
    frozen.commit(1);
    expect(await frozen.until("commit ")).toBe("committed");
    await frozen.signal("SIGSTOP");
    const heir = new SourceProbe({ brokers, topic, group }).run();
    await heir.until("its records", () => heir.records.length === 5);
    expect((await heir.source.commit(heir.epoch, new Map([[0, 5]]))).outcome).toBe("committed");
    frozen.lines.length = 0;
    frozen.commit(2);
    await frozen.signal("SIGCONT");
    expect(await frozen.until("commit ")).not.toBe("committed");
    expect((await committedOffsets(brokers, group, topic)).get(0)).toBe(5);
    await frozen.signal("SIGKILL");
    await heir.source.stop(5_000);
  });
});

describe("stopping", () => {
  it("keeps its deadline while the group waits for a frozen member, and leaves no consumer behind", async () => {
    const { topic, group } = await filled(5);
    const frozen = new Member(broker, topic, group, 6_000);
    await frozen.until("records 5");
    await frozen.signal("SIGSTOP");
    const probe = new SourceProbe({ brokers, topic, group }).run();
    await probe.until("joining", () => probe.states.at(-1)?.state === "joining");
    await new Promise((resolve) => setTimeout(resolve, 500));
    const before = performance.now();
    await probe.source.stop(1_500);
    expect(performance.now() - before).toBeLessThan(2_500);
    expect(probe.assignments).toEqual([]);
    await frozen.signal("SIGKILL");
    await expect.poll(async () => membersOf(group), { timeout: 15_000, interval: 500 }).toBe(0);
    expect(probe.assignments).toEqual([]);
    expect(probe.records).toEqual([]);
  });

  it("lets the process end by itself", async () => {
    const { topic, group } = await filled(5);
    const member = new Member(broker, topic, group, 6_000);
    await member.until("records 5");
    expect(await member.end()).toBe(0);
    expect(member.lines.at(-1)).toBe("stopped");
    expect(await membersOf(group)).toBe(0);
  });
});

describe("flow", () => {
  it("is not slowed by the long poll when a partition is paused and resumed at each batch", async () => {
    const names = await filled(0);
    for (let batch = 0; batch < 5; batch += 1) await fill(brokers, names.topic, [0], 20, batch * 20);
    // One batch a fetch: a hundred bytes never hold two.
    const limits = { fetchBytesPerPartition: 100 };
    const timings = { fetchWaitMs: 3_000, idleWaitMs: 3_000, heartbeatMs: 3_000, sessionTimeoutMs: 10_000 };
    const probe = new SourceProbe({ brokers, ...names, limits, timings });
    probe.onBatch = () => {
      probe.source.pause(probe.epoch, 0);
      setTimeout(() => probe.source.resume(probe.epoch, 0), 10);
    };
    probe.run();
    await probe.until("the first", () => probe.records.length > 0);
    const before = performance.now();
    await probe.until("all", () => probe.records.length === 100);
    expect(probe.batches.length).toBe(5);
    expect(performance.now() - before).toBeLessThan(2_000);
  });

  it("goes on with a new consumer when a listener throws", async () => {
    const names = await filled(10);
    const probe = new SourceProbe({ brokers, ...names });
    let thrown = 0;
    probe.onBatch = () => {
      if (thrown++ === 0) throw new Error("a bug of ours");
    };
    probe.run();
    await probe.until("a second assignment", () => probe.assignments.length === 2 && probe.records.length >= 20);
    expect(probe.offsets(0)).toEqual([...span(0, 10), ...span(0, 10)]);
    expect(probe.revokedEpochs).toEqual([1]);
    expect(probe.logger.lines.some((line) => line.startsWith("error a listener of a record source threw"))).toBe(true);
  });
});
