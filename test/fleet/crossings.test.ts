import { describe, expect, it } from "vitest";
import { FleetWorld } from "../support/fleet-world.ts";

describe("a key that is produced to two partitions", () => {
  it("is found where its newer record loses, and named by a hash", async () => {
    const world = new FleetWorld(2);
    for (let index = 0; index < 5; index += 1) world.log.append(1, "secret-key", `old ${index}`);
    await world.start();
    await world.clock.advance(3_000);
    world.log.append(0, "secret-key", "newest");
    world.source.poll();
    await world.clock.advance(2_000);
    expect(world.stored("secret-key")?.text).toBe("old 4");
    expect(world.service.parts.tally.crossings).toMatchObject({ lost: 1 });
    const [entry] = world.service.parts.errors.list();
    expect(entry?.code).toBe("KEY_IN_TWO_PARTITIONS");
    expect(entry?.text).toMatch(
      /^partition 0: .*key with hash [0-9a-f]{12}: offset 0 here lost to offset 4 of partition 1/,
    );
    expect(JSON.stringify(entry)).not.toContain("secret");
  });

  it("is not seen in a key that stays, is replayed, or has moved with the topic's growth", async () => {
    const world = new FleetWorld(2);
    for (let index = 0; index < 9; index += 1) world.log.append(0, "a", `${index}`);
    await world.start();
    await world.clock.advance(3_000);
    await world.crash();
    world.log.committed.set(0, 1);
    world.log.grow(4);
    world.log.append(3, "a", "moved");
    await world.start();
    await world.clock.advance(5_000);
    expect(world.stored("a")?.text).toBe("moved");
    const { crossings } = world.service.parts.tally;
    expect(crossings.sampled).toBeGreaterThan(0);
    expect(crossings.lost).toBe(0);
  });

  it("is looked for once a second at a few keys, whatever the load", async () => {
    const world = new FleetWorld(1);
    let restored = 0;
    await world.start();
    world.plane.before = (call, name) => {
      if (call === "restore" && name === "document") restored += 1;
    };
    for (let round = 0; round < 40; round += 1) {
      for (let index = 0; index < 50; index += 1) world.log.append(0, `k${index}`, "v");
      world.source.poll();
      await world.clock.advance(100);
    }
    expect(restored).toBeGreaterThan(0);
    expect(restored).toBeLessThanOrEqual(16 * 5);
  });
});
