import { describe, expect, it } from "vitest";
import { copyKey } from "../../src/core/keys.ts";
import { FleetWorld } from "../support/fleet-world.ts";
import { seeded } from "../support/seeded.ts";

const SEEDS = 60;
const STEPS = 80;
const PARTITIONS = 2;
const KEYS = ["a", "b", "c", "d", "e"];

/** What a careful reader of the log expects under each key: the newest good record, and where it stands. */
function expected(world: FleetWorld): Map<string, { text: string; offset: number } | undefined> {
  const newest = new Map<string, { text: string; offset: number } | undefined>();
  for (const { records } of world.log.partitions) {
    for (const { key, value, offset } of records) {
      if (key === null) continue;
      const text = value === null ? undefined : Buffer.from(value).toString();
      if (text === "bad") continue;
      newest.set(Buffer.from(key).toString(), text === undefined ? undefined : { text, offset });
    }
  }
  return newest;
}

function copyOf(world: FleetWorld, partition: number): number {
  const cell = world.plane.cells.get(`copy/${Buffer.from(copyKey("articles", 0, partition)).toString("hex")}`);
  return cell === undefined ? 0 : cell.order - 1;
}

/** Checked after every step. */
function check(world: FleetWorld, seen: Map<string, number>): void {
  for (let partition = 0; partition < PARTITIONS; partition += 1) {
    const committed = world.log.committed.get(partition) ?? 0;
    expect(committed, "no commit is ahead of its copy").toBeLessThanOrEqual(copyOf(world, partition));
  }
  for (const [key, cell] of world.plane.cells) {
    expect(cell.order, "nothing stored goes backwards").toBeGreaterThanOrEqual(seen.get(key) ?? 0);
    seen.set(key, cell.order);
  }
}

const ACTIONS: readonly ((world: FleetWorld, random: (below: number) => number) => Promise<void> | void)[] = [
  (world, random) => {
    for (let count = random(8); count >= 0; count -= 1) {
      const key = KEYS[random(KEYS.length)] ?? "a";
      const value = random(9) === 0 ? null : random(9) === 0 ? "bad" : `v${random(1_000)}`;
      world.log.append(KEYS.indexOf(key) % PARTITIONS, key, value);
    }
    world.source.poll();
  },
  (world, random) => world.log.skip(random(PARTITIONS), 1 + random(50)),
  (world) => world.source.poll(),
  (world, random) => world.clock.advance(random(3_000)),
  (world) => world.source.rejoin(),
  (world, random) => {
    world.plane.away = random(2) === 0;
  },
  (world, random) => {
    world.letters.away = random(2) === 0;
  },
  (world, random) => {
    world.source.away = random(2) === 0;
    world.source.poll();
  },
  (world, random) => {
    world.source.failCommits = random(3);
  },
  async (world) => {
    await world.crash();
    world.plane.away = false;
    await world.start();
  },
  async (world, random) => {
    if (random(3) > 0) return;
    await world.crash();
    world.plane.away = false;
    for (let partition = 0; partition < PARTITIONS; partition += 1) {
      const committed = world.log.committed.get(partition);
      if (committed !== undefined) world.log.committed.set(partition, random(committed + 1));
    }
    await world.start();
  },
];

async function simulate(seed: number): Promise<void> {
  const random = seeded(seed);
  const world = new FleetWorld(PARTITIONS);
  await world.start();
  const seen = new Map<string, number>();
  for (let turn = 0; turn < STEPS; turn += 1) {
    await ACTIONS[random(ACTIONS.length)]?.(world, random);
    await world.clock.advance(0);
    check(world, seen);
  }
  Object.assign(world.plane, { away: false });
  Object.assign(world.letters, { away: false });
  Object.assign(world.source, { away: false, failCommits: 0 });
  for (let turn = 0; turn < 12; turn += 1) {
    world.source.poll();
    await world.clock.advance(2_000);
  }
  check(world, seen);
  for (const [key, want] of expected(world)) {
    const stored = world.stored(key);
    expect(stored === undefined ? undefined : { text: stored.text, offset: stored.offset }, `key ${key}`).toEqual(want);
  }
  expect(world.service.parts.budget.usedBytes, "every batch gave its memory back, once").toBe(0);
  world.log.partitions.forEach(({ end }, partition) => {
    expect(world.runner(partition).state.watermark, "everything was applied").toBe(end);
    if (end > 0) expect(world.log.committed.get(partition), "everything was committed").toBe(end);
  });
}

describe("any schedule of crashes, rejoins, outages and group resets", () => {
  it.each(Array.from({ length: SEEDS }, (_unused, index) => index + 1))(
    "seed %i ends at the fold of the log, and no step breaks I1, I2, I6",
    async (seed) => {
      await simulate(seed);
    },
  );
});
