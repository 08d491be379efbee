import { describe, expect, it } from "vitest";
import type { Fleet } from "../../src/fleet/fleet.ts";
import { LagService } from "../../src/lag/lag-service.ts";
import { SourceFault } from "../../src/ports/record-source.ts";
import { FleetWorld } from "../support/fleet-world.ts";
import { ORDER, Operators } from "../support/operators.ts";

function lagOf(world: FleetWorld) {
  const fleet: Pick<Fleet, "services" | "service"> = { services: () => [world.service], service: () => world.service };
  return new LagService(fleet, world.clock).all().partitions;
}

async function started(world: FleetWorld, change: Parameters<FleetWorld["start"]>[0] = {}) {
  await world.start(change);
  await world.clock.advance(5_000);
  return world;
}

/** A partition that another instance has read to its end. */
async function elsewhere(): Promise<FleetWorld> {
  const world = await started(new FleetWorld(1));
  world.log.append(0, "a", "1");
  world.service.revoked(1);
  world.log.committed.set(0, 1);
  await world.clock.advance(4_000);
  return world;
}

describe("I14: lag of a running source", () => {
  it("is unknown before it was measured, then what is left, then zero", async () => {
    const world = new FleetWorld(2);
    world.log.append(0, "a", "1");
    world.plane.closeGate();
    await world.start();
    expect(lagOf(world).map(({ records }) => records)).toEqual([
      { known: false, cause: "not-measured" },
      { known: false, cause: "not-measured" },
    ]);
    await world.clock.advance(2_000);
    expect(lagOf(world).map(({ records }) => records)).toEqual([
      { known: true, value: 1 },
      { known: true, value: 0 },
    ]);
    world.plane.openGate();
    await world.clock.advance(4_000);
    expect(lagOf(world).map(({ records }) => records)).toEqual([
      { known: true, value: 0 },
      { known: true, value: 0 },
    ]);
  });

  it("is not frozen when the broker is away: it says so", async () => {
    const world = new FleetWorld(1);
    world.log.append(0, "a", "1");
    await world.start();
    await world.clock.advance(3_000);
    world.source.away = true;
    await world.clock.advance(3_000);
    expect(lagOf(world)[0]?.records).toEqual({ known: false, cause: "broker-unreachable" });
  });

  it("of a partition that this process does not run comes from what the group has committed", async () => {
    const world = new FleetWorld(1);
    world.log.append(0, "a", "1");
    await world.start();
    await world.clock.advance(3_000);
    world.log.append(0, "a", "2");
    world.service.revoked(1);
    await world.clock.advance(3_000);
    expect(lagOf(world)[0]).toMatchObject({ basis: "committed", records: { known: true, value: 1 } });
  });

  it("is measured when the reading began: what was produced later is not claimed to be in it", async () => {
    const world = new FleetWorld(1);
    await world.start();
    const bounds = world.source.bounds.bind(world.source);
    world.source.bounds = async () => {
      const answer = await bounds();
      await new Promise<void>((resolve) => world.clock.after(500, resolve));
      return answer;
    };
    const began = world.clock.now();
    await world.clock.advance(2_600);
    expect(lagOf(world)[0]?.measuredAt).toBe(began + 2_000);
  });
});

describe("I14: the age of what waits, read from the log", () => {
  const HOUR = 3_600_000;

  it("of a paused partition, and of one that is stopped at a poisonous record: one read for each place", async () => {
    const world = new FleetWorld(2);
    const long = world.clock.now() - HOUR;
    world.log.append(0, "a", "1", long);
    world.log.append(1, "b", "bad", long - HOUR);
    await started(world, { onPoison: "stop" });
    expect(world.stopCode(1)).toBe("POISON");
    const operators = new Operators(world);
    await operators.turning(operators.pauses.pause({ source: "articles", partition: 0 }, ORDER, undefined));
    world.log.append(0, "a", "2", world.clock.now() + HOUR);
    await world.clock.advance(10_000);
    const [paused, stopped] = lagOf(world);
    expect(paused?.records).toEqual({ known: true, value: 1 });
    expect(paused?.seconds).toEqual({ known: true, value: 0 });
    const age = (world.clock.now() - long + HOUR) / 1_000;
    expect(stopped).toMatchObject({ records: { known: true, value: 1 }, seconds: { known: true, value: age } });
    const { length } = world.source.reads;
    await world.clock.advance(20_000);
    expect(world.source.reads).toHaveLength(length);
    expect(lagOf(world)[1]?.seconds).toEqual({ known: true, value: age + 20 });
  });

  it("of a partition that nobody has committed: from its start record, or the log start", async () => {
    const world = new FleetWorld(2);
    world.log.append(0, "a", "1", world.clock.now());
    world.source.away = true;
    await world.start();
    world.service.revoked(1);
    await world.clock.advance(6_000);
    expect(lagOf(world).map(({ records, seconds, basis }) => [records, seconds, basis])).toEqual([
      [{ known: true, value: 1 }, { known: true, value: 6 }, "start"],
      [{ known: true, value: 0 }, { known: true, value: 0 }, "start"],
    ]);
    const latest = new FleetWorld(1);
    latest.log.append(0, "a", "1");
    latest.prepare = (source) => (source.metadataPartitions = 0);
    await latest.start({ startFrom: "latest" });
    latest.service.revoked(1);
    await latest.clock.advance(6_000);
    expect(lagOf(latest)[0]?.records).toEqual({ known: false, cause: "never-committed" });
  });

  it("is 0 where only control records and holes are left, and says so again when a record follows", async () => {
    const world = new FleetWorld(1);
    world.log.append(0, "a", "1");
    await started(world);
    world.service.revoked(1);
    world.log.skip(0, 5);
    await world.clock.advance(4_000);
    expect(lagOf(world)[0]).toMatchObject({ basis: "committed", records: { known: true, value: 0 } });
    world.log.append(0, "a", "2", world.clock.now());
    await world.clock.advance(4_000);
    expect(lagOf(world)[0]?.records).toEqual({ known: true, value: 6 });
    expect(lagOf(world)[0]?.seconds).toMatchObject({ known: true });
  });

  it("what was deleted before it was read: the oldest that is left, and no time to loss", async () => {
    const world = new FleetWorld(1);
    for (const text of ["1", "2", "3"]) world.log.append(0, "a", text, world.clock.now() - HOUR);
    world.log.retention = { retentionMs: 24 * HOUR, retentionBytes: undefined, compacted: false };
    world.plane.closeGate();
    await world.start();
    world.service.revoked(1);
    await world.clock.advance(5_000);
    expect(lagOf(world)[0]?.timeToLossSeconds).toEqual({ known: true, value: 23 * 3_600 - 5 });
    world.log.deleteBelow(0, 2);
    await world.clock.advance(5_000);
    expect(lagOf(world)[0]).toMatchObject({
      records: { known: true, value: 3 },
      seconds: { known: true, value: 3_610 },
      timeToLossSeconds: { known: true, value: 0 },
    });
  });

  it("a partition without a leader spoils its own row; a read that fails says why and is tried again", async () => {
    const world = new FleetWorld(2);
    for (const partition of [0, 1]) world.log.append(partition, "a", "1", world.clock.now() - HOUR);
    world.prepare = (source) => {
      const bounds = source.bounds.bind(source);
      source.bounds = async () =>
        new Map([...(await bounds()), [1, { known: false, cause: "leaderless", text: "no leader" }]]);
      source.onBegin = () => true;
      const read = source.read.bind(source);
      source.read = async (partition, from) => {
        if (source.reads.length === 0) {
          await read(partition, from);
          throw new SourceFault("timeout", "no answer");
        }
        return read(partition, from);
      };
    };
    await world.start();
    await world.clock.advance(2_000);
    expect(lagOf(world)[0]).toMatchObject({ records: { value: 1 }, seconds: { known: false, cause: "timeout" } });
    expect(lagOf(world)[1]?.records).toEqual({ known: false, cause: "leaderless" });
    await world.clock.advance(2_000);
    expect(lagOf(world)[0]?.seconds).toEqual({ known: true, value: 3_604 });
  });
});

describe("I14: lag of what another instance reads", () => {
  it("a commit that is ahead of the end that was read before it is no other log: nothing was left then", async () => {
    const world = await elsewhere();
    const bounds = world.source.bounds.bind(world.source);
    for (let round = 0; round < 3; round += 1) {
      world.source.bounds = async () => {
        const answer = await bounds();
        for (let more = 0; more < 50; more += 1) world.log.append(0, "a", "x");
        world.log.committed.set(0, world.log.log(0).end);
        return answer;
      };
      await world.clock.advance(2_000);
      expect(lagOf(world)[0]).toMatchObject({ basis: "committed", records: { known: true, value: 0 } });
    }
  });

  it("a commit that was ahead of the end before that was read: the log has lost it", async () => {
    const world = await elsewhere();
    world.log.committed.set(0, 9);
    await world.clock.advance(6_000);
    expect(lagOf(world)[0]?.records).toEqual({ known: false, cause: "end-below-position" });
  });
});

/** 20 records are applied; then the process dies, and the topic is another one with fewer records. */
async function replaced(): Promise<FleetWorld> {
  const world = new FleetWorld(1);
  for (let value = 0; value < 20; value += 1) world.log.append(0, "a", `${value}`);
  await started(world);
  await world.crash();
  world.log.recreate();
  for (const value of ["x", "y", "z"]) world.log.append(0, "a", value);
  return world;
}

describe("I14: lag of a log that contradicts what was applied", () => {
  const lost = { known: false, cause: "end-below-position" };

  it("is unknown while the owner waits whether the end comes back, and not counted from where reading once began", async () => {
    const world = await replaced();
    world.disputesMax = 1_000;
    await started(world);
    expect(world.runner().state.phase).toMatchObject({ phase: "starting" });
    expect(lagOf(world)[0]).toMatchObject({ records: lost, seconds: lost, basis: "none" });
    world.log.recreate();
    expect(lagOf(world)[0]).toMatchObject({ records: lost, basis: "none" });
  });

  it("is unknown where another instance has the partition: by the copy, since the commit is gone with the topic", async () => {
    const world = await replaced();
    await world.start();
    world.service.revoked(1);
    await world.clock.advance(8_000);
    expect(lagOf(world)[0]).toMatchObject({ records: lost, basis: "none" });
  });

  it("is unknown after the end fell below the position of a running partition", async () => {
    const world = new FleetWorld(1);
    for (let value = 0; value < 20; value += 1) world.log.append(0, "a", `${value}`);
    await started(world);
    Object.assign(world.log.log(0), { records: [], end: 3 });
    await world.clock.advance(2_000);
    expect(world.runner().state.phase.phase).toBe("holding");
    expect(lagOf(world)[0]).toMatchObject({ records: lost, basis: "none" });
  });
});

it("before the first reading the consumer's own cause is given", async () => {
  const world = new FleetWorld(1);
  world.log.partitions.length = 0;
  await world.start();
  const fleet = { services: () => [world.service], service: () => world.service };
  const unknown = () => new LagService(fleet, world.clock).all().unknown;
  expect(unknown()).toMatchObject([{ cause: "not-measured", measuredAt: 0 }]);
  world.service.state({ state: "backing-off", cause: "topic-missing", text: "no such topic", rebuilds: 1 });
  expect(unknown()).toMatchObject([{ cause: "topic-missing" }]);
});
