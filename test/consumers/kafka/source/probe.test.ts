import type { Cluster } from "kafkajs";
import { describe, expect, it } from "vitest";

import { resolveSource } from "../../../../consumers/kafka/options.ts";
import { CommitWatch } from "../../../../consumers/kafka/source/commit-watch.ts";
import { Leftovers } from "../../../../consumers/kafka/source/leftovers.ts";
import { Probe } from "../../../../consumers/kafka/source/probe.ts";
import { systemClock } from "../../../../src/clock.ts";
import type { CommitOutcome } from "../../../../src/ports/record-source.ts";
import { keepingLogger } from "../support/keeping-logger.ts";

const source = resolveSource({
  brokers: ["b:1"],
  clientId: "c",
  clock: systemClock,
  logger: keepingLogger(),
  topic: "t",
  group: "g",
  timings: { adminMs: 100 },
});

interface Asked {
  readonly partitions: ReadonlyArray<{ partition: number }>;
  readonly fromBeginning?: boolean;
}

/** A cluster of one topic: what each partition's leader is, and what it answers about its log. */
class FakeCluster {
  readonly leaders: number[];
  readonly broken = new Set<number>();
  readonly committedOffsets: string[];
  silent = false;
  leaveError: unknown;
  groupError: unknown;

  constructor(leaders: number[], committedOffsets: string[] = leaders.map(() => "-1")) {
    this.leaders = leaders;
    this.committedOffsets = committedOffsets;
  }

  async refreshMetadata(): Promise<void> {
    if (this.silent) await new Promise(() => undefined);
  }

  findTopicPartitionMetadata(): object[] {
    return this.leaders.map((leader, partitionId) => ({ partitionId, leader }));
  }

  getNodeIds(): string[] {
    return ["1", "2"];
  }

  async findBroker({ nodeId }: { nodeId: string }): Promise<object> {
    if (nodeId === "1") throw Object.assign(new Error("refused"), { name: "KafkaJSConnectionError" });
    return {
      metadata: async () => ({ clusterId: "cluster", topicMetadata: [{ topic: "t", partitionMetadata: [{}, {}] }] }),
    };
  }

  async fetchTopicsOffset([asked]: [Asked]): Promise<object[]> {
    const failing = asked.partitions.find(({ partition }) => this.broken.has(partition));
    if (failing !== undefined) throw Object.assign(new Error("disk"), { type: "KAFKA_STORAGE_ERROR" });
    const offset = asked.fromBeginning === true ? "3" : "9";
    return [{ topic: "t", partitions: asked.partitions.map(({ partition }) => ({ partition, offset })) }];
  }

  async findGroupCoordinator(): Promise<object> {
    return {
      offsetFetch: async () => this.#offsets(),
      leaveGroup: async () => {
        if (this.leaveError !== undefined) throw this.leaveError;
      },
    };
  }

  #offsets(): object {
    if (this.groupError !== undefined) throw this.groupError;
    const partitions = this.committedOffsets.map((offset, partition) => ({ partition, offset }));
    return { responses: [{ topic: "t", partitions }] };
  }
}

function probing(cluster: object) {
  const log = { opened: 0, closed: 0 };
  const probe = new Probe(source, async () => {
    log.opened += 1;
    if (!isCluster(cluster)) throw new TypeError("not a cluster");
    return { cluster, close: () => (log.closed += 1) };
  });
  return { probe, log };
}

function watching() {
  const clock = { ...systemClock, at: 0, monotonic: () => clock.at };
  return { clock, watch: new CommitWatch(clock, 1_000) };
}

function isCluster(value: object): value is Cluster {
  return "fetchTopicsOffset" in value;
}

const known = { known: true, logStart: 3, end: 9 };

describe("the probe", () => {
  it("lets a leaderless partition spoil its own bounds alone", async () => {
    const { probe, log } = probing(new FakeCluster([1, -1, 2]));
    const bounds = await probe.bounds();
    expect([...bounds].toSorted(([a], [b]) => a - b)).toMatchObject([
      [0, known],
      [1, { known: false, cause: "leaderless" }],
      [2, known],
    ]);
    expect([...(await probe.offsetsAt(5)).keys()]).toEqual([0, 2]);
    expect([...(await probe.committed()).keys()]).toEqual([0, 1, 2]);
    expect(log).toEqual({ opened: 1, closed: 0 });
  });

  it("lets an error of one partition spoil its own bounds alone", async () => {
    const cluster = new FakeCluster([1, 1, 1]);
    cluster.broken.add(1);
    const bounds = await probing(cluster).probe.bounds();
    expect([0, 1, 2].map((partition) => bounds.get(partition))).toMatchObject([known, { known: false }, known]);
  });

  it("takes a negative commit for none", async () => {
    const { probe } = probing(new FakeCluster([1, 1, 1, 1], ["5", "-1", "-2", "0"]));
    expect(await probe.committed()).toEqual(
      new Map([
        [0, 5],
        [1, undefined],
        [2, undefined],
        [3, 0],
      ]),
    );
  });

  it("takes a group that is not known for one without commits", async () => {
    const cluster = new FakeCluster([1, 1]);
    cluster.groupError = { type: "GROUP_ID_NOT_FOUND" };
    expect(await probing(cluster).probe.committed()).toEqual(
      new Map([
        [0, undefined],
        [1, undefined],
      ]),
    );
    cluster.groupError = { type: "GROUP_LOAD_IN_PROGRESS" };
    await expect(probing(cluster).probe.committed()).rejects.toMatchObject({ code: "group-unavailable" });
  });

  it("asks another broker where one is down", async () => {
    const { probe } = probing(new FakeCluster([1, 2]));
    expect(await probe.identity()).toEqual({ clusterId: "cluster", topic: "t", partitions: 2 });
  });

  it("has a deadline, throws the connection away after a failure, and works again with the next", async () => {
    const cluster = new FakeCluster([1]);
    const { probe, log } = probing(cluster);
    cluster.silent = true;
    await expect(probe.bounds()).rejects.toMatchObject({ name: "SourceFault", code: "timeout" });
    expect(log).toEqual({ opened: 1, closed: 1 });
    cluster.silent = false;
    expect(await probe.bounds()).toEqual(new Map([[0, known]]));
    expect(log).toEqual({ opened: 2, closed: 1 });
    probe.close();
    await expect(probe.bounds()).rejects.toMatchObject({ name: "SourceFault" });
    expect(log).toEqual({ opened: 2, closed: 2 });
  });

  it("says when the topic is missing", async () => {
    await expect(probing(new FakeCluster([])).probe.bounds()).rejects.toMatchObject({ code: "topic-missing" });
  });

  it("leaves for a dead member, known to the group or not", async () => {
    const cluster = new FakeCluster([1]);
    await probing(cluster).probe.leave("m");
    cluster.leaveError = { type: "UNKNOWN_MEMBER_ID" };
    await probing(cluster).probe.leave("m");
    cluster.leaveError = { type: "GROUP_AUTHORIZATION_FAILED" };
    await expect(probing(cluster).probe.leave("m")).rejects.toMatchObject({ code: "not-authorized" });
  });
});

describe("members left over", () => {
  it("are left for once, again after a failure that a join would meet too, and given up after any other", async () => {
    const left: string[] = [];
    let failure: string | undefined = "GROUP_LOAD_IN_PROGRESS";
    const leftovers = new Leftovers(async (memberId) => {
      left.push(memberId);
      if (failure !== undefined) throw Object.assign(new Error(failure), { type: failure });
    });
    await leftovers.clear();
    leftovers.add("a");
    leftovers.add("b");
    await expect(leftovers.clear()).rejects.toThrow("GROUP_LOAD_IN_PROGRESS");
    failure = undefined;
    await leftovers.clear();
    await leftovers.clear();
    expect(left).toEqual(["a", "a", "b"]);
    failure = "GROUP_AUTHORIZATION_FAILED";
    leftovers.add("c");
    await leftovers.clear();
    await leftovers.clear();
    expect(left).toEqual(["a", "a", "b", "c"]);
  });
});

describe("commits that stop working", () => {
  const failed: CommitOutcome = { outcome: "failed", cause: "broker-unreachable", text: "gone" };

  it("call for a new consumer after a whole session of nothing but failures", () => {
    const { clock, watch } = watching();
    expect(watch.note(failed)).toBeUndefined();
    clock.at = 999;
    expect(watch.note(failed)).toBeUndefined();
    clock.at = 1_000;
    expect(watch.note(failed)).toMatchObject({ cause: "broker-unreachable" });
    expect(watch.note(failed)).toBeUndefined();
  });

  it("do not while one succeeds, the group is joined, or rights are missing", () => {
    const { clock, watch } = watching();
    for (const forgive of [
      () => watch.note({ outcome: "committed" }),
      () => watch.note({ outcome: "fenced" }),
      () => watch.reset(),
    ]) {
      watch.note(failed);
      clock.at += 900;
      forgive();
      expect(watch.note(failed)).toBeUndefined();
      clock.at += 900;
      expect(watch.note(failed)).toBeUndefined();
      watch.reset();
    }
    for (let time = 0; time < 5; time += 1) {
      clock.at += 1_000;
      expect(watch.note({ outcome: "failed", cause: "not-authorized", text: "no" })).toBeUndefined();
    }
  });
});
