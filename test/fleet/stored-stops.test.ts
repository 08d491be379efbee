import { describe, expect, it } from "vitest";
import { copyKey } from "../../src/core/keys.ts";
import { encodeCopy } from "../../src/core/partition/copy.ts";
import { LagService } from "../../src/lag/lag-service.ts";
import { SourceFault } from "../../src/ports/record-source.ts";
import { FleetWorld } from "../support/fleet-world.ts";
import { worldReader } from "../support/world-reader.ts";

/** What REST says of the world's one source. */
function read(world: FleetWorld) {
  const { fleet, reader } = worldReader(world);
  const [lag] = new LagService(fleet, world.clock).all().partitions;
  return { source: reader.get("articles"), partition: reader.partition("articles", 0), lag };
}

/** A partition whose log has lost what it wanted next. */
async function stopped(): Promise<FleetWorld> {
  const world = new FleetWorld(2);
  world.log.append(0, "a", "1");
  await world.start();
  await world.clock.advance(3_000);
  await world.crash();
  for (let index = 0; index < 5; index += 1) world.log.append(0, "a", "2");
  world.log.deleteBelow(0, 4);
  await world.start();
  await world.clock.advance(3_000);
  expect(world.stopCode()).toBe("BELOW_LOG_START");
  return world;
}

describe("I13: a stop is seen whoever runs its partition", () => {
  it("after the group gave the partition away, with its remedy, its moment and what was committed", async () => {
    const world = await stopped();
    const before = read(world).partition;
    world.service.revoked(1);
    await world.clock.advance(10);
    const { partition, source } = read(world);
    expect(partition).toMatchObject({ observed: "stopped", stop: before.stop, since: before.since, committed: 1 });
    expect(partition.committedFrom).toMatchObject({ basis: "group" });
    expect(source).toMatchObject({ partitions: { stopped: 1 }, reason: "partition 0: BELOW_LOG_START" });
    expect(source.observed).toBe("degraded");
  });

  it("after a restart without a broker, and the source's own state names it beside the broker", async () => {
    const world = await stopped();
    await world.crash();
    world.prepare = (source) => {
      source.away = true;
      source.start = (events) =>
        events.state({ state: "backing-off", cause: "timeout", text: "no broker", rebuilds: 3 });
    };
    await world.start();
    const { partition, source } = read(world);
    expect(partition).toMatchObject({ observed: "stopped", committed: 1, committedFrom: { basis: "copy" } });
    expect(source).toMatchObject({
      observed: "backing-off",
      reason: "no broker; partition 0: BELOW_LOG_START",
      partitions: { stopped: 1, unassigned: 1 },
    });
  });

  it("while its start cannot be decided", async () => {
    const world = await stopped();
    await world.crash();
    world.prepare = (source) => {
      source.committed = () => Promise.reject(new SourceFault("timeout", "not yet"));
    };
    await world.start();
    expect(world.runner().state.phase.phase).toBe("starting");
    expect(read(world).partition).toMatchObject({ observed: "stopped", stop: { code: "BELOW_LOG_START" } });
  });

  it("is void once the copy is beyond what the stopped life could reach", async () => {
    const world = await stopped();
    world.service.revoked(1);
    const copy = encodeCopy({ watermark: 6, fingerprint: undefined, logStartSeen: 4 });
    await world.plane.write([{ space: "copy", key: copyKey("articles", 0, 0), ...copy }]);
    await world.clock.advance(3_000);
    expect(read(world).partition).toMatchObject({ observed: "unassigned" });
  });

  it("stands in memory while the store is away", async () => {
    const world = await stopped();
    world.service.revoked(1);
    await world.clock.advance(10);
    world.plane.away = true;
    await world.clock.advance(10_000);
    expect(read(world).partition.observed).toBe("stopped");
  });
});

describe("a partition that is not run says why, and under which topic epoch", () => {
  it("names the topic epoch of the binding", async () => {
    const world = new FleetWorld(2);
    await world.start();
    await world.crash();
    world.log.grow(4);
    await world.start();
    await world.clock.advance(3_000);
    world.service.revoked(1);
    const { parts } = world.service;
    expect([0, 1, 2, 3].map((partition) => parts.survey.topicEpochOf(partition))).toEqual([0, 0, 1, 1]);
  });

  it("tells a broker that is away from another member", async () => {
    const world = new FleetWorld(1);
    await world.start();
    await world.clock.advance(3_000);
    world.service.revoked(1);
    expect(read(world).partition.reason).toMatch(/another member/);
    world.service.state({ state: "backing-off", cause: "broker-unreachable", text: "connection refused", rebuilds: 1 });
    expect(read(world).partition.reason).toMatch(/not in the group.*connection refused/);
    world.service.assigned({ epoch: 7, partitions: [0] });
    world.source.away = true;
    world.service.state({ state: "joined", rebuilds: 1 });
    await world.clock.advance(0);
    expect(read(world).partition.reason).toMatch(/cannot be taken yet: BROKER_UNREACHABLE/);
  });
});

describe("I14: lag where the committed offset itself is in doubt", () => {
  it("is unknown with the stop as its cause, not zero", async () => {
    const world = new FleetWorld(1);
    world.log.append(0, "a", "1");
    await world.start();
    await world.clock.advance(3_000);
    await world.crash();
    world.plane.cells.clear();
    world.plane.records.clear();
    await world.start();
    await world.clock.advance(3_000);
    expect(world.stopCode()).toBe("KV_COPY_MISSING");
    const doubt = { basis: "none", records: { known: false, cause: "stopped-kv-copy-missing" } };
    expect(read(world).lag).toMatchObject(doubt);
    world.service.revoked(1);
    await world.clock.advance(3_000);
    expect(read(world).lag).toMatchObject(doubt);
  });

  it("a source that never came up has a row that says so", async () => {
    const world = new FleetWorld(1);
    world.prepare = (source) => {
      source.away = true;
    };
    await world.start();
    await world.clock.advance(5_000);
    const fleet = { services: () => [world.service], service: () => world.service };
    expect(new LagService(fleet, world.clock).all()).toMatchObject({
      partitions: [],
      unknown: [{ source: "articles", cause: "broker-unreachable" }],
    });
  });
});
