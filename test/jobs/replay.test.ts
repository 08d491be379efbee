import { describe, expect, it } from "vitest";
import type { Job, Receipt } from "../../src/core/job/job.ts";
import type { ReplayRequest } from "../../src/jobs/replay/replay-plan.ts";
import { RecountWorld } from "./recount-world.ts";

const ORDER = { actor: "ann", reason: "r" };

async function read(records: number, partitions = 1): Promise<RecountWorld> {
  const world = new RecountWorld(partitions);
  for (let partition = 0; partition < partitions; partition += 1) {
    for (let index = 0; index < records; index += 1) {
      world.log.append(partition, `k${partition}-${index}`, `v${index}`, 1_000 + index);
    }
  }
  await world.start();
  await world.flow();
  return world;
}

async function submit(world: RecountWorld, request: ReplayRequest): Promise<string> {
  return (await world.jobs.submit("replay", "articles", request, ORDER)).job.id;
}

async function replay(world: RecountWorld, request: ReplayRequest): Promise<Job> {
  return world.ended(await submit(world, request));
}

function spans({ partitions }: Job) {
  return partitions.map(({ partition, from, to, receipt }) => [partition, from, to, receipt.read]);
}

function adds({ read: all, applied, alreadyApplied, superseded, deadLettered, failed }: Receipt): boolean {
  return all === applied + alreadyApplied + superseded + deadLettered + failed;
}

describe("the range of a replay", () => {
  it("is [from, to): by offset, by timestamp, or nothing at all", async () => {
    const world = await read(10);
    expect(spans(await replay(world, { ranges: [{ partition: 0, from: 3, to: 5 }] }))).toEqual([[0, 3, 5, 2]]);
    const empty = await replay(world, { ranges: [{ partition: 0, from: 4, to: 4 }] });
    expect([empty.state, spans(empty)]).toEqual(["done", [[0, 4, 4, 0]]]);
    expect(spans(await replay(world, { timestamps: { fromMs: 1_004, toMs: 1_007 } }))).toEqual([[0, 4, 7, 3]]);
    expect(spans(await replay(world, { timestamps: { fromMs: 1_009 } }))).toEqual([[0, 9, 10, 1]]);
    expect(spans(await replay(world, { timestamps: { fromMs: 0 } }))).toEqual([[0, 0, 10, 10]]);
    const late = await replay(world, { timestamps: { fromMs: 9_999 } });
    expect([late.state, spans(late)]).toEqual(["done", [[0, 10, 10, 0]]]);
  });

  it("that the log does not hold is refused with the bounds, and no job stands", async () => {
    const world = await read(10);
    world.log.deleteBelow(0, 2);
    for (const range of [{ from: 1 }, { to: 11 }, { from: 5, to: 4 }]) {
      await expect(submit(world, { ranges: [{ partition: 0, ...range }] })).rejects.toMatchObject({
        code: "JOB_RANGE",
        extra: { partition: 0, bounds: { logStart: "2", end: "10" } },
      });
    }
    await expect(submit(world, { ranges: [{ partition: 7 }] })).rejects.toMatchObject({ code: "PARTITION_UNKNOWN" });
    expect(await world.store.index("articles")).toEqual([]);
  });

  it("ends where the log did when it was submitted, whatever comes", async () => {
    const world = await read(10);
    const id = await submit(world, {});
    for (let index = 0; index < 5; index += 1) world.log.append(0, "late", `${index}`);
    await world.flow();
    expect(spans(await world.ended(id))).toEqual([[0, 0, 10, 10]]);
  });

  it("ends by position where it ends in holes or markers, and counts only records as read", async () => {
    const world = await read(3);
    world.log.skip(0, 3);
    world.log.append(0, "k", "v");
    world.log.skip(0, 2);
    await world.flow();
    expect(spans(await replay(world, { ranges: [{ partition: 0, from: 1, to: 5 }] }))).toEqual([[0, 1, 5, 2]]);
    expect(spans(await replay(world, { ranges: [{ partition: 0, from: 3, to: 6 }] }))).toEqual([[0, 3, 6, 0]]);
    expect(spans(await replay(world, {}))).toEqual([[0, 0, 9, 4]]);
  });
});

describe("a replay", () => {
  it("that retention overtakes says what it lost, and its other partitions go on", async () => {
    const world = await read(40, 2);
    world.batchRecords = 5;
    await world.crash();
    await world.start();
    const id = await submit(world, { rates: { recordsPerSecond: 5 } });
    await world.clock.advance(1_500);
    const { next = 0 } = (await world.store.read(id)).partitions[0] ?? {};
    expect(next).toBeGreaterThan(0);
    world.log.deleteBelow(0, 40);
    const job = await world.ended(id);
    const [stopped, done] = job.partitions;
    expect(stopped).toMatchObject({ state: "stopped", lost: { to: 40 } });
    expect(stopped?.receipt.read).toBe(stopped?.lost?.from);
    expect(done).toMatchObject({ state: "done", receipt: { read: 40 } });
  });

  it("adds up: applied already, superseded, dead letters; nothing goes backwards and what was deleted stays deleted", async () => {
    const world = new RecountWorld(1);
    world.log.append(0, "a", "1");
    world.log.append(0, "b", "1");
    world.log.append(0, "x", "bad");
    world.log.append(0, "a", "2");
    world.log.append(0, "b", null);
    await world.start();
    await world.flow();
    const job = await replay(world, {});
    const receipt = job.partitions[0]?.receipt;
    expect(receipt).toMatchObject({ read: 5, applied: 0, alreadyApplied: 2, superseded: 2, deadLettered: 1 });
    expect(receipt !== undefined && adds(receipt)).toBe(true);
    expect([world.stored("a"), world.stored("b")]).toMatchObject([{ text: "2", offset: 3 }, undefined]);
  });

  it("under a newer revision wins at the same version, and once", async () => {
    const world = await read(4);
    const before = world.stored("k0-1")?.revision ?? 0;
    await world.crash();
    await world.start({ worstLagMs: 2, body: "original" });
    const job = await replay(world, { ranges: [{ partition: 0, from: 0, to: 2 }] });
    expect(job.revision).toBeGreaterThan(before);
    expect(job.partitions[0]?.receipt).toMatchObject({ read: 2, applied: 2 });
    const again = await replay(world, { ranges: [{ partition: 0, from: 0, to: 2 }] });
    expect(again.partitions[0]?.receipt).toMatchObject({ read: 2, applied: 0, alreadyApplied: 2 });
  });

  it("goes as fast as it may, in records and in bytes", async () => {
    for (const rates of [{ recordsPerSecond: 10 }, { bytesPerSecond: 80 }]) {
      const world = await read(90);
      const id = await submit(world, { rates });
      await world.clock.advance(4_000);
      const { receipt } = (await world.store.read(id)).partitions[0] ?? {};
      const [records = 0, bytes = 0] = [receipt?.read, receipt?.bytes];
      expect(records).toBeGreaterThan(0);
      expect(records / 5 <= 11 && ("recordsPerSecond" in rates || bytes / 5 <= 90)).toBe(true);
    }
  });
});
