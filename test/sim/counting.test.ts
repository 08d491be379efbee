import { describe, expect, it } from "vitest";
import { RevisionRecord } from "../../src/control/records.ts";
import { CountingLedgers } from "../../src/ledgers/counting-ledgers.ts";
import { countingOf, DEFAULT_COUNTING_OF_SOURCE, type SourceDefinition } from "../../src/core/source.ts";
import { expectedSlots, storedSlots } from "../support/counted-sums.ts";
import { FleetWorld } from "../support/fleet-world.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { QuorumPlane } from "../support/quorum-plane.ts";
import { seeded } from "../support/seeded.ts";
import { readRecord } from "../../src/control/json-record.ts";

const SEEDS = Number(process.env["SIM_SEEDS"] ?? 60);
const FIRST = Number(process.env["SIM_SEED"] ?? 1);
const STEPS = 60;
const PARTITIONS = 2;
const ARTICLES = ["a", "b", "c", "d", "e"];
const HOUR = 3_600_000;

type Random = (below: number) => number;

/** One source through all lives of its process. */
interface Run {
  readonly world: FleetWorld;
  readonly plane: QuorumPlane;
  change: Partial<SourceDefinition>;
  readonly late: QuorumPlane["before"];
}

function change(random: Random): Partial<SourceDefinition> {
  const slotWidthMs = [HOUR, HOUR / 4, 60_000][random(3)] ?? HOUR;
  const segmentEveryMs = [60_000, 3_600_000][random(2)] ?? 60_000;
  return { kind: "traffic", counting: { ...DEFAULT_COUNTING_OF_SOURCE, slotWidthMs, segmentEveryMs } };
}

function append({ world }: Run, random: Random): void {
  const partition = random(PARTITIONS);
  for (let count = random(12); count >= 0; count -= 1) {
    const article = ARTICLES[random(ARTICLES.length)] ?? "a";
    const at = world.clock.now() - random(HOUR);
    const visitor = random(2) === 0 ? "" : `${1 + random(9)}000000007`;
    const value = random(9) === 0 ? "bad" : `${article}|view|${at}|${visitor}|${random(3) === 0 ? random(4) : ""}`;
    world.log.append(partition, article, value, world.clock.now());
  }
  world.source.poll();
}

async function revive(run: Run, random: Random): Promise<void> {
  if (random(3) === 0) await run.world.freeze();
  else await run.world.crash();
  if (random(3) === 0) run.change = change(random);
  run.world.batchRecords = 1 + random(6);
  await start(run);
}

const ACTIONS: readonly ((run: Run, random: Random) => Promise<void> | void)[] = [
  append,
  append,
  ({ world }, random) => world.clock.advance(random(150)),
  ({ world }, random) => world.clock.advance(random(random(4) === 0 ? 40_000 : 3_000)),
  ({ world }, random) => world.log.skip(random(PARTITIONS), 1 + random(20)),
  ({ world }) => world.source.rejoin(),
  ({ plane }, random) => {
    plane.away = random(2) === 0;
  },
  ({ world }, random) => {
    world.letters.away = random(2) === 0;
  },
  ({ world }, random) => {
    world.source.away = random(2) === 0;
    world.source.poll();
  },
  ({ world }, random) => {
    world.source.failCommits = random(3);
  },
  ({ world }, random) => {
    const runner = world.service.runners.get(random(PARTITIONS));
    runner?.pause(!runner.state.paused);
  },
  revive,
  async (run, random) => {
    const { world } = run;
    if (random(3) > 0) return;
    await world.crash();
    for (let partition = 0; partition < PARTITIONS; partition += 1) {
      const committed = world.log.committed.get(partition);
      if (committed !== undefined) world.log.committed.set(partition, random(committed + 1));
    }
    await start(run);
  },
];

/** A world in which control records are read and written late, and answers are lost. */
function open(random: Random): Run {
  const clock = new ManualClock();
  const plane = new QuorumPlane(clock, random);
  const world = new FleetWorld(PARTITIONS, clock, plane);
  world.slotBytes = [1_000, 4_000, 1_000_000][random(3)] ?? 0;
  world.reserveAhead = 1 + random(20);
  plane.failing = [0, 4, 12][random(3)] ?? 0;
  return {
    world,
    plane,
    change: change(random),
    late: (call) => (random(6) > 0 ? undefined : late(clock, call, random)),
  };
}

function late(clock: ManualClock, call: string, random: Random): Promise<void> | undefined {
  if (call !== "read" && call !== "set") return undefined;
  return new Promise((resolve) => clock.after(random(120), resolve));
}

/** Starts a process; what it reads before it runs comes at once. */
async function start({ world, plane, change: changed, late: before }: Run): Promise<void> {
  plane.away = false;
  plane.before = () => {};
  await world.start(changed);
  plane.before = before;
}

async function settle({ world, plane }: Run): Promise<void> {
  Object.assign(plane, { away: false, failing: 0 });
  world.letters.away = false;
  Object.assign(world.source, { away: false, failCommits: 0 });
  plane.before = () => {};
  for (let turn = 0; turn < 14; turn += 1) {
    for (const runner of world.service.runners.values()) runner.pause(false);
    world.source.poll();
    await world.clock.advance(2_000);
  }
}

async function check({ world, plane }: Run): Promise<void> {
  const widths = new Map<number, number>();
  for (const name of plane.records.keys()) {
    if (!name.startsWith("revisions/articles/")) continue;
    const record = await readRecord(plane.control, name, RevisionRecord);
    widths.set(Number(name.split("/").at(-1)), countingOf(record?.value.definition ?? {}).slotWidthMs);
  }
  for (const [partition, { end, records }] of world.log.partitions.entries()) {
    expect(world.stopCode(partition), `partition ${partition}`).toBeUndefined();
    expect(world.runner(partition).state.watermark, "everything was counted").toBe(end);
    const ledger = await new CountingLedgers(plane.control).read({ source: "articles", partition, log: 0 });
    const counted = {
      source: "articles",
      partition,
      ledger,
      records,
      widthOf: (revision: number) => widths.get(revision) ?? 0,
    };
    expect(storedSlots(counted, plane.slots())).toEqual(expectedSlots(counted));
  }
  expect(world.service.parts.budget.usedBytes, "every batch gave its memory back, once").toBe(0);
}

async function simulate(seed: number): Promise<void> {
  const random = seeded(seed);
  const run = open(random);
  await start(run);
  for (let turn = 0; turn < STEPS; turn += 1) {
    await ACTIONS[random(ACTIONS.length)]?.(run, random);
    await run.world.clock.advance(0);
  }
  await settle(run);
  await check(run);
}

describe("any schedule of crashes, frozen processes, rejoins, outages, changes and group resets (I8, I9, I17)", () => {
  it.each(Array.from({ length: SEEDS }, (_unused, index) => FIRST + index))(
    "seed %i counts every record once",
    async (seed) => {
      await simulate(seed);
    },
  );
});
