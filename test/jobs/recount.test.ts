import { describe, expect, it } from "vitest";
import { slotKey, slotSuffix, trafficKey } from "../../src/core/counting/keys.ts";
import { encodeSlot } from "../../src/core/counting/slot.ts";
import { HOUR, RecountWorld } from "./recount-world.ts";

const CLOSE = { closeOpen: true } as const;

async function counted(events = 120): Promise<RecountWorld> {
  const world = new RecountWorld(2);
  world.events(0, events);
  world.events(1, events);
  await world.count(HOUR);
  return world;
}

describe("a recount", () => {
  it("counts closed rows again under the revision in force, and changes nothing where that is the same", async () => {
    const world = await counted();
    const before = await world.total();
    expect(before).toEqual([240n, 2]);
    const job = await world.recount(CLOSE);
    expect(job).toMatchObject({ state: "done", result: { exchanged: 2, kept: 0 } });
    expect(job.partitions.map(({ receipt }) => [receipt.read, receipt.applied])).toEqual([
      [120, 120],
      [120, 120],
    ]);
    expect(await world.total()).toEqual(before);
    expect((await world.rows()).filter(({ listed }) => listed).map(({ from, until }) => [from, until])).toEqual([
      [0, 120],
      [120, 120],
    ]);
  });

  it("under another revision equals a clean count under it, while live reading goes on", async () => {
    const world = await counted();
    await world.crash();
    await world.count(HOUR / 4);
    const { id } = await world.submit(CLOSE);
    world.events(0, 30);
    await world.flow();
    await world.ended(id);
    await world.flow();
    const clean = new RecountWorld(2);
    clean.events(0, 120);
    clean.events(1, 120);
    clean.events(0, 30);
    await clean.count(HOUR / 4);
    expect(await world.total()).toEqual(await clean.total());
    expect(await world.total()).toEqual([270n, 8]);
  });

  it("is seen by readers as a whole or not at all, and goes on where a killed process left it", async () => {
    const world = await counted();
    await world.crash();
    world.batchRecords = 7;
    await world.count(HOUR / 4);
    const { id } = await world.submit({ ...CLOSE, rates: { recordsPerSecond: 15 } });
    const seen = new Set<bigint>();
    for (let life = 0; life < 3; life += 1) {
      await world.clock.advance(1_300);
      seen.add((await world.total())[0]);
      expect((await world.store.read(id)).state).toBe("running");
      world.killJobs();
    }
    const job = await world.ended(id);
    seen.add((await world.total())[0]);
    expect([...seen]).toEqual([240n]);
    expect((await world.total())[1]).toBe(8);
    expect(job.partitions.every(({ next, to, receipt }) => next === to && receipt.read >= 120)).toBe(true);
  });

  it("that is cancelled leaves nothing, and two at once are refused", async () => {
    const world = await counted();
    await world.crash();
    world.batchRecords = 7;
    await world.count(HOUR / 4);
    const { id } = await world.submit({ ...CLOSE, rates: { recordsPerSecond: 20 } });
    await world.clock.advance(1_000);
    await expect(world.submit({})).rejects.toMatchObject({ code: "JOB_OVERLAPS", extra: { job: id } });
    await world.jobs.cancel("recount", id, "ann", "enough");
    expect(await world.ended(id)).toMatchObject({ state: "cancelled" });
    expect(await world.total()).toEqual([240n, 2]);
    expect((await world.recount({})).state).toBe("done");
    expect(await world.total()).toEqual([240n, 8]);
  });

  it("that waits for its pace stays whose it is, and ends when it is cancelled, not when it has waited", async () => {
    const world = await counted();
    const { id } = await world.submit({ ...CLOSE, rates: { recordsPerSecond: 1 } });
    await world.clock.advance(60_000);
    const { holder, receipt } = await world.store.read(id).then((job) => ({ ...job, ...job.partitions[0] }));
    expect(receipt?.read).toBeGreaterThan(0);
    expect(holder?.untilMs).toBeGreaterThan(world.clock.now());
    await world.jobs.cancel("recount", id, "ann", "enough");
    await world.clock.advance(2_000);
    expect((await world.store.read(id)).state).toBe("cancelled");
  });

  it("takes no row that the log has lost records of, says so, and keeps what is lost under way", async () => {
    const world = await counted();
    await world.recount(CLOSE);
    world.events(0, 60);
    await world.flow();
    world.log.deleteBelow(0, 5);
    await expect(world.submit(CLOSE)).rejects.toMatchObject({
      code: "HISTORY_GONE",
      extra: { possible: [{ partition: 0, from: "120" }] },
    });
    const partly = await world.recount({ ...CLOSE, partly: true });
    expect(partly.partitions.map(({ partition, from }) => [partition, from])).toEqual([
      [0, 120],
      [1, 0],
    ]);
    expect(await world.total()).toEqual([300n, 2]);
    world.batchRecords = 7;
    const { id } = await world.submit({ ranges: [{ partition: 1 }], rates: { recordsPerSecond: 20 } });
    await world.clock.advance(1_000);
    world.log.deleteBelow(1, 100);
    const job = await world.ended(id);
    expect(job).toMatchObject({ state: "done", result: { exchanged: 0, kept: 1 } });
    expect(job.partitions[0]).toMatchObject({ state: "stopped", lost: { to: 100 } });
    expect(await world.total()).toEqual([300n, 2]);
  });

  it("waits for live reading to come to the end of a row that it closes, and says so where it does not", async () => {
    const world = await counted();
    world.plane.closeGate();
    world.events(0, 5);
    world.source.poll();
    await world.clock.advance(500);
    const refused = world.submit(CLOSE).catch((error: unknown) => error);
    await world.clock.advance(6_000);
    expect(await refused).toMatchObject({ code: "RECOUNT_BEHIND" });
    const accepted = world.submit({});
    world.plane.openGate();
    await world.flow();
    const job = await world.ended((await accepted).id);
    expect(job.partitions.find(({ partition }) => partition === 0)).toMatchObject({ to: 125, state: "done" });
    expect(await world.total()).toEqual([245n, 2]);
  });

  it("counts dead letters that decode now, and makes letters of what does not", async () => {
    const world = new RecountWorld(1);
    world.events(0, 10);
    world.log.append(0, "a", "bad");
    await world.count(HOUR);
    expect(world.letters.letters).toHaveLength(1);
    const job = await world.recount(CLOSE);
    expect(job.partitions[0]?.receipt).toMatchObject({ read: 11, applied: 10, deadLettered: 1 });
    const log = world.log.log(0);
    const good = Buffer.from(`a|view|${world.clock.now()}||`);
    const timestampMs = world.clock.now();
    log.records = log.records.map((record) =>
      record.offset === 10 ? { ...record, value: good, timestampMs } : record,
    );
    await world.recount({});
    expect((await world.total())[0]).toBe(11n);
  });

  it("that only compares finds where slots differ, and exchanges nothing", async () => {
    const world = await counted();
    await world.recount(CLOSE);
    const rows = await world.rows();
    expect((await world.recount({ compareOnly: true })).result).toEqual({
      exchanged: 0,
      kept: 0,
      comparison: { compared: 4, differing: 0, examples: [] },
    });
    expect((await world.rows()).map(({ number }) => number)).toEqual(rows.map(({ number }) => number));
    const suffix = slotSuffix({ source: "articles", partition: 0, log: 0, row: rows[0]?.number ?? 0 });
    const planted = trafficKey("articles", "planted", "view", 0);
    await world.plane.write([
      {
        space: "slot",
        key: slotKey(planted, suffix),
        ...encodeSlot({ offset: 3, counters: [9n], visitors: undefined }),
      },
    ]);
    const job = await world.recount({ compareOnly: true });
    expect(job.result).toMatchObject({
      comparison: {
        differing: 1,
        examples: [{ partition: 0, counter: '["traffic","planted","view",0]', stands: ["9"] }],
      },
    });
    expect(job.partitions[0]?.receipt).toMatchObject({ alreadyApplied: 120, applied: 0 });
  });
});

describe("a replay of a counting kind", () => {
  it("counts whole what no row covers, compares the rows that are there, and shows nothing before its end", async () => {
    const world = new RecountWorld(1);
    world.events(0, 100);
    await world.count(HOUR, { startFrom: { timestampMs: Number.MAX_SAFE_INTEGER } });
    world.events(0, 20, "b");
    await world.flow();
    expect([(await world.total())[0], (await world.total("b"))[0]]).toEqual([0n, 20n]);
    await world.recount({ ...CLOSE, compareOnly: true });
    world.batchRecords = 9;
    const { id } = await world.submit({ rates: { recordsPerSecond: 30 } }, "replay");
    await world.clock.advance(1_500);
    expect((await world.store.read(id)).partitions.some(({ receipt }) => receipt.applied > 0)).toBe(true);
    expect((await world.total())[0]).toBe(0n);
    const job = await world.ended(id);
    expect(job.state).toBe("done");
    expect([(await world.total())[0], (await world.total("b"))[0]]).toEqual([100n, 20n]);
    const receipts = job.partitions.map(({ from, receipt }) => [from, receipt.applied, receipt.alreadyApplied]);
    expect(receipts.toSorted(([a = 0], [b = 0]) => a - b)).toEqual([
      [0, 100, 0],
      [100, 0, 20],
    ]);
    expect(job.result).toMatchObject({ exchanged: 1, comparison: { differing: 0 } });
    expect((await world.recount({}, "replay")).result).toMatchObject({ exchanged: 0 });
    expect((await world.total())[0]).toBe(100n);
  });
});
