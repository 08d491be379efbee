import { describe, expect, it } from "vitest";
import type { Logger } from "../../src/ports/logger.ts";
import { FleetWorld } from "../support/fleet-world.ts";
import { worldReader } from "../support/world-reader.ts";
import { Operators, ORDER } from "../support/operators.ts";

interface Line {
  readonly text: string;
  readonly fields: object;
}

async function running(partitions = 2) {
  const world = new FleetWorld(partitions);
  const infos: Line[] = [];
  const info = (fields: object, text: string) => void infos.push({ text, fields });
  const logger: Logger = { debug() {}, info, warn() {}, error() {}, child: () => logger };
  world.logger = logger;
  await world.start();
  await world.clock.advance(3_000);
  const { reader } = worldReader(world);
  return {
    world,
    infos,
    source: () => reader.get("articles"),
    partition: (n: number) => reader.partition("articles", n),
  };
}

describe("a consumer that cannot join", () => {
  it("has been away since it lost the group, not since its last attempt, and one line says when that ended", async () => {
    const { world, infos, source, partition } = await running();
    const lost = world.clock.now();
    world.service.revoked(1);
    for (let rebuilds = 1; rebuilds <= 5; rebuilds += 1) {
      world.service.state({ state: "backing-off", cause: "broker-unreachable", text: "connection refused", rebuilds });
      await world.clock.advance(4_000);
      expect(source()).toMatchObject({ observed: "backing-off", since: lost, reason: "connection refused" });
      world.service.state({ state: "joining", rebuilds });
      await world.clock.advance(1_000);
      expect(partition(0)).toMatchObject({ observed: "unassigned", since: lost });
      expect(source().consumer).toMatchObject({ state: "joining", cause: "broker-unreachable" });
    }
    expect(infos.filter(({ text }) => /group again/.test(text))).toEqual([]);
    world.source.rejoin();
    await world.clock.advance(3_000);
    expect(infos.filter(({ text }) => /group again/.test(text))).toMatchObject([{ fields: { awayMs: 25_000 } }]);
    expect(source().observed).toBe("running");
    expect(source().since).toBeGreaterThanOrEqual(lost + 25_000);
  });

  it("says what it asked and since when nothing answers; after a session that is backing off", async () => {
    const { world, source, partition } = await running();
    const lost = world.clock.now();
    world.service.revoked(1);
    world.service.state({ state: "joining", rebuilds: 1 });
    await world.clock.advance(30_000);
    const asked = new Date(lost).toISOString();
    expect(source()).toMatchObject({ observed: "starting", reason: expect.stringContaining(asked) });
    expect(source().reason).toContain("group ysearch-streams.articles");
    await world.clock.advance(1);
    expect(source()).toMatchObject({ observed: "backing-off", since: lost, reason: expect.stringContaining(asked) });
    expect(source().consumer).toMatchObject({ state: "joining", cause: "timeout" });
    expect(partition(1).reason).toContain(asked);
  });
});

describe("holds", () => {
  it("that end are one line, with how long it was", async () => {
    const { world, infos } = await running();
    world.plane.away = true;
    world.log.append(0, "a", "1");
    world.source.poll();
    await world.clock.advance(8_000);
    expect(infos.filter(({ text }) => /was held/.test(text))).toEqual([]);
    world.plane.away = false;
    await world.clock.advance(5_000);
    const [line, ...more] = infos.filter(({ text }) => /was held/.test(text));
    expect(more).toEqual([]);
    expect(line?.fields).toMatchObject({ partition: 0, held: "KV_NO_QUORUM" });
  });
});

describe("pauses", () => {
  it("one of two is told of a source that runs", async () => {
    const { world, source } = await running();
    await new Operators(world).pauses.pause({ source: "articles", partition: 1 }, ORDER, undefined);
    expect(source()).toMatchObject({ observed: "running", reason: "1 of 2 partitions paused: 1" });
  });

  it("that ended: partition and source run since then", async () => {
    const { world, source, partition } = await running();
    const { pauses } = new Operators(world);
    await pauses.pause({ source: "articles" }, ORDER, undefined);
    const paused = world.clock.now();
    await world.clock.advance(60_000);
    expect([source().since, partition(0).since]).toEqual([paused, paused]);
    await pauses.unpause({ source: "articles" }, ORDER);
    const ended = world.clock.now();
    await world.clock.advance(60_000);
    expect(source()).toMatchObject({ observed: "running", since: ended });
    expect(partition(0)).toMatchObject({ observed: "running", since: ended });
  });
});
