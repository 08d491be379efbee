import { createRequire } from "node:module";

import { beforeAll, describe, expect, it } from "vitest";

import { installGuards } from "../../../../consumers/kafka/guards/index.ts";
import {
  cachedModule,
  GuardMismatch,
  loadClass,
  requireFile,
  requireText,
} from "../../../../consumers/kafka/guards/pin.ts";
import { registerConsumer, type GuardedConsumer } from "../../../../consumers/kafka/guards/registry.ts";
import { FetchedRecords, type FetchedPartition } from "../../../../consumers/kafka/guards/fetched-records.ts";
import { decodeFetchResponse } from "../../../../consumers/kafka/guards/fetch-response.ts";
import { craft, numbered } from "../support/batch-builder.ts";
import { runScript } from "../support/run-script.ts";

const requireModule = createRequire(import.meta.url);

interface Mutable {
  [member: string]: unknown;
}

function internal(path: string): Mutable {
  const value: unknown = requireModule(`kafkajs/${path}`);
  return value as Mutable;
}

/** Calls a method of a kafkajs class on a stand-in for the instance. */
async function call(path: string, method: string, self: object, ...args: unknown[]): Promise<unknown> {
  const prototype = internal(path)["prototype"] as Record<string, (...given: unknown[]) => unknown>;
  return prototype[method]?.apply(self, args);
}

function consumerStub(changes: Partial<GuardedConsumer> = {}): GuardedConsumer {
  return {
    attach: () => undefined,
    longPollMs: () => 7,
    untilWoken: async () => undefined,
    outOfRange: () => undefined,
    fetched: () => undefined,
    partitionError: () => undefined,
    staleBatch: () => undefined,
    ...changes,
  };
}

function groupAt(replicas: Record<string, Record<number, unknown>>) {
  const paused: unknown[] = [];
  const cluster = { disconnect: async () => undefined };
  const group = {
    cluster,
    paused,
    preferredReadReplicasPerTopicPartition: replicas,
    offsetManager: { nextOffset: () => "10" },
    pause: (at: unknown) => paused.push(at),
  };
  return group;
}

function response(version: number, records: Buffer): Buffer {
  const head = Buffer.alloc(version >= 7 ? 10 : 4);
  const topic = Buffer.from([0, 0, 0, 1, 0, 1, 0x74, 0, 0, 0, 1]);
  const partition = Buffer.alloc(4 + 2 + 8 + 8);
  partition.writeInt32BE(6, 0);
  partition.writeBigInt64BE(50n, 6);
  partition.writeBigInt64BE(40n, 14);
  const start = Buffer.alloc(8);
  start.writeBigInt64BE(3n, 0);
  const aborted = Buffer.alloc(4 + 16);
  aborted.writeInt32BE(1, 0);
  aborted.writeBigInt64BE(9n, 4);
  aborted.writeBigInt64BE(20n, 12);
  const replica = Buffer.alloc(4);
  replica.writeInt32BE(-1, 0);
  const size = Buffer.alloc(4);
  size.writeInt32BE(records.length, 0);
  const parts = [
    head,
    topic,
    partition,
    ...(version >= 5 ? [start] : []),
    aborted,
    ...(version >= 11 ? [replica] : []),
    size,
    records,
  ];
  return Buffer.concat(parts);
}

function runner(group: object, seen: string[]) {
  return {
    running: true,
    consumerGroup: group,
    heartbeat: async () => seen.push("heartbeat"),
    instrumentationEmitter: { emit: () => undefined },
    eachBatch: async ({ batch }: { batch: { messages: Array<{ value: Buffer }> } }) => {
      seen.push(...batch.messages.map(({ value }) => value.toString()));
    },
    processEachBatch:
      internal("src/consumer/runner.js")["prototype"] &&
      (internal("src/consumer/runner.js")["prototype"] as Mutable)["processEachBatch"],
    autoCommitOffsets: () => undefined,
  };
}

beforeAll(() => installGuards());

describe("pinning", () => {
  it("is idempotent, and every replaced member is ours", () => {
    installGuards();
    const text = String(loadClass<{ fetch: () => void }>("src/consumer/consumerGroup.js", ["fetch"]).prototype.fetch);
    expect(text).toContain("consumerOf");
  });

  it("refuses another text, a missing member and another file", () => {
    expect(() => requireText("x", () => 1, "a61c4ed52db5ea75")).toThrow(GuardMismatch);
    expect(() => requireText("x", undefined, "a61c4ed52db5ea75")).toThrow(/does not exist/);
    expect(() => requireFile("src/consumer/batch.js", "0000000000000000")).toThrow(GuardMismatch);
    expect(() => loadClass<{ nothing: () => void }>("src/consumer/runner.js", ["nothing"])).toThrow(GuardMismatch);
    expect(cachedModule("src/consumer/runner.js").exports).toBe(internal("src/consumer/runner.js"));
  });

  it("knows the digests of the published package", async () => {
    const { output } = await runScript(`
      const { createHash } = require("node:crypto");
      const digest = (f) => createHash("sha256").update(String(f)).digest("hex").slice(0, 16);
      const load = (path) => require("kafkajs/src/" + path);
      console.log([
        require("kafkajs/package.json").version,
        digest(load("consumer/consumerGroup").prototype.recoverFromOffsetOutOfRange),
        digest(load("consumer/offsetManager").prototype.setDefaultOffset),
        digest(load("broker").prototype.offsetCommit),
        digest(load("network/requestQueue").prototype.scheduleCheckPendingRequests),
        digest(load("consumer/consumerGroup").prototype.fetch),
        digest(load("consumer/runner").prototype.handleBatch),
        digest(require("node:fs").readFileSync(require.resolve("kafkajs/src/protocol/requests/fetch/v4/decodeMessages.js"))),
      ].join(" "));`);
    expect(output.trim().split(" ")).toEqual([
      "2.2.4",
      "a61c4ed52db5ea75",
      "4ebfa038e4f955bd",
      "7c1f9accf0433c80",
      "04347ea969c6f2e3",
      "e2e52d81f1e13b90",
      "cd348d7458107457",
      "d9fede59bebf84ee",
    ]);
  });
});

describe("out of range (G1)", () => {
  it("pauses exactly the partition and tells its consumer", async () => {
    const group = groupAt({});
    const told: number[][] = [];
    registerConsumer(
      group.cluster,
      consumerStub({ outOfRange: (partition, position) => told.push([partition, position]) }),
    );
    const at = { topic: "t", partition: 3 };
    await call("src/consumer/consumerGroup.js", "recoverFromOffsetOutOfRange", group, at);
    expect(group.paused).toEqual([[{ topic: "t", partitions: [3] }]]);
    expect(told).toEqual([[3, 10]]);
  });

  it("asks the leader first when a follower had answered", async () => {
    const group = groupAt({ t: { 3: { nodeId: 2 } } });
    const at = { topic: "t", partition: 3 };
    await call("src/consumer/consumerGroup.js", "recoverFromOffsetOutOfRange", group, at);
    expect(group.paused).toEqual([]);
    expect(group.preferredReadReplicasPerTopicPartition).toEqual({ t: {} });
    await call("src/consumer/consumerGroup.js", "recoverFromOffsetOutOfRange", group, at);
    expect(group.paused).toHaveLength(1);
  });
});

describe("commits (G2, G3)", () => {
  it("never resets to a default offset", async () => {
    const at = { topic: "t", partition: 0 };
    await expect(call("src/consumer/offsetManager/index.js", "setDefaultOffset", {}, at)).rejects.toThrow(
      /refused to reset t\/0/,
    );
  });

  it("refuses every commit that is no offset, and passes the others", async () => {
    const commit = async (offset: unknown): Promise<unknown> => {
      const broker = {
        lookupRequest: () => () => "request",
        connectionPool: { send: async () => "sent" },
      };
      const own = Object.assign(
        Object.create(internal("src/broker/index.js")["prototype"] as object),
        broker,
      ) as object;
      const topics = [
        {
          topic: "t",
          partitions: [
            { partition: 1, offset: "5" },
            { partition: 2, offset },
          ],
        },
      ];
      return call("src/broker/index.js", "offsetCommit", own, { topics });
    };
    for (const offset of ["-1", "-2", "", "x", "1.5", undefined, -1]) {
      await expect(commit(offset)).rejects.toThrow(/refused to commit/);
    }
    for (const offset of ["0", "17", 17]) expect(await commit(offset)).toBe("sent");
  });
});

describe("the idle queue (G4)", () => {
  it("schedules nothing while nothing is pending", async () => {
    const queue = {
      pending: [] as unknown[],
      throttledUntil: -1,
      throttleCheckTimeoutId: null as unknown,
      checkPendingRequests: () => undefined,
    };
    await call("src/network/requestQueue/index.js", "scheduleCheckPendingRequests", queue);
    expect(queue.throttleCheckTimeoutId).toBeNull();
    queue.pending.push("request");
    await call("src/network/requestQueue/index.js", "scheduleCheckPendingRequests", queue);
    expect(queue.throttleCheckTimeoutId).not.toBeNull();
    clearTimeout(queue.throttleCheckTimeoutId as NodeJS.Timeout);
  });
});

describe("fetch responses (G5)", () => {
  it("keeps the records as bytes in every version that has record batches", async () => {
    const records = craft({ base: 5, records: numbered(5, 2) });
    for (let version = 4; version <= 11; version += 1) {
      const module = internal(`src/protocol/requests/fetch/v${version}/response.js`);
      const decode = module["decode"] as (bytes: Buffer) => Promise<Mutable>;
      const decoded = await decode(response(version, records));
      const [topic] = decoded["responses"] as Array<{ topicName: string; partitions: Mutable[] }>;
      const partition = topic?.partitions[0];
      const messages = partition?.["messages"];
      expect(topic?.topicName).toBe("t");
      expect(partition).toMatchObject({ partition: 6, errorCode: 0, highWatermark: "50", lastStableOffset: "40" });
      expect(messages).toBeInstanceOf(FetchedRecords);
      expect(messages).toHaveLength(0);
      if (!(messages instanceof FetchedRecords)) return;
      expect(messages.response).toMatchObject({
        partition: 6,
        highWatermark: 50,
        lastStableOffset: 40,
        logStart: version >= 5 ? 3 : -1,
      });
      expect(messages.response.aborted).toEqual([{ producerId: 9n, firstOffset: 20 }]);
      expect(messages.response.bytes.equals(records)).toBe(true);
    }
  });

  it("gives what kafkajs' own decoder gives, but for the messages", async () => {
    const bytes = response(11, Buffer.alloc(0));
    const { output } = await runScript(
      `require("kafkajs/src/protocol/requests/fetch/v11/response").decode(Buffer.from(process.argv[1], "hex"))
        .then((data) => console.log(JSON.stringify(data)));`,
      [bytes.toString("hex")],
    );
    expect(JSON.parse(JSON.stringify(decodeFetchResponse(bytes, 11)))).toEqual(JSON.parse(output));
  });

  it("leaves an error of one partition to that partition, and throws the others as published", async () => {
    const { parse } = internal("src/protocol/requests/fetch/v11/response.js") as {
      parse: (data: object) => Promise<object>;
    };
    const answer = async (...errors: number[]): Promise<object> =>
      parse({
        responses: [{ topicName: "t", partitions: errors.map((errorCode, partition) => ({ partition, errorCode })) }],
      });
    expect(await answer(0, 56, -1, 2, 78)).toMatchObject({ responses: [{ partitions: { length: 5 } }] });
    await expect(answer(56, 1)).rejects.toMatchObject({ name: "KafkaJSOffsetOutOfRange", partition: 1 });
    await expect(answer(0, 6)).rejects.toMatchObject({ type: "NOT_LEADER_FOR_PARTITION" });
  });

  it("refuses a response that is cut", () => {
    const whole = response(11, craft({ base: 0, records: numbered(0, 1) }));
    for (const length of [0, 3, 9, 20, whole.length - 1]) {
      expect(() => decodeFetchResponse(whole.subarray(0, length), 11)).toThrow(RangeError);
    }
  });
});

describe("generations (G6)", () => {
  const topics = [{ topic: "t", partitions: [0] }];

  async function fetchOnce(consumer: GuardedConsumer | undefined, errorCode = 0) {
    const first = {
      memberAssignment: { t: [0] },
      committedOffsets: () => ({ t: {} }),
      nextOffset: () => "5",
      resolveOffsets: async () => undefined,
    };
    const records = new FetchedRecords(
      {
        partition: 0,
        errorCode,
        bytes: craft({ base: 5, records: numbered(5, 2) }),
        highWatermark: 7,
        lastStableOffset: 7,
        logStart: 0,
        aborted: [],
      },
      { partition: 0, errorCode, highWatermark: "7", lastStableOffset: "7", abortedTransactions: [] },
    );
    const cluster = {
      disconnect: async () => undefined,
      refreshMetadataIfNecessary: async () => undefined,
      findBroker: async () => ({
        fetch: async () => ({
          responses: [{ topicName: "t", partitions: [{ ...records.fields, messages: records }] }],
        }),
      }),
    };
    if (consumer !== undefined) registerConsumer(cluster, consumer);
    const committed = { t: { 0: "0" } };
    const group = {
      cluster,
      offsetManager: { ...first, committedOffsets: () => committed } as object,
      subscriptionState: { assigned: () => topics, isPaused: () => false, active: () => topics },
      seekOffset: { has: () => false },
      preferredReadReplicasPerTopicPartition: {},
      checkForStaleAssignment: () => undefined,
      seekOffsets: async () => undefined,
      filterPartitionsByNode: () => topics,
      getActiveTopicPartitions: () => ({ t: new Set([0]) }),
      assigned: () => topics,
      isPaused: () => false,
    };
    const batches = (await call("src/consumer/consumerGroup.js", "fetch", group, "1")) as object[];
    return { group, batch: batches[0] };
  }

  it("hands our batches over as bytes, and throws away those of an earlier generation", async () => {
    const seen: FetchedPartition[] = [];
    const stale: number[] = [];
    const consumer = consumerStub({
      fetched: (fetched) => seen.push(fetched),
      staleBatch: (partition) => stale.push(partition),
    });
    const { group, batch } = await fetchOnce(consumer);
    await call("src/consumer/runner.js", "handleBatch", runner(group, []), batch);
    expect(seen).toMatchObject([{ partition: 0, position: 5, lastStableOffset: 7 }]);
    // The join in between: kafkajs builds another offset manager.
    group.offsetManager = {};
    await call("src/consumer/runner.js", "handleBatch", runner(group, []), batch);
    expect([seen.length, stale]).toEqual([1, [0]]);
  });

  it("tells the consumer of a partition that the broker cannot read", async () => {
    const errors: number[][] = [];
    const consumer = consumerStub({ partitionError: (partition, errorCode) => errors.push([partition, errorCode]) });
    expect((await fetchOnce(consumer, 56)).batch).toBeUndefined();
    expect(errors).toEqual([[0, 56]]);
    await expect(fetchOnce(undefined, 56)).rejects.toMatchObject({ type: "KAFKA_STORAGE_ERROR" });
  });

  it("leaves a consumer that is not ours with kafkajs' own batches", async () => {
    const { group, batch } = await fetchOnce(undefined);
    const seen: string[] = [];
    await call("src/consumer/runner.js", "handleBatch", runner(group, seen), batch);
    expect(seen).toEqual(["v5", "v6", "heartbeat"]);
  });
});

describe("leaderless partitions (G7)", () => {
  const parse = async (errors: readonly number[], topicErrorCode = 0): Promise<unknown> => {
    const module = internal("src/protocol/requests/metadata/v6/response.js");
    const partitionMetadata = errors.map((partitionErrorCode, partitionId) => ({
      partitionErrorCode,
      partitionId,
      leader: 1,
    }));
    return (module["parse"] as (data: object) => Promise<unknown>)({
      topicMetadata: [{ topic: "t", topicErrorCode, partitionMetadata }],
    });
  };

  it("spoil themselves alone", async () => {
    expect(await parse([0, 5, 9])).toMatchObject({ topicMetadata: [{ partitionMetadata: { length: 3 } }] });
    await expect(parse([5, 5])).rejects.toMatchObject({ type: "LEADER_NOT_AVAILABLE" });
    await expect(parse([0, 56])).rejects.toMatchObject({ type: "KAFKA_STORAGE_ERROR" });
    await expect(parse([0], 3)).rejects.toMatchObject({ type: "UNKNOWN_TOPIC_OR_PARTITION" });
  });
});

describe("logins that hold shortly (G8)", () => {
  const since = (ageMs: number): [number, number] => {
    const [seconds, nanos] = process.hrtime();
    const at = seconds * 1_000 + nanos / 1e6 - ageMs;
    return [Math.floor(at / 1_000), Math.floor((at % 1_000) * 1e6)];
  };
  /** Whether a login of this age counts, on a connection that renews 20 s before the end. */
  const holds = (lifetimeMs: number, ageMs: number): unknown => {
    const prototype = internal("src/network/connection.js")["prototype"] as object;
    const fromNumber = internal("src/utils/long.js")["fromNumber"] as (value: number) => object;
    const connection = Object.assign(Object.create(prototype) as Mutable, {
      sessionLifetime: fromNumber(lifetimeMs),
      reauthenticationThreshold: 20_000,
      authenticatedAt: since(ageMs),
    });
    return (connection["isAuthenticated"] as () => boolean)();
  };

  it("are renewed after half of their time, longer ones 20 s before their end, others never", () => {
    expect([holds(10_000, 0), holds(10_000, 4_000), holds(10_000, 6_000)]).toEqual([true, true, false]);
    expect([holds(60_000, 38_000), holds(60_000, 41_000)]).toEqual([true, false]);
    expect(holds(0, 1_000_000)).toBe(true);
  });
});
