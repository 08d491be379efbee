import { describe, expect, it } from "vitest";
import { IngestJudge } from "../../src/lag/ingest-health.ts";
import { LagService } from "../../src/lag/lag-service.ts";
import { FleetWorld } from "../support/fleet-world.ts";

function judgeOf(world: FleetWorld, phase: "starting" | "serving" = "serving", hasQuorum = () => true) {
  const fleet = { services: () => [world.service], service: () => world.service, phase };
  return new IngestJudge(fleet, new LagService(fleet, world.clock), hasQuorum);
}

describe("whether ingestion is within a caller's limits", () => {
  it("within: nothing is stopped, lag is known and small", async () => {
    const world = new FleetWorld(2);
    world.log.append(0, "a", "1");
    await world.start();
    await world.clock.advance(6_000);
    expect(judgeOf(world).ingest({ maxStopped: 0, maxLagSeconds: 0 })).toMatchObject({
      healthy: true,
      sources: [{ source: "articles", healthy: true, stopped: 0, holding: [], reasons: [] }],
    });
    expect(judgeOf(world, "starting").ingest({ maxStopped: 0 }).healthy).toBe(false);
  });

  it("owners without a quorum are a reason also where nothing is late", async () => {
    const world = new FleetWorld(1);
    await world.start();
    await world.clock.advance(6_000);
    const owners = { up: 3 };
    const judge = judgeOf(world, "serving", () => owners.up >= 2);
    expect(judge.ingest({ maxStopped: 0, maxLagSeconds: 0 }).healthy).toBe(true);
    owners.up = 1;
    expect(judge.ingest({ maxStopped: 9 })).toMatchObject({
      healthy: false,
      sources: [{ healthy: false, reasons: [{ reason: "no-quorum", cause: "KV_NO_QUORUM", partitions: [] }] }],
    });
  });

  it("a stop counts against its limit, and its lag against that of lag", async () => {
    const world = new FleetWorld(2);
    world.log.append(1, "b", "bad", world.clock.now());
    await world.start({ onPoison: "stop" });
    await world.clock.advance(6_000);
    const reasons = (limits: object) =>
      judgeOf(world)
        .ingest({ maxStopped: 0, ...limits })
        .sources.flatMap((source) => source.reasons);
    expect(reasons({})).toEqual([{ reason: "stopped", cause: "POISON", partitions: [1] }]);
    expect(reasons({ maxStopped: 1, maxLagSeconds: 60 })).toEqual([]);
    expect(reasons({ maxStopped: 1, maxLagSeconds: 5 })).toEqual([
      { reason: "lag-above-limit", cause: "above-limit", partitions: [1] },
    ]);
  });

  it("what is unknown is not within limits, and says why", async () => {
    const world = new FleetWorld(2);
    await world.start();
    const reasons = (limits: object) =>
      judgeOf(world)
        .ingest({ maxStopped: 9, ...limits })
        .sources.flatMap((source) => source.reasons);
    const unknown = (cause: string) => [{ reason: "lag-unknown", cause, partitions: [0, 1] }];
    expect(reasons({})).toEqual(unknown("not-measured"));
    await world.clock.advance(6_000);
    expect(reasons({})).toEqual([]);
    world.source.away = true;
    await world.clock.advance(6_000);
    expect(reasons({})).toEqual(unknown("broker-unreachable"));
    expect(reasons({ maxLagSeconds: 1_000_000 })).toEqual(unknown("broker-unreachable"));
  });

  it("a log that contradicts what was applied is not within limits", async () => {
    const world = new FleetWorld(1);
    for (let value = 0; value < 20; value += 1) world.log.append(0, "a", `${value}`);
    await world.start();
    await world.clock.advance(4_000);
    await world.crash();
    world.disputesMax = 1_000;
    world.log.recreate();
    world.log.append(0, "a", "x");
    await world.start();
    await world.clock.advance(4_000);
    const { healthy, sources } = judgeOf(world).ingest({ maxStopped: 0 });
    expect([healthy, sources[0]?.holding, sources[0]?.reasons]).toEqual([
      false,
      [0],
      [{ reason: "lag-unknown", cause: "end-below-position", partitions: [0] }],
    ]);
  });

  it("a source that is refused is not within limits, however short its log", async () => {
    const world = new FleetWorld(1);
    world.log.retention = { retentionMs: 5, retentionBytes: undefined, compacted: false };
    await world.start({ worstLagMs: 10 });
    await world.clock.advance(6_000);
    expect(judgeOf(world).ingest({ maxStopped: 0 }).sources[0]?.reasons).toEqual([
      { reason: "not-started", cause: "RETENTION_TOO_SHORT", partitions: [] },
    ]);
  });
});
