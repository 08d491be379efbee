import { Partitioners } from "kafkajs";
import { expect, it } from "vitest";
import { ActionLoad, type ActionPlan, memberId } from "../../bench/support/ad-actions.ts";
import { articleId, BeaconLoad, type BeaconPlan } from "../../bench/support/beacons.ts";
import { BatchWriter } from "../../bench/support/batch-writer.ts";
import { FieldWriter, type Load } from "../../bench/support/load.ts";
import { partitionOf } from "../../bench/support/partitioner.ts";
import { Random, Zipf } from "../../bench/support/random.ts";
import { decodeFetch } from "../../consumers/kafka/records/decode-fetch.ts";
import { isFault } from "../../src/core/fault.ts";
import { createDecoderCompiler } from "../../src/decoding/compiler.ts";
import { BUILTIN_DESCRIPTORS } from "../../src/descriptors/builtin.ts";
import type { DecodedRecord, KindInput } from "../../src/ports/decoder.ts";
import { adActions } from "../../consumers/ad-actions.ts";
import { traffic } from "../../consumers/traffic.ts";
import type { CountingKind } from "../../src/ports/kind.ts";

const FROM_SECONDS = 1_790_000_000;

const BEACONS: BeaconPlan = {
  seed: 7,
  records: 3_000,
  articles: 200,
  metrics: ["view", "read_10s"],
  hours: 3,
  fromSeconds: FROM_SECONDS,
  visitors: 50,
};

const ACTIONS: ActionPlan = {
  seed: 9,
  records: 2_000,
  campaigns: 20,
  articles: 50,
  placements: 3,
  sites: 4,
  publishers: 5,
  hours: 2,
  fromSeconds: FROM_SECONDS,
};

function decoderOf(subject: string, kind: CountingKind): (value: Uint8Array) => DecodedRecord {
  const builtin = BUILTIN_DESCRIPTORS.find((one) => one.subject === subject);
  const decoder = createDecoderCompiler().compile({
    format: "protobuf",
    framing: "none",
    descriptor: {
      descriptor: { subject, version: 1, files: builtin?.files ?? {} },
      message: builtin?.message ?? "",
    },
    inputs: kind.inputs.map((input: KindInput) => ({ ...input, required: false })),
    mapping: kind.defaultMapping,
    body: "none",
  });
  return (value) => {
    const decoded = decoder.decode(value);
    if (isFault(decoded)) throw new Error(`${decoded.code}: ${decoded.text}`);
    return decoded;
  };
}

const copyOf = (bytes: Uint8Array, length: number): Uint8Array => bytes.slice(0, length);

function recordsOf(load: Load): { readonly key: string; readonly value: Uint8Array }[] {
  const records = [];
  while (load.next()) {
    records.push({
      key: Buffer.from(copyOf(load.key, load.keyBytes)).toString(),
      value: copyOf(load.value, load.valueBytes),
    });
  }
  return records;
}

it("beacons decode to the counters that the plan's totals count, and every counter is hit", () => {
  const decode = decoderOf("ysearch.beacon", traffic);
  const found = new Map<string, number>();
  for (const { key, value } of recordsOf(new BeaconLoad(BEACONS))) {
    const [article, metric, at] = decode(value).inputs;
    expect(article).toBe(key);
    const hour = Math.floor((Number(at) / 1_000 - FROM_SECONDS) / 3_600);
    const name = `${String(article)} ${String(metric)} ${hour}`;
    found.set(name, (found.get(name) ?? 0) + 1);
  }
  const totals = [...BeaconLoad.totals(BEACONS)];
  const wanted = totals.map((total, counter): [string, number] => {
    const metric = BEACONS.metrics[Math.floor(counter / BEACONS.hours) % 2] ?? "";
    const article = articleId(Math.floor(counter / (2 * BEACONS.hours)));
    return [`${article} ${metric} ${counter % BEACONS.hours}`, total];
  });
  expect(found).toEqual(new Map(wanted));
  expect(Math.min(...totals)).toBeGreaterThan(0);
  expect(totals.reduce((sum, total) => sum + total, 0)).toBe(BEACONS.records);
});

it("a beacon of the bench has 34 bytes", () => {
  const load = new BeaconLoad({ ...BEACONS, metrics: ["view"] });
  load.next();
  expect(load.valueBytes).toBe(34);
});

it("ad actions decode to the events that their plan repeats", () => {
  const decode = decoderOf("ysearch.ad_action", adActions);
  const found = recordsOf(new ActionLoad(ACTIONS)).map(({ key, value }) => [key, ...decode(value).inputs.slice(0, 7)]);
  const wanted: unknown[] = [];
  ActionLoad.replay(ACTIONS, (event) => {
    const [campaign, article] = [memberId("c", event.campaign), memberId("a", event.article)];
    const [placement, site] = [memberId("p", event.placement), memberId("s", event.site)];
    const publisher = memberId("b", event.publisher);
    const score = event.score === undefined ? undefined : event.score / 1_000;
    wanted.push([campaign, campaign, article, placement, site, publisher, event.click ? 2 : 1, score]);
  });
  expect(found.map((row) => row.map((member) => member ?? ""))).toEqual(
    wanted.map((row) => (row as unknown[]).map((member) => member ?? "")),
  );
});

it("keys go to the partitions that Kafka's clients choose", () => {
  const choose = Partitioners.DefaultPartitioner();
  const encoder = new TextEncoder();
  for (const key of ["a", "ab", "abc", "abcd", "a00000017", "c000012", "grün", ""]) {
    const bytes = encoder.encode(key);
    const partitionMetadata = Array.from({ length: 16 }, (_, partitionId) => ({
      partitionId,
      leader: 1,
      partitionErrorCode: 0,
      replicas: [1],
      isr: [1],
      offlineReplicas: [],
    }));
    const theirs = choose({ topic: "t", partitionMetadata, message: { key: Buffer.from(bytes), value: null } });
    expect(partitionOf(bytes, bytes.length, 16)).toBe(theirs);
  }
});

it("batches hold the records that were added, whatever their size", () => {
  const writer = new BatchWriter(1_000);
  const records = [0, 1, 63, 64, 127, 128, 3_000].map((size) => ({
    key: new Uint8Array(size % 70).fill(1),
    value: new Uint8Array(size).fill(2),
  }));
  const found: (readonly [key: number | undefined, value: number | undefined, timestampMs: number])[] = [];
  const take = (): void => {
    const bytes = writer.take(1_790_000_000_123);
    const { columns, fault } = decodeFetch(
      { bytes, position: 0, aborted: [] },
      { batchInflatedBytesMax: 1e6, fetchInflatedBytes: 1e6 },
    );
    expect(fault).toBeUndefined();
    for (let index = 0; index < columns.count; index += 1) {
      found.push([columns.keyAt(index)?.length, columns.valueAt(index)?.length, columns.timestampAt(index)]);
    }
  };
  for (const { key, value } of records) {
    if (!writer.fits(key.length + value.length)) take();
    writer.add(key, key.length, value, value.length);
  }
  take();
  expect(found).toEqual(records.map(({ key, value }) => [key.length, value.length, 1_790_000_000_123]));
});

it("a writer's numbers beyond 32 bits are those of protobuf", () => {
  const writer = new FieldWriter(16);
  writer.varint(2 ** 40 + 5);
  expect([...writer.bytes.subarray(0, writer.length)]).toEqual([0x85, 0x80, 0x80, 0x80, 0x80, 0x20]);
});

it("ranks are drawn as often as Zipf's law says", () => {
  const zipf = new Zipf(1_000, new Random(3));
  const draws = 200_000;
  const counts = new Float64Array(1_000);
  for (let draw = 0; draw < draws; draw += 1) {
    const rank = zipf.next();
    counts[rank] = (counts[rank] ?? 0) + 1;
  }
  let sum = 0;
  for (let rank = 1; rank <= 1_000; rank += 1) sum += 1 / rank;
  for (const rank of [0, 1, 9, 99]) {
    const wanted = draws / ((rank + 1) * sum);
    expect(Math.abs((counts[rank] ?? 0) - wanted)).toBeLessThan(5 * Math.sqrt(wanted));
  }
});
