import { describe, expect, it } from "vitest";
import { BarrierService } from "../../src/barriers/barrier-service.ts";
import type { BarrierAt } from "../../src/ports/barriers.ts";
import { FleetWorld } from "../support/fleet-world.ts";

function barriersOf(world: FleetWorld) {
  const fleet = { service: () => world.service, phase: "serving" as const };
  const service = new BarrierService({ fleet, control: world.plane.control, clock: world.clock });
  const { signal } = new AbortController();
  return {
    create: (at: BarrierAt = { at: "now" }) => service.create("articles", at, "script"),
    get: (id: string, waitMs = 0) => service.get("articles", id, { waitMs, signal }),
  };
}

function produce(world: FleetWorld, count: number): void {
  for (let value = 0; value < count; value += 1) world.log.append(0, `k${value}`, `${value}`, world.clock.now());
}

/** 20 records are applied; then the process dies, and the topic is another one with fewer records. */
async function replaced(change: (world: FleetWorld) => void = () => {}): Promise<FleetWorld> {
  const world = new FleetWorld(1);
  produce(world, 20);
  await world.start();
  await world.clock.advance(4_000);
  await world.crash();
  world.log.recreate();
  produce(world, 3);
  change(world);
  await world.start();
  return world;
}

describe("a barrier says nothing of a log that was never read", () => {
  it("stopped because the cluster is another one: refused, although the copy is beyond it", async () => {
    const world = await replaced(({ log }) => (log.clusterId = "cluster-2"));
    await world.clock.advance(4_000);
    expect(world.stopCode()).toBe("IDENTITY_CHANGED");
    const { create } = barriersOf(world);
    for (const at of [{ at: "now" }, { at: "offsets", offsets: new Map([[0, 2]]) }] as const) {
      await expect(create(at)).rejects.toMatchObject({
        code: "BARRIER_BLOCKED",
        extra: { blocked: "0: stop IDENTITY_CHANGED" },
      });
    }
  });

  it("held while the log contradicts what was applied: waiting with the reason, then blocked by the stop", async () => {
    const world = await replaced();
    await world.clock.advance(200);
    expect(world.runner().state.phase).toMatchObject({ phase: "starting", cause: { code: "OUT_OF_RANGE" } });
    const { create, get } = barriersOf(world);
    const why = expect.stringContaining("applied up to 20, but the log ends at 3") as string;
    const held = { state: "waiting", partitions: [{ to: 3, applied: 20, done: false, blocked: { by: "hold", why } }] };
    const { id, ...view } = await create();
    expect(view).toMatchObject(held);
    const waiting = get(id, 1_000);
    await world.clock.advance(1_500);
    expect(await waiting).toMatchObject(held);
    await world.clock.advance(60_000);
    expect(world.stopCode()).toBe("ABOVE_LOG_END");
    expect(await get(id)).toMatchObject({ state: "blocked", partitions: [{ blocked: { why: "ABOVE_LOG_END" } }] });
    await expect(create()).rejects.toMatchObject({ code: "BARRIER_BLOCKED" });
  });

  it("nor before the owner has noticed, or when another instance has the partition", async () => {
    const world = new FleetWorld(1);
    produce(world, 20);
    await world.start();
    await world.clock.advance(4_000);
    const { create, get } = barriersOf(world);
    const { id, state } = await create();
    expect(state).toBe("done");
    world.log.recreate();
    produce(world, 3);
    expect(world.runner().state.phase.phase).toBe("running");
    expect(await create()).toMatchObject({ state: "waiting", partitions: [{ blocked: { by: "hold" } }] });
    world.service.revoked(1);
    expect(await create()).toMatchObject({ state: "waiting", partitions: [{ done: false, blocked: { by: "hold" } }] });
    // What was done is done: nobody who was told so is told otherwise, whatever becomes of the log.
    expect(await get(id)).toMatchObject({ state: "done", doneAt: expect.any(Number) as number });
    expect((await get(id)).partitions).toEqual([{ partition: 0, from: 20, to: 20, applied: 20, done: true }]);
  });

  it("done is final from the answer that says so: stopped, under another log, and whoever is asked", async () => {
    const world = new FleetWorld(1);
    produce(world, 20);
    await world.start();
    const { create, get } = barriersOf(world);
    const { id, state } = await create();
    expect(state).toBe("waiting");
    await world.clock.advance(4_000);
    const found = await get(id);
    expect(found).toMatchObject({ state: "done" });
    world.log.recreate();
    produce(world, 3);
    await world.clock.advance(60_000);
    expect(world.stopCode()).toBeDefined();
    expect(await barriersOf(world).get(id)).toMatchObject({ state: "done", doneAt: found.doneAt });
    await expect(create()).rejects.toMatchObject({ code: "BARRIER_BLOCKED" });
  });

  it("a stop that says nothing against the log keeps what was applied before it", async () => {
    const world = new FleetWorld(1);
    produce(world, 2);
    world.log.append(0, "bad", "bad");
    await world.start({ onPoison: "stop" });
    await world.clock.advance(4_000);
    expect(world.stopCode()).toBe("POISON");
    const { create } = barriersOf(world);
    expect(await create({ at: "offsets", offsets: new Map([[0, 2]]) })).toMatchObject({ state: "done" });
    await expect(create()).rejects.toMatchObject({ code: "BARRIER_BLOCKED" });
  });
});
