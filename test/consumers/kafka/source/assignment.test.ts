import { describe, expect, it } from "vitest";

import type { FetchedPartition } from "../../../../consumers/kafka/guards/fetched-records.ts";
import type { ConsumerGroupInternals, OffsetManagerInternals } from "../../../../consumers/kafka/guards/internals.ts";
import { AssignmentEpoch } from "../../../../consumers/kafka/source/assignment.ts";
import { commitWatermarks } from "../../../../consumers/kafka/source/commit.ts";
import { systemClock } from "../../../../src/clock.ts";
import type { RecordBatch } from "../../../../src/ports/record-batch.ts";
import type { FetchFault } from "../../../../src/ports/record-source.ts";
import { craft, numbered } from "../support/batch-builder.ts";

const CONTEXT = { topic: "t", clock: systemClock, limitMs: 50 };

interface Bench {
  readonly epoch: AssignmentEpoch;
  readonly steps: string[];
  readonly batches: RecordBatch[];
  readonly faults: FetchFault[];
  readonly drops: string[];
  readonly group: ConsumerGroupInternals;
  onBatch: () => void;
}

function bench(partitions: readonly number[] = [0, 1]): Bench {
  const steps: string[] = [];
  const batches: RecordBatch[] = [];
  const faults: FetchFault[] = [];
  const drops: string[] = [];
  const unused = (): never => {
    throw new Error("not used by the assignment");
  };
  const group: ConsumerGroupInternals = {
    cluster: { disconnect: unused },
    groupId: "g",
    memberId: "m",
    maxWaitTime: 1,
    offsetManager: null,
    preferredReadReplicasPerTopicPartition: {},
    assigned: unused,
    isPaused: unused,
    pause: unused,
    filterPartitionsByNode: unused,
    fetch: unused,
    recoverFromOffsetOutOfRange: unused,
    resolveOffset: ({ partition, offset }) => steps.push(`resolve ${partition}@${offset}`),
  };
  const made: Omit<Bench, "epoch"> = { steps, batches, faults, drops, group, onBatch: () => undefined };
  const epoch = new AssignmentEpoch(7, partitions, {
    onMispositioned: () => drops.push("mispositioned"),
    limits: { batchInflatedBytesMax: 1 << 20, fetchInflatedBytes: 1 << 20 },
    steering: {
      seek: (partition, position) => steps.push(`seek ${partition}@${position}`),
      pause: (which) => steps.push(`pause ${which.join()}`),
      resume: (which) => steps.push(`resume ${which.join()}`),
    },
    sink: {
      batch: (batch) => {
        batches.push(batch);
        made.onBatch();
      },
      fault: (fault) => faults.push(fault),
    },
  });
  return Object.assign(made, { epoch });
}

function fetched(position: number, records: readonly Buffer[], partition = 0): FetchedPartition {
  const bytes = Buffer.concat(records);
  return {
    partition,
    position,
    errorCode: 0,
    bytes,
    highWatermark: 100,
    lastStableOffset: 90,
    logStart: -1,
    aborted: [],
  };
}

const three = (base: number): Buffer => craft({ base, records: numbered(base, 3) });

function committing(error?: unknown, never = false) {
  const made = bench();
  const sent: unknown[] = [];
  const generation: OffsetManagerInternals = {
    generationId: 1,
    memberAssignment: {},
    nextOffset: () => "0",
    committedOffsets: () => ({}),
    setDefaultOffset: async () => undefined,
    commitOffsets: async (request) => {
      sent.push(request);
      if (error !== undefined) throw error;
      if (never) await new Promise(() => undefined);
    },
  };
  const commit = async (epoch: number, watermarks: ReadonlyArray<readonly [number, number]>) =>
    commitWatermarks({ ...CONTEXT, current: made.epoch, epoch }, new Map(watermarks));
  return { ...made, generation, sent, commit };
}

describe("an assignment epoch", () => {
  it("pauses everything at once and takes nothing before begin", () => {
    const { epoch, steps, batches, group } = bench();
    expect(steps).toEqual(["pause 0,1"]);
    epoch.fetched(fetched(0, [three(0)]), "t", group);
    epoch.pause(0);
    epoch.resume(0);
    expect([batches.length, steps.length]).toEqual([0, 1]);
    epoch.begin(0, 4);
    epoch.begin(9, 4);
    expect(steps.slice(1)).toEqual(["seek 0@4", "resume 0"]);
  });

  it("passes on what was fetched where the one before it ended, and resolves it", () => {
    const { epoch, steps, batches, group } = bench();
    epoch.begin(0, 0);
    epoch.fetched(fetched(0, [three(0)]), "t", group);
    epoch.fetched(fetched(3, [three(3)]), "t", group);
    epoch.fetched(fetched(6, []), "t", group);
    expect(batches.map(({ fetchedAt, next, end, logStart }) => [fetchedAt, next, end, logStart])).toEqual([
      [0, 3, 90, undefined],
      [3, 6, 90, undefined],
    ]);
    expect(steps.slice(3)).toEqual(["resolve 0@2", "resolve 0@5"]);
  });

  it("drops what was fetched elsewhere and seeks back", () => {
    const { epoch, steps, batches, drops, group } = bench();
    epoch.begin(0, 3);
    epoch.fetched(fetched(9, [three(9)]), "t", group);
    epoch.fetched(fetched(0, [three(0)]), "t", group);
    expect([batches.length, drops.length]).toEqual([0, 2]);
    expect(steps.slice(3)).toEqual(["seek 0@3", "seek 0@3"]);
  });

  it("drops what arrives after pause, so that it is fetched again", () => {
    const { epoch, steps, batches, group } = bench();
    epoch.begin(0, 0);
    epoch.pause(0);
    epoch.fetched(fetched(0, [three(0)]), "t", group);
    epoch.resume(0);
    epoch.fetched(fetched(0, [three(0)]), "t", group);
    expect(batches.map(({ fetchedAt }) => fetchedAt)).toEqual([0]);
    expect(steps.slice(3)).toEqual(["pause 0", "resume 0", "resolve 0@2"]);
  });

  it("reports damage behind the good prefix and pauses that partition alone, until it is begun again", () => {
    const { epoch, steps, batches, faults, group } = bench();
    epoch.begin(0, 0);
    epoch.begin(1, 0);
    const damaged = craft({ base: 3, records: numbered(3, 1), magic: 1 });
    epoch.fetched(fetched(0, [three(0), damaged]), "t", group);
    expect(batches.map(({ count, next }) => [count, next])).toEqual([[3, 3]]);
    expect(faults).toMatchObject([{ partition: 0, assignmentEpoch: 7, position: 3, code: "undecodable" }]);
    expect(steps.at(-1)).toBe("pause 0");
    epoch.resume(0);
    epoch.fetched(fetched(3, [damaged]), "t", group);
    expect(faults).toHaveLength(1);
    epoch.fetched(fetched(0, [three(0)], 1), "t", group);
    epoch.begin(0, 4);
    epoch.fetched(fetched(4, [three(4)]), "t", group);
    expect(batches.map(({ partition, fetchedAt }) => [partition, fetchedAt])).toEqual([
      [0, 0],
      [1, 0],
      [0, 4],
    ]);
  });

  it("keeps the damage for later when the partition is paused or begun by the batch before it", () => {
    for (const act of ["pause", "begin"] as const) {
      const made = bench();
      made.epoch.begin(0, 0);
      made.onBatch = () => (act === "pause" ? made.epoch.pause(0) : made.epoch.begin(0, 1));
      made.epoch.fetched(fetched(0, [three(0), craft({ base: 3, records: [{}], magic: 1 })]), "t", made.group);
      expect(made.faults).toEqual([]);
    }
  });

  it("reports out of range where it is being read, and reads on where an answer was late", () => {
    const { epoch, steps, faults } = bench();
    epoch.outOfRange(0, 10);
    epoch.begin(0, 10);
    epoch.outOfRange(0, 5);
    expect([faults.length, steps.at(-2), steps.at(-1)]).toEqual([0, "seek 0@10", "resume 0"]);
    epoch.outOfRange(0, 10);
    expect(faults).toMatchObject([{ partition: 0, position: 10, code: "out-of-range" }]);
    epoch.outOfRange(0, 10);
    expect(faults).toHaveLength(1);
  });

  it("holds a partition that the broker cannot read, without touching what its owner decided", () => {
    const { epoch, steps } = bench();
    expect(epoch.hold(0)).toBe(false);
    epoch.begin(0, 0);
    expect([epoch.hold(0), epoch.hold(0)]).toEqual([true, false]);
    epoch.pause(0);
    epoch.resume(0);
    expect(steps.slice(3)).toEqual(["pause 0", "pause 0"]);
    epoch.release(0);
    expect(steps.at(-1)).toBe("resume 0");
    epoch.hold(0);
    epoch.pause(0);
    epoch.release(0);
    expect(steps.at(-1)).toBe("pause 0");
  });
});

describe("a commit", () => {
  it("is sent once, under the generation that the epoch was opened under", async () => {
    const { epoch, generation, sent, commit } = committing();
    expect(await commit(7, [[0, 5]])).toMatchObject({ outcome: "failed", cause: "group-unavailable" });
    epoch.attach(generation);
    epoch.attach({ ...generation, commitOffsets: async () => Promise.reject(new Error("the next generation")) });
    expect(
      await commit(7, [
        [0, 5],
        [1, 0],
      ]),
    ).toEqual({ outcome: "committed" });
    const partitions = [
      { partition: 0, offset: "5" },
      { partition: 1, offset: "0" },
    ];
    expect(sent).toEqual([{ topics: [{ topic: "t", partitions }] }]);
    expect(await commit(7, [])).toEqual({ outcome: "committed" });
    expect(sent).toHaveLength(1);
  });

  it("is refused here for another epoch, a foreign partition, or what is no offset", async () => {
    const { epoch, generation, sent, commit } = committing();
    epoch.attach(generation);
    expect(await commit(6, [[0, 5]])).toEqual({ outcome: "fenced" });
    expect(await commit(8, [[0, 5]])).toEqual({ outcome: "fenced" });
    expect(
      await commit(7, [
        [0, 5],
        [4, 5],
      ]),
    ).toEqual({ outcome: "fenced" });
    for (const offset of [-1, -2, 1.5, Number.NaN, 2 ** 53]) {
      expect(await commit(7, [[0, offset]])).toMatchObject({ outcome: "failed" });
    }
    expect(await commitWatermarks({ ...CONTEXT, current: undefined, epoch: 7 }, new Map())).toEqual({
      outcome: "fenced",
    });
    expect(sent).toEqual([]);
  });

  it("has a deadline", async () => {
    const { epoch, generation, commit } = committing(undefined, true);
    epoch.attach(generation);
    expect(await commit(7, [[0, 1]])).toMatchObject({ outcome: "failed", cause: "timeout" });
  });

  it("never throws, whatever was thrown", async () => {
    const wrapped = {
      name: "KafkaJSNumberOfRetriesExceeded",
      cause: { name: "KafkaJSProtocolError", type: "ILLEGAL_GENERATION" },
    };
    const cases: ReadonlyArray<readonly [unknown, object]> = [
      [{ type: "ILLEGAL_GENERATION" }, { outcome: "fenced" }],
      [{ type: "UNKNOWN_MEMBER_ID" }, { outcome: "fenced" }],
      [{ type: "REBALANCE_IN_PROGRESS" }, { outcome: "fenced" }],
      [wrapped, { outcome: "fenced" }],
      [{ type: "NOT_COORDINATOR_FOR_GROUP" }, { outcome: "failed", cause: "group-unavailable" }],
      [{ name: "KafkaJSRequestTimeoutError" }, { outcome: "failed", cause: "timeout" }],
      [{ name: "KafkaJSBrokerNotFound" }, { outcome: "failed", cause: "broker-unreachable" }],
      [{ type: "GROUP_AUTHORIZATION_FAILED" }, { outcome: "failed", cause: "not-authorized" }],
      ["a text", { outcome: "failed", cause: "unknown" }],
      [null, { outcome: "failed", cause: "unknown" }],
    ];
    for (const [error, expected] of cases) {
      const { epoch, generation, commit } = committing(error);
      epoch.attach(generation);
      expect(await commit(7, [[0, 1]])).toMatchObject(expected);
    }
  });
});
