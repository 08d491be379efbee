import { describe, expect, it } from "vitest";
import { partitionView } from "../../src/queries/partition-view.ts";
import { FleetWorld } from "../support/fleet-world.ts";

function view(world: FleetWorld) {
  return partitionView("articles", world.runner(), world.clock.now(), undefined, undefined);
}

describe("the record that holds a partition back", () => {
  it("is named by offset, key and age while its batch is not written, and by nobody who holds it", async () => {
    const world = new FleetWorld(1);
    world.log.skip(0, 4);
    for (const key of ["a", "b"]) world.log.append(0, key, "1");
    world.plane.closeGate();
    await world.start();
    await world.clock.advance(3_000);
    expect(view(world).oldestUnacknowledged).toEqual({ offset: 4, ageMs: 3_000, key: new TextEncoder().encode("a") });
    world.plane.openGate();
    await world.clock.advance(3_000);
    expect(view(world).oldestUnacknowledged).toBeUndefined();
  });

  it("names the owners that hold it, while it waits for a dead letter of its batch", async () => {
    const world = new FleetWorld(1);
    world.log.append(0, "a", "1");
    world.log.append(0, null, "bad");
    world.letters.away = true;
    await world.start();
    await world.clock.advance(500);
    expect(view(world).oldestUnacknowledged).toMatchObject({
      offset: 0,
      key: new TextEncoder().encode("a"),
      ackedBy: ["a", "b"],
    });
    world.letters.away = false;
    await world.clock.advance(5_000);
    expect(view(world).oldestUnacknowledged).toBeUndefined();
  });
});
