import { describe, expect, it } from "vitest";
import type { Fleet } from "../../src/fleet/fleet.ts";
import { LagService } from "../../src/lag/lag-service.ts";
import { FleetWorld } from "../support/fleet-world.ts";

function lagOf(world: FleetWorld) {
  const fleet: Pick<Fleet, "services" | "service"> = { services: () => [world.service], service: () => world.service };
  return new LagService(fleet, world.clock).all().partitions;
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
