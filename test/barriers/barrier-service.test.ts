import { describe, expect, it } from "vitest";
import { BARRIER_LIFE_MS, BARRIER_SLOTS } from "../../src/control/barrier-records.ts";
import { BarrierService } from "../../src/barriers/barrier-service.ts";
import type { BarrierAt } from "../../src/ports/barriers.ts";
import type { Clock } from "../../src/ports/clock.ts";
import { FleetWorld } from "../support/fleet-world.ts";
import { ORDER, Operators } from "../support/operators.ts";

const NOW: BarrierAt = { at: "now" };

function barriersOf(world: FleetWorld) {
  const fleet = { service: () => world.service, phase: "serving" as "serving" | "draining" };
  const later = { ms: 0 };
  const clock: Clock = {
    now: () => world.clock.now() + later.ms,
    monotonic: () => world.clock.monotonic(),
    after: (delayMs, task) => world.clock.after(delayMs, task),
  };
  const service = new BarrierService({ fleet, control: world.plane.control, clock });
  const get = (id: string, waitMs = 0, signal = new AbortController().signal) =>
    service.get("articles", id, { waitMs, signal });
  return { fleet, later, get, create: (at: BarrierAt = NOW) => service.create("articles", at, "script") };
}

async function running(partitions = 2): Promise<FleetWorld> {
  const world = new FleetWorld(partitions);
  await world.start();
  await world.clock.advance(4_000);
  return world;
}

/** Records that the consumer has not fetched yet: the fake fetches when it is polled. */
function produce(world: FleetWorld, partition: number, ...values: string[]): void {
  for (const value of values) world.log.append(partition, `k${value}`, value, world.clock.now());
}

describe("a barrier", () => {
  it("is fixed once: what comes later does not matter, what was before must be applied and copied", async () => {
    const world = await running();
    const { create, get } = barriersOf(world);
    expect(await create()).toMatchObject({ state: "done" });
    produce(world, 0, "1", "2");
    const { id, state, partitions } = await create();
    expect(state).toBe("waiting");
    expect(partitions).toEqual([
      { partition: 0, from: 0, to: 2, applied: 0, done: false },
      { partition: 1, from: 0, to: 0, applied: 0, done: true },
    ]);
    world.log.grow(4);
    produce(world, 1, "3");
    const waiting = get(id, 20_000);
    let answered = false;
    void waiting.then(() => (answered = true));
    await world.clock.advance(3_000);
    expect(answered).toBe(false);
    world.source.poll();
    await world.clock.advance(2_000);
    expect(await waiting).toMatchObject({ id, state: "done", partitions: [{ applied: 2 }, { done: true }] });
  });

  it("is true for the whole fleet: acknowledged here is not enough, and another instance answers the same", async () => {
    const world = await running(1);
    const { create } = barriersOf(world);
    produce(world, 0, "1");
    const { id } = await create();
    world.plane.before = (call, name) => {
      if (call === "write" && name.startsWith("copy/")) throw new Error("no copy");
    };
    world.source.poll();
    await world.clock.advance(2_000);
    expect(world.runner().state.watermark).toBe(1);
    const other = barriersOf(world);
    expect(await other.get(id)).toMatchObject({ state: "waiting", partitions: [{ applied: 0 }] });
    world.plane.before = () => {};
    await world.clock.advance(2_000);
    world.service.revoked(1);
    expect(await other.get(id)).toMatchObject({ state: "done", partitions: [{ applied: 1 }] });
  });

  it("at a time, and at offsets; not in the future, not of a partition that there is not", async () => {
    const world = await running();
    const { create } = barriersOf(world);
    const begin = world.clock.now();
    produce(world, 0, "1");
    await world.clock.advance(1_000);
    produce(world, 0, "2");
    const targets = async (at: BarrierAt) => (await create(at)).partitions.map(({ partition, to }) => [partition, to]);
    expect(await targets({ at: "timestamp", timestampMs: begin + 500 })).toEqual([
      [0, 1],
      [1, 0],
    ]);
    expect(await targets({ at: "offsets", offsets: new Map([[0, 7]]) })).toEqual([[0, 7]]);
    const future = create({ at: "timestamp", timestampMs: world.clock.now() + 1 });
    await expect(future).rejects.toMatchObject({ code: "BARRIER_IN_FUTURE" });
    await expect(create({ at: "offsets", offsets: new Map([[5, 1]]) })).rejects.toMatchObject({
      code: "PARTITION_UNKNOWN",
    });
  });

  it("names stopped and paused partitions instead of waiting for them, and counts what was not applied", async () => {
    const world = new FleetWorld(2);
    produce(world, 0, "1", "bad", "3");
    await world.start({ onPoison: "stop" });
    await world.clock.advance(5_000);
    const { create, get } = barriersOf(world);
    const operators = new Operators(world);
    const offsets = new Map([[1, 1]]);
    produce(world, 1, "5");
    const { id: second } = await create({ at: "offsets", offsets });
    await operators.turning(operators.pauses.pause({ source: "articles", partition: 1 }, ORDER, undefined));
    const refused = create();
    await expect(refused).rejects.toMatchObject({
      code: "BARRIER_BLOCKED",
      extra: { blocked: "0: stop POISON; 1: pause on call" },
    });
    expect(await get(second, 60_000)).toMatchObject({
      state: "blocked",
      partitions: [{ partition: 1, done: false, blocked: { by: "pause", why: "on call" } }],
    });
    await operators.turning(operators.pauses.unpause({ source: "articles", partition: 1 }, ORDER));
    world.source.poll();
    await world.clock.advance(3_000);
    expect(await get(second)).toMatchObject({ state: "done", losses: { deadLetters: 0, gaps: 0, exact: true } });
    await operators.resume({ from: "committed", allowPoison: { to: 2 } });
    const { id } = await create({ at: "offsets", offsets: new Map([[0, 3]]) });
    await world.clock.advance(3_000);
    expect(await get(id)).toMatchObject({ state: "done" });
  });

  it("counts dead letters and skipped ranges below it", async () => {
    const world = await running(1);
    const { create, get } = barriersOf(world);
    produce(world, 0, "1", "bad", "bad", "4");
    const { id } = await create();
    world.source.poll();
    await world.clock.advance(3_000);
    expect(await get(id)).toMatchObject({
      state: "done",
      losses: { deadLetters: 2, gaps: 0, gapOffsets: 0, exact: true },
    });
    produce(world, 0, "bad");
    world.source.poll();
    await world.clock.advance(3_000);
    expect((await get(id)).losses).toMatchObject({ deadLetters: 3, exact: false });
  });

  it("counts what was passed over before it was set, too: a producer asks about a record of his own", async () => {
    const world = await running(1);
    const { create } = barriersOf(world);
    produce(world, 0, "1", "bad", "3");
    world.source.poll();
    await world.clock.advance(4_000);
    const losses = { deadLetters: 1, gaps: 0, gapOffsets: 0, exact: true, complete: true };
    expect(await create()).toMatchObject({ state: "done", partitions: [{ from: 3, to: 3 }], losses });
    expect((await create({ at: "offsets", offsets: new Map([[0, 1]]) })).losses).toEqual({ ...losses, deadLetters: 0 });
  });

  it("stops waiting when its time is up, when the caller is gone, and when the service drains", async () => {
    const world = await running(1);
    const { create, get, fleet } = barriersOf(world);
    produce(world, 0, "1");
    const { id } = await create();
    const settled: string[] = [];
    const note = (name: string, answer: Promise<{ state: string }>) =>
      void answer.then(({ state }) => settled.push(`${name} ${state}`));
    const caller = new AbortController();
    note("time", get(id, 2_000));
    note("gone", get(id, 60_000, caller.signal));
    note("drain", get(id, 60_000));
    await world.clock.advance(1_500);
    expect(settled).toEqual([]);
    await world.clock.advance(1_000);
    expect(settled).toEqual(["time waiting"]);
    caller.abort();
    await world.clock.advance(0);
    expect(settled).toEqual(["time waiting", "gone waiting"]);
    fleet.phase = "draining";
    await world.clock.advance(1_000);
    expect(settled).toEqual(["time waiting", "gone waiting", "drain waiting"]);
  });

  it("expires after a day", async () => {
    const world = await running(1);
    const { create, get, later } = barriersOf(world);
    expect((await create()).id).toBe("0");
    for (const id of ["1", "x", "01", "-1"]) await expect(get(id)).rejects.toMatchObject({ code: "BARRIER_UNKNOWN" });
    later.ms = BARRIER_LIFE_MS;
    await expect(get("0")).rejects.toMatchObject({ code: "BARRIER_UNKNOWN" });
    expect((await create()).id).toBe("1");
  });

  it("is one of a bounded number; the oldest that is done gives its place to the next, in whatever order they are done", async () => {
    const world = await running(1);
    const { create, get } = barriersOf(world);
    const ahead = (offset: number): BarrierAt => ({ at: "offsets", offsets: new Map([[0, offset]]) });
    // Two of the first three wait for a record that is to come; the rest is done at once.
    expect(await create(ahead(1))).toMatchObject({ id: "0", state: "waiting" });
    expect(await create()).toMatchObject({ id: "1", state: "done" });
    expect(await create(ahead(2))).toMatchObject({ id: "2", state: "waiting" });
    for (let number = 3; number < BARRIER_SLOTS; number += 1) expect((await create()).id).toBe(String(number));
    expect((await create()).id).toBe(String(BARRIER_SLOTS + 1));
    await expect(get("1")).rejects.toMatchObject({ code: "BARRIER_UNKNOWN" });
    expect((await create()).id).toBe(String(BARRIER_SLOTS + 3));
    for (const id of ["0", "2"]) expect(await get(id)).toMatchObject({ id, state: "waiting" });
    // One that nobody has asked about since it is done gives way, too, before a caller is refused.
    for (let number = 4; number < BARRIER_SLOTS; number += 1) await create(ahead(3));
    for (const place of [1, 3]) expect((await create(ahead(3))).id).toBe(String(2 * BARRIER_SLOTS + place));
    await expect(create()).rejects.toMatchObject({ code: "BARRIERS_TOO_MANY", extra: { retryAfterSeconds: 60 } });
    produce(world, 0, "1");
    world.source.poll();
    await world.clock.advance(3_000);
    expect((await create()).id).toBe(String(3 * BARRIER_SLOTS));
    await expect(get("0")).rejects.toMatchObject({ code: "BARRIER_UNKNOWN" });
    expect(await get("2")).toMatchObject({ state: "waiting" });
  });

  it("of several callers at once each has its own", async () => {
    const world = await running(1);
    const { create, get } = barriersOf(world);
    for (let number = 0; number < BARRIER_SLOTS; number += 1) await create();
    const views = await Promise.all(Array.from({ length: 8 }, () => create()));
    const ids = views.map(({ id }) => id);
    expect(new Set(ids).size).toBe(8);
    for (const id of ids) expect(await get(id)).toMatchObject({ id });
  });

  it("below what a source never wanted, or was resumed beyond, nothing is waited for", async () => {
    const world = new FleetWorld(1);
    produce(world, 0, "1", "2");
    await world.start({ startFrom: "latest" });
    await world.clock.advance(3_000);
    const { create } = barriersOf(world);
    expect(await create()).toMatchObject({ state: "done", partitions: [{ to: 2, applied: 2 }] });
  });

  it("is given up with the log that it was fixed in", async () => {
    const world = await running(1);
    const { create, get } = barriersOf(world);
    produce(world, 0, "1");
    world.source.poll();
    await world.clock.advance(3_000);
    produce(world, 0, "2", "3");
    const { id } = await create();
    world.log.recreate();
    await world.clock.advance(6_000);
    expect(await get(id)).toMatchObject({ state: "blocked", partitions: [{ blocked: { by: "stop" } }] });
    const operators = new Operators(world);
    await operators.turning(operators.epochs.open("articles", ORDER, undefined));
    produce(world, 0, "4", "5", "6");
    world.source.poll();
    await world.clock.advance(6_000);
    expect(world.stored("k6")).toMatchObject({ text: "6" });
    expect(await get(id, 60_000)).toMatchObject({ state: "given-up", partitions: [{ applied: 1, done: false }] });
  });

  it("goes on with a log that grew under a new topic epoch", async () => {
    const world = await running(4);
    const { create, get } = barriersOf(world);
    produce(world, 0, "1");
    world.source.poll();
    await world.clock.advance(3_000);
    const { id: reached } = await create();
    const { id: beyond } = await create({ at: "offsets", offsets: new Map([[0, 2]]) });
    await world.crash();
    world.log.grow(6);
    await world.start();
    await world.clock.advance(6_000);
    expect(await get(beyond)).toMatchObject({ state: "blocked" });
    const operators = new Operators(world);
    await operators.turning(operators.epochs.open("articles", ORDER, undefined));
    expect(await get(reached)).toMatchObject({ state: "done" });
    expect(await get(beyond)).toMatchObject({ state: "waiting", partitions: [{ applied: 1 }] });
    produce(world, 0, "2");
    world.source.poll();
    await world.clock.advance(4_000);
    expect(await get(beyond)).toMatchObject({ state: "done", partitions: [{ applied: 2 }] });
  });
});
