import { describe, expect, it } from "vitest";
import { JOBS_ACTIVE_MAX } from "../../src/core/job/job-index.ts";
import { LEASE_MS } from "../../src/jobs/job-runner.ts";
import { settle } from "../support/manual-clock.ts";
import { JobWorld } from "./job-world.ts";

describe("a job's holder", () => {
  it("that is killed is followed by another, which goes on where progress was stored", async () => {
    const world = new JobWorld();
    const first = world.instance();
    const { id } = await world.submit(first);
    await world.clock.advance(3_500);
    first.dead = true;
    const { next = 0 } = (await world.store.read(id)).partitions[0] ?? {};
    expect(next).toBeGreaterThan(0);
    const second = world.instance();
    await world.clock.advance(LEASE_MS - 5_000);
    expect(second.applied).toEqual([]);
    const job = await world.ended(id);
    expect(second.applied[0]).toBe(next);
    expect(job).toMatchObject({ state: "done", holder: undefined, result: { finished: true } });
    expect(job.partitions[0]).toMatchObject({ next: 100, receipt: { read: 100, applied: 100 } });
  });

  it("that slept beyond its lease applies nothing, finishes nothing and stores nothing afterwards", async () => {
    for (const asleep of ["pace", "broker"] as const) {
      const world = new JobWorld();
      const first = world.instance();
      const { id } = await world.submit(first, { to: 400, rate: 10 });
      await world.clock.advance(3_000);
      first.brokerAway = asleep === "broker";
      await world.clock.advance(1_500);
      first.frozen = [];
      first.brokerAway = false;
      const second = world.instance();
      await world.clock.advance(LEASE_MS + 5_000);
      const [steps, stored] = [first.applied.length, await world.store.read(id)];
      expect(second.applied.length).toBeGreaterThan(0);
      first.thaw();
      await settle();
      await world.clock.advance(100);
      expect(first.applied).toHaveLength(steps);
      expect((await world.store.read(id)).holder?.name).toBe(stored.holder?.name);
      const job = await world.ended(id);
      expect([job.state, first.finished, second.finished]).toEqual(["done", 0, 1]);
      expect(job.partitions[0]?.receipt.read).toBe(400);
    }
  });

  it("that waits for the broker keeps the job, however long it waits", async () => {
    const world = new JobWorld();
    const [first, second] = [world.instance(), world.instance()];
    const { id } = await world.submit(first);
    await world.clock.advance(500);
    const [holding, other] = first.opened.length > 0 ? [first, second] : [second, first];
    holding.brokerAway = true;
    await world.clock.advance(LEASE_MS * 4);
    expect(other.opened).toEqual([]);
    const view = await holding.jobs.get("replay", id, { waitMs: 0, signal: new AbortController().signal });
    expect(view.waiting).toMatchObject({ text: "the broker is away" });
    holding.brokerAway = false;
    expect(await world.ended(id)).toMatchObject({ state: "done", partitions: [{ receipt: { read: 100 } }] });
  });

  it("says what it runs and why it waits, others that they do not, and all of them what nobody runs", async () => {
    const world = new JobWorld();
    const first = world.instance();
    await world.submit(first);
    await world.clock.advance(1_500);
    const second = world.instance();
    first.yields = "lag";
    await world.clock.advance(4_000);
    const [mine] = first.jobs.standing().unfinished;
    expect(mine).toMatchObject({ source: "articles", kind: "replay", runs: "here", waiting: { code: "YIELDING" } });
    expect(mine?.ageSeconds).toBeGreaterThanOrEqual(5);
    expect(second.jobs.standing().unfinished).toMatchObject([{ runs: "elsewhere", waiting: undefined }]);
    expect(first.jobs.standing().recordsRead.get("replay")).toBeGreaterThan(0);
    expect(second.jobs.standing().recordsRead.size).toBe(0);
    first.dead = true;
    second.brokerAway = true;
    await world.clock.advance(LEASE_MS + 3_000);
    expect(second.jobs.standing().unfinished).toMatchObject([{ runs: "here" }]);
    second.brokerAway = false;
    const [{ id } = { id: "" }] = await second.jobs.list("replay", undefined);
    await world.ended(id);
    const { unfinished, recordsRead } = second.jobs.standing();
    const before = first.jobs.standing().recordsRead.get("replay") ?? 0;
    expect([unfinished, before + (recordsRead.get("replay") ?? 0) >= 100]).toEqual([[], true]);
  });

  it("that drains lets go at once, also while the broker is away, and not for ever while the store is", async () => {
    for (const away of ["nothing", "broker", "store"] as const) {
      const world = new JobWorld();
      const first = world.instance();
      const { id } = await world.submit(first);
      await world.clock.advance(2_500);
      first.brokerAway = away === "broker";
      first.storeAway = away === "store";
      await world.clock.advance(2_000);
      let drained = false;
      void first.jobs.drain().then(() => (drained = true));
      await world.clock.advance(1_000);
      expect([away, drained]).toEqual([away, true]);
      expect((await world.store.read(id)).holder === undefined).toBe(away !== "store");
      world.instance();
      expect(await world.ended(id)).toMatchObject({ state: "done", partitions: [{ receipt: { read: 100 } }] });
    }
  });
});

describe("a cancel", () => {
  it("ends a job while it waits for the broker, while it yields, and from another instance", async () => {
    for (const fault of ["broker", "yields", "pace"] as const) {
      const world = new JobWorld();
      const first = world.instance();
      const { id } = await world.submit(first);
      await world.clock.advance(500);
      if (fault === "broker") first.brokerAway = true;
      if (fault === "yields") first.yields = "partition 0 falls behind";
      await world.clock.advance(20_000 * (fault === "pace" ? 0 : 1));
      await world.instance().jobs.cancel("replay", id, "ann", "enough");
      await world.clock.advance(3_000);
      const job = await world.store.read(id);
      expect([fault, job.state, first.finished]).toEqual([fault, "cancelled", 0]);
      expect((await world.store.index("articles")).map(({ ended }) => ended)).toEqual([true]);
    }
  });

  it("before the first run applies nothing, twice is once, and what has ended stays as it is", async () => {
    const world = new JobWorld();
    const first = world.instance();
    const { id } = await world.submit(first);
    await first.jobs.cancel("replay", id, "ann", "enough");
    const at = (await first.jobs.cancel("replay", id, "bob", "again")).cancel;
    expect(at?.actor).toBe("ann");
    const job = await world.ended(id);
    expect([job.state, first.applied, first.opened]).toEqual(["cancelled", [], []]);
    const done = await world.ended((await world.submit(first, { to: 5 })).id);
    await first.jobs.cancel("replay", done.id, "ann", "late");
    expect(await world.store.read(done.id)).toEqual(done);
  });

  it("is heard after the store was away", async () => {
    const world = new JobWorld();
    const first = world.instance();
    const { id } = await world.submit(first);
    await world.clock.advance(2_500);
    first.storeAway = true;
    await world.clock.advance(LEASE_MS - 6_000);
    await world.instance().jobs.cancel("replay", id, "ann", "enough");
    first.storeAway = false;
    expect((await world.ended(id)).state).toBe("cancelled");
  });
});

describe("a submission", () => {
  it("that died after its entry in the index gives its place back", async () => {
    const world = new JobWorld();
    const ranges = [{ partition: 0, from: 0, to: 100 }];
    const createdAtMs = world.clock.now();
    await world.store.admit("articles", { id: "orphan", kind: "replay", createdAtMs, ended: false, ranges });
    const first = world.instance();
    await world.clock.advance(10_000);
    await expect(world.submit(first)).rejects.toMatchObject({ code: "JOB_OVERLAPS", extra: { job: "orphan" } });
    await world.clock.advance(60_000);
    expect((await world.ended((await world.submit(first)).id)).state).toBe("done");
  });

  it("of two at once on the same offsets is refused, and named the other", async () => {
    const world = new JobWorld();
    const [first, second] = [world.instance(), world.instance()];
    const both = await Promise.allSettled([world.submit(first), world.submit(second)]);
    const won = both.flatMap((one) => (one.status === "fulfilled" ? [one.value.id] : []));
    const lost = both.flatMap((one): unknown[] => (one.status === "rejected" ? [one.reason] : []));
    expect(won).toHaveLength(1);
    expect(lost).toMatchObject([{ code: "JOB_OVERLAPS", extra: { job: won[0], partition: 0 } }]);
  });

  it("with its key again is the same job, also after its end; with another body it is refused", async () => {
    const world = new JobWorld();
    const first = world.instance();
    const { id } = await world.submit(first, { to: 5 }, "k");
    expect((await world.submit(first, { to: 5 }, "k")).id).toBe(id);
    await world.ended(id);
    expect(await world.submit(world.instance(), { to: 5 }, "k")).toMatchObject({ id, state: "done" });
    await expect(world.submit(first, { to: 6 }, "k")).rejects.toMatchObject({ code: "JOB_KEY_REUSED" });
  });

  it("beyond what a source may have under way is refused, until one ends", async () => {
    const world = new JobWorld();
    const first = world.instance();
    const jobs = [];
    for (let partition = 0; partition < JOBS_ACTIVE_MAX; partition += 1) {
      jobs.push(await world.submit(first, { to: 500, rate: 1, partition }));
    }
    const more = { to: 5, partition: JOBS_ACTIVE_MAX };
    await expect(world.submit(first, more)).rejects.toMatchObject({ code: "JOBS_TOO_MANY" });
    await first.jobs.cancel("replay", jobs[0]?.id ?? "", "ann", "enough");
    await world.clock.advance(5_000);
    expect((await world.submit(first, more)).state).toBe("queued");
  });
});

describe("a wait for a job", () => {
  it("ends with the job, with its time, and with whoever waits", async () => {
    const world = new JobWorld();
    const first = world.instance();
    const { id } = await world.submit(first, { to: 60, rate: 10 });
    const gone = new AbortController();
    const answers: string[] = [];
    const wait = async (name: string, waitMs: number, signal = new AbortController().signal) => {
      const { state, percent } = await first.jobs.get("replay", id, { waitMs, signal });
      answers.push(`${name} ${state} ${percent === 100}`);
    };
    void wait("none", 0);
    void wait("short", 1_000);
    void wait("gone", 60_000, gone.signal);
    void wait("long", 60_000);
    await world.clock.advance(1_200);
    gone.abort();
    await world.clock.advance(300);
    expect(answers).toEqual(["none queued false", "short running false", "gone running false"]);
    await world.ended(id);
    expect(answers[3]).toBe("long done true");
  });
});
