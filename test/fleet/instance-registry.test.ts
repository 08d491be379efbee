import { describe, expect, it } from "vitest";
import { INSTANCE_BEAT_MS, INSTANCE_LIFE_MS, InstanceRegistry } from "../../src/fleet/instance-registry.ts";
import { FleetWorld } from "../support/fleet-world.ts";

function registryOf(world: FleetWorld, id: string) {
  const fleet = { phase: "serving" as "serving" | "draining", services: () => [world.service] };
  const { clock, logger } = world;
  const registry = new InstanceRegistry({
    id,
    release: `1.0.${id}`,
    fleet,
    control: world.plane.control,
    clock,
    logger,
  });
  return { fleet, registry };
}

describe("who runs", () => {
  it("is told by each process of itself: its version, its phase and its partitions, whoever is asked", async () => {
    const world = new FleetWorld(3);
    await world.start();
    const [one, two] = [registryOf(world, "1"), registryOf(world, "2")];
    one.registry.start();
    await world.clock.advance(1_000);
    two.registry.start();
    await world.clock.advance(1_000);
    const { instances } = await two.registry.list();
    expect(instances.map(({ id, release, phase }) => [id, release, phase])).toEqual([
      ["1", "1.0.1", "serving"],
      ["2", "1.0.2", "serving"],
    ]);
    expect(instances[0]?.sources).toEqual([{ source: "articles", partitions: [0, 1, 2] }]);
    expect(await one.registry.list()).toEqual(await two.registry.list());
    one.fleet.phase = "draining";
    world.service.revoked(1);
    await world.clock.advance(INSTANCE_BEAT_MS);
    expect((await two.registry.list()).instances[0]).toMatchObject({
      phase: "draining",
      sources: [{ partitions: [] }],
    });
  });

  it("forgets who says nothing any more, and at once who says that it ends", async () => {
    const world = new FleetWorld(1);
    await world.start();
    const [killed, ended, left] = ["1", "2", "3"].map((id) => registryOf(world, id));
    for (const entry of [killed, ended, left]) entry?.registry.start();
    await world.clock.advance(1_000);
    const ids = async () => (await left?.registry.list())?.instances.map(({ id }) => id);
    expect(await ids()).toEqual(["1", "2", "3"]);
    await ended?.registry.stop();
    expect(await ids()).toEqual(["1", "3"]);
    // Killed: its beats do not come any more.
    const other = registryOf(world, "4");
    await killed?.registry.stop();
    other.registry.start();
    await world.clock.advance(1_000);
    expect(await ids()).toEqual(["3", "4"]);
    world.plane.away = true;
    await world.clock.advance(INSTANCE_LIFE_MS + INSTANCE_BEAT_MS);
    world.plane.away = false;
    expect(await ids()).toEqual([]);
    await world.clock.advance(INSTANCE_BEAT_MS);
    expect(await ids()).toEqual(["3", "4"]);
  });
});
