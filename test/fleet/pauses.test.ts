import { describe, expect, it } from "vitest";
import { FleetWorld } from "../support/fleet-world.ts";
import { Operators, ORDER } from "../support/operators.ts";

const SOURCE = { source: "articles" };
const FIRST = { source: "articles", partition: 0 };

async function running(partitions = 2): Promise<{ world: FleetWorld; operators: Operators }> {
  const world = new FleetWorld(partitions);
  await world.start();
  await world.clock.advance(3_000);
  return { world, operators: new Operators(world) };
}

/** Appends one record to each partition, lets everything happen that can, and tells which partitions took it. */
async function taken(world: FleetWorld, key: string): Promise<readonly boolean[]> {
  world.log.partitions.forEach((_log, partition) => world.log.append(partition, `${key}${partition}`, "x"));
  world.source.poll();
  await world.clock.advance(3_000);
  return world.log.partitions.map((_log, partition) => world.stored(`${key}${partition}`) !== undefined);
}

async function restart(world: FleetWorld): Promise<void> {
  await world.crash();
  await world.start();
  await world.clock.advance(3_000);
}

describe("a pause of a partition", () => {
  it("keeps it from being read, its siblings flow, and it goes on where it was", async () => {
    const { world, operators } = await running();
    await operators.pauses.pause(FIRST, ORDER, undefined);
    expect(await taken(world, "a")).toEqual([false, true]);
    await operators.pauses.unpause(FIRST, ORDER);
    await world.clock.advance(3_000);
    expect([world.stored("a0")?.text, world.log.committed.get(0)]).toEqual(["x", 1]);
  });

  it("survives a restart and a rebalance, before anything was read", async () => {
    const { world, operators } = await running();
    await operators.pauses.pause(FIRST, ORDER, undefined);
    await restart(world);
    expect(await taken(world, "a")).toEqual([false, true]);
    world.source.rejoin();
    expect(await taken(world, "b")).toEqual([false, true]);
  });

  it("ends by itself at its time, also while the store is away, and not before", async () => {
    const { world, operators } = await running();
    await operators.pauses.pause(FIRST, ORDER, world.clock.now() + 20_000);
    expect(await taken(world, "a")).toEqual([false, true]);
    await world.clock.advance(12_000);
    expect(world.runner(0).state.paused).toBe(true);
    world.plane.away = true;
    await world.clock.advance(10_000);
    expect(world.runner(0).state.paused).toBe(false);
    world.plane.away = false;
    await world.clock.advance(5_000);
    expect(world.stored("a0")?.text).toBe("x");
  });

  it("lets what is in flight be applied and committed", async () => {
    const { world, operators } = await running(1);
    world.plane.closeGate();
    world.log.append(0, "a", "1");
    world.source.poll();
    await world.clock.advance(100);
    expect(world.runner().state.inFlight).toHaveLength(1);
    await operators.pauses.pause(FIRST, ORDER, undefined);
    world.log.append(0, "b", "1");
    world.plane.openGate();
    world.source.poll();
    await world.clock.advance(3_000);
    expect([world.stored("a")?.text, world.stored("b"), world.log.committed.get(0)]).toEqual(["1", undefined, 1]);
  });

  it("that comes while the partition starts keeps it from beginning", async () => {
    const { world, operators } = await running(1);
    await world.crash();
    world.log.append(0, "a", "1");
    let paused = false;
    // 1. the assignment was taken, the pauses were read; 2. the facts are being gathered; 3. the pause is set; 4. facts.
    world.plane.before = async (call, name) => {
      if (call !== "read" || !name.startsWith("ledgers/") || paused) return;
      paused = true;
      await operators.pauses.pause(FIRST, ORDER, undefined);
    };
    await world.start();
    await world.clock.advance(5_000);
    expect([paused, world.stored("a"), world.runner().state.fetching]).toEqual([true, undefined, false]);
    await operators.pauses.unpause(FIRST, ORDER);
    await world.clock.advance(3_000);
    expect(world.stored("a")?.text).toBe("1");
  });

  it("and its stop are two flags: resuming a paused partition leaves it paused", async () => {
    const { world, operators } = await running(1);
    world.log.append(0, "a", "1");
    world.source.poll();
    await world.clock.advance(3_000);
    world.log.committed.clear();
    await world.clock.advance(3_000);
    expect(world.stopCode()).toBe("COMMIT_VANISHED");
    await operators.pauses.pause(FIRST, ORDER, undefined);
    await operators.resume({ from: "copy" });
    expect(world.stopCode()).toBeUndefined();
    expect(await taken(world, "b")).toEqual([false]);
    await operators.pauses.unpause(FIRST, ORDER);
    expect(await taken(world, "c")).toEqual([true]);
  });
});

describe("a pause of a source", () => {
  it("keeps all partitions, those included that are paused by themselves when it ends", async () => {
    const { world, operators } = await running();
    await operators.pauses.pause(FIRST, ORDER, undefined);
    await operators.pauses.pause(SOURCE, ORDER, undefined);
    expect(await taken(world, "a")).toEqual([false, false]);
    const view = await operators.pauses.unpause(SOURCE, ORDER);
    expect(view.pause).toBeUndefined();
    expect(await taken(world, "b")).toEqual([false, true]);
    expect((await operators.pauses.unpause(FIRST, ORDER)).pause).toBeUndefined();
    expect(await taken(world, "c")).toEqual([true, true]);
  });

  it("set on another instance is noticed with the next round", async () => {
    const { world, operators } = await running();
    world.service.obey = ((obey) => {
      let calls = 0;
      return () => ((calls += 1) === 1 ? Promise.resolve() : obey());
    })(world.service.obey.bind(world.service));
    await operators.pauses.pause(SOURCE, ORDER, undefined);
    expect(world.runner(0).state.paused).toBe(false);
    await world.clock.advance(3_000);
    expect(await taken(world, "a")).toEqual([false, false]);
  });

  it("is one audit entry per call, ended pauses and refusals included", async () => {
    const { world, operators } = await running();
    await operators.pauses.pause(SOURCE, ORDER, undefined);
    await operators.pauses.unpause(FIRST, ORDER);
    await expect(operators.pauses.pause(SOURCE, ORDER, world.clock.now())).rejects.toMatchObject({
      code: "PAUSE_UNTIL_PAST",
    });
    await expect(operators.pauses.pause({ ...SOURCE, partition: 9 }, ORDER, undefined)).rejects.toMatchObject({
      code: "PARTITION_UNKNOWN",
    });
    const { entries } = await operators.audit.list({});
    expect(entries.map(({ action, outcome, actor }) => [action, outcome, actor])).toEqual([
      ["pause-source", "refused", "chief"],
      ["unpause-partition", "applied", "chief"],
      ["pause-source", "applied", "chief"],
    ]);
  });
});
