import { describe, expect, it } from "vitest";
import { FleetWorld } from "../support/fleet-world.ts";
import { explaining, started } from "./explaining.ts";

function produce(world: FleetWorld, values: readonly string[], key = "a"): void {
  for (const value of values) world.log.append(0, key, value, world.clock.now());
}

const OLD = ["1", "2", "bad", "4", "5", "6"];

/** Six records were applied, one of them to the dead letters; then the topic is another one. */
async function replaced(values: readonly string[], change: (world: FleetWorld) => void = () => {}) {
  const world = new FleetWorld(1);
  produce(world, OLD);
  await started(world);
  await world.crash();
  world.log.recreate();
  produce(world, values);
  change(world);
  await started(world);
  return world;
}

async function told(world: FleetWorld) {
  const { at } = explaining(world);
  const views = [];
  for (let offset = world.log.log(0).logStart; offset < world.log.log(0).end; offset += 1) views.push(await at(offset));
  return views.map(({ verdict, reason, cause }) => [verdict, reason, cause]);
}

describe("explain tells nothing of a log that was never read", () => {
  it("stopped, with the log shorter, another cluster's, or unrecognised: not read", async () => {
    const shorter = await replaced(["x", "y", "z"]);
    await shorter.clock.advance(60_000);
    const stopped = (code: string, count: number) => Array.from({ length: count }, () => ["not-read", "stopped", code]);
    expect(await told(shorter)).toEqual(stopped("ABOVE_LOG_END", 3));
    const elsewhere = await replaced(["x", "y", "z"], ({ log }) => (log.clusterId = "cluster-2"));
    expect(await told(elsewhere)).toEqual(stopped("IDENTITY_CHANGED", 3));
    const other = new FleetWorld(1);
    produce(other, OLD);
    await started(other);
    other.log.recreate();
    // Of another key, so that nothing is stored: it would be missing.
    produce(other, ["p", "q", "r", "s", "t", "u", "v"], "b");
    await other.clock.advance(4_000);
    expect(other.stopCode()).toBe("COMMIT_VANISHED");
    expect(await told(other)).toEqual(stopped("COMMIT_VANISHED", 7));
  });

  it("held while it contradicts what was applied: not read", async () => {
    const world = await replaced(["x", "y", "z"], (changed) => (changed.disputesMax = 1_000));
    expect(world.runner().state.phase.phase).toBe("starting");
    expect(await told(world)).toEqual(Array.from({ length: 3 }, () => ["not-read", "holding", "OUT_OF_RANGE"]));
  });

  it("before anybody has noticed: by the last applied record", async () => {
    const world = new FleetWorld(1);
    produce(world, OLD);
    await started(world);
    world.log.recreate();
    produce(world, ["p", "q", "r", "s", "t", "u"]);
    expect(world.runner().state.phase.phase).toBe("running");
    expect(await told(world)).toEqual(Array.from({ length: 6 }, () => ["not-read", "holding", "LOG_NOT_RECOGNISED"]));
  });

  it("a log that is recognised is told of, whatever its partition was stopped for", async () => {
    const world = new FleetWorld(1);
    produce(world, OLD);
    await started(world);
    world.log.committed.clear();
    await world.clock.advance(4_000);
    expect(world.stopCode()).toBe("COMMIT_VANISHED");
    expect((await told(world)).map(([verdict]) => verdict)).toEqual([
      "superseded",
      "superseded",
      "dead-lettered",
      "superseded",
      "superseded",
      "applied",
    ]);
  });
});
