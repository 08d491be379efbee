import { describe, expect, it } from "vitest";
import type { ReplayRequest } from "../../src/jobs/replay/replay-plan.ts";
import { RecountWorld } from "./recount-world.ts";

const ORDER = { actor: "ann", reason: "r" };

/** Timestamps of the records of partition 0; partition 1 is empty. */
async function read(timestamps: readonly number[]): Promise<RecountWorld> {
  const world = new RecountWorld(2);
  for (const [index, timestampMs] of timestamps.entries()) world.log.append(0, `k${index}`, "v", timestampMs);
  await world.start();
  await world.flow();
  return world;
}

async function submit(world: RecountWorld, request: ReplayRequest): Promise<string> {
  return (await world.jobs.submit("replay", "articles", request, ORDER)).job.id;
}

async function spans(world: RecountWorld, request: ReplayRequest) {
  const { state, partitions } = await world.ended(await submit(world, request));
  return [state, ...partitions.map(({ from, to, receipt }) => [from, to, receipt.read])];
}

describe("a replay by time (case 85)", () => {
  it("from tomorrow is nothing, from the last record's time is that one, from before the first is all, and of an empty partition nothing", async () => {
    const world = await read([1_000, 2_000, 3_000]);
    const tomorrow = world.clock.now() + 86_400_000;
    expect(await spans(world, { timestamps: { fromMs: tomorrow } })).toEqual(["done", [3, 3, 0], [0, 0, 0]]);
    expect(await spans(world, { timestamps: { fromMs: 3_000 } })).toEqual(["done", [2, 3, 1], [0, 0, 0]]);
    expect(await spans(world, { timestamps: { fromMs: 1 } })).toEqual(["done", [0, 3, 3], [0, 0, 0]]);
    expect(await spans(world, { timestamps: { toMs: 1_000 } })).toEqual(["done", [0, 0, 0], [0, 0, 0]]);
    expect(await spans(world, { timestamps: { toMs: tomorrow } })).toEqual(["done", [0, 3, 3], [0, 0, 0]]);
  });

  it("of records without a time is nothing", async () => {
    const world = await read([-1, -1]);
    expect(await spans(world, { timestamps: { fromMs: 0 } })).toEqual(["done", [2, 2, 0], [0, 0, 0]]);
  });

  it("with its ends exchanged is refused, and is not a replay of nothing", async () => {
    const world = await read([1_000, 2_000]);
    const request = { timestamps: { fromMs: 2_000, toMs: 1_000 } };
    await expect(submit(world, request)).rejects.toMatchObject({ code: "JOB_RANGE" });
    expect(await spans(world, { timestamps: { fromMs: 2_000, toMs: 2_000 } })).toMatchObject(["done", [1, 1, 0], {}]);
  });

  it("where the broker does not say where a moment is, is refused: it does not begin at the log's start", async () => {
    for (const end of ["fromMs", "toMs"]) {
      const world = await read([1_000, 2_000]);
      const offsetsAt = world.source.offsetsAt.bind(world.source);
      world.source.offsetsAt = async (at) =>
        new Map([...(await offsetsAt(at))].filter(([partition]) => partition !== 0));
      const request = { timestamps: { [end]: 2_000 } };
      await expect(submit(world, request)).rejects.toMatchObject({ code: "BROKER_UNAVAILABLE" });
    }
  });
});

describe("a replay whose range ends where no record is", () => {
  it("tells nothing there from lost (case 83), and ends behind the last marker (case 82)", async () => {
    const world = new RecountWorld(1);
    const append = () => world.log.append(0, "k", "v");
    world.log.skip(0, 1);
    for (let count = 0; count < 3; count += 1) append();
    world.log.skip(0, 3);
    append();
    world.log.skip(0, 2);
    await world.start();
    await world.flow();
    const of = (from: number, to: number) => spans(world, { ranges: [{ partition: 0, from, to }] });
    expect(await of(1, 5)).toEqual(["done", [1, 5, 3]]);
    expect(await of(4, 6)).toEqual(["done", [4, 6, 0]]);
    expect(await of(4, 8)).toEqual(["done", [4, 8, 1]]);
    expect(await of(7, 9)).toEqual(["done", [7, 9, 1]]);
    expect(await of(8, 10)).toEqual(["done", [8, 10, 0]]);
    expect(await spans(world, {})).toEqual(["done", [0, 10, 4]]);
  });
});

describe("the life of a replay", () => {
  it.each(["before anything is stored", "at half"])(
    "killed %s keeps its bounds and its sums (case 88)",
    async (when) => {
      const world = await read(Array.from({ length: 200 }, (_unused, index) => index));
      const id = await submit(world, { rates: { recordsPerSecond: 10 } });
      await world.clock.advance(when === "at half" ? 10_000 : 0);
      const { next = 0 } = (await world.store.read(id)).partitions[0] ?? {};
      expect(next > 0).toBe(when === "at half");
      world.killJobs();
      for (let index = 0; index < 5; index += 1) world.log.append(0, "late", "v", 9_999);
      await world.flow();
      const [entry] = (await world.ended(id)).partitions;
      expect(entry).toMatchObject({ from: 0, to: 200, next: 200, state: "done" });
      expect(entry?.receipt).toMatchObject({ read: 200, applied: 0, alreadyApplied: 200, superseded: 0 });
    },
  );

  it("ends inside a batch, is cancelled in the middle of one and twice, and a done one stays done (case 89)", async () => {
    const world = await read(Array.from({ length: 60 }, (_unused, index) => index));
    expect(await spans(world, { ranges: [{ partition: 0, from: 1, to: 2 }] })).toEqual(["done", [1, 2, 1]]);
    const id = await submit(world, { rates: { recordsPerSecond: 1 } });
    await world.clock.advance(1_500);
    const cancel = (job: string) => world.jobs.cancel("replay", job, "ann", "enough");
    expect(await cancel(id)).toMatchObject({ cancelling: true });
    expect((await cancel(id)).cancel).toEqual((await world.store.read(id)).cancel);
    const ended = await world.ended(id);
    expect(ended.state).toBe("cancelled");
    expect(await cancel(id)).toMatchObject({ state: "cancelled", endedAtMs: ended.endedAtMs });
    const done = await submit(world, { ranges: [{ partition: 0, from: 0, to: 1 }] });
    await world.ended(done);
    expect(await cancel(done)).toMatchObject({ state: "done", cancelling: false });
    const starting = await submit(world, {});
    await cancel(starting);
    expect((await world.ended(starting)).state).toBe("cancelled");
    expect((await world.store.index("articles")).every((entry) => entry.ended)).toBe(true);
  });
});
