import { describe, expect, it } from "vitest";
import { StreamsError } from "../../src/errors.ts";
import { KvFault } from "../../src/ports/kv-plane.ts";
import { SourceFault } from "../../src/ports/record-source.ts";
import type { FakeRecord } from "../support/fake-log.ts";
import { FleetWorld } from "../support/fleet-world.ts";
import { Operators, ORDER } from "../support/operators.ts";
import { seeded } from "../support/seeded.ts";

const SEEDS = 60;
const STEPS = 70;
const PARTITIONS = 2;
const KEYS = ["a", "b", "c", "d"];

type Random = (below: number) => number;

/** A world, and every record that was ever written to its log, whatever retention took. */
interface Run {
  readonly world: FleetWorld;
  readonly operators: Operators;
  readonly written: readonly FakeRecord[][];
}

/** What operators may be told, and what happens when the store or the broker is away; anything else is a bug. */
async function tolerated(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof StreamsError || error instanceof KvFault || error instanceof SourceFault)) throw error;
    if (error instanceof StreamsError) expect(error.code).not.toBe("INTERNAL");
  }
}

function append({ world, written }: Run, random: Random): void {
  for (let count = random(6); count >= 0; count -= 1) {
    const key = KEYS[random(KEYS.length)] ?? "a";
    const partition = KEYS.indexOf(key) % PARTITIONS;
    world.log.append(partition, key, random(8) === 0 ? "bad" : `v${random(1_000)}`);
    const record = world.log.log(partition).records.at(-1);
    if (record !== undefined) written[partition]?.push(record);
  }
  world.source.poll();
}

async function revive({ world }: Run, meanwhile: () => void): Promise<void> {
  await world.crash();
  meanwhile();
  world.plane.away = false;
  await world.start();
}

async function resume({ world, operators }: Run, random: Random, partition: number): Promise<void> {
  const target = { source: "articles", partition };
  const { logStart, end } = world.log.log(partition);
  const from =
    ([logStart + random(end - logStart + 1), "log-start", "copy", "committed"] as const)[random(4)] ?? "copy";
  const acceptLoss = random(3) === 0 ? {} : { acceptLoss: { from: 0, toMax: 1_000_000 } };
  const call = (async () => {
    const etag = await operators.resumptions.etag(target);
    await operators.resumptions.resume(target, ORDER, { from, ...acceptLoss }, etag);
  })();
  await tolerated(call);
}

const ACTIONS: readonly ((run: Run, random: Random) => Promise<void> | void)[] = [
  append,
  append,
  ({ world }, random) => world.clock.advance(random(4_000)),
  ({ world }, random) => world.clock.advance(random(4_000)),
  ({ world }) => world.source.rejoin(),
  ({ world }, random) => {
    world.plane.away = random(3) === 0;
  },
  ({ world }, random) => {
    world.letters.away = random(3) === 0;
  },
  ({ world }, random) => {
    world.source.failCommits = random(3);
  },
  (run) => revive(run, () => {}),
  // Retention passes what is read, or not.
  ({ world }, random) => {
    const partition = random(PARTITIONS);
    const { logStart, end } = world.log.log(partition);
    if (random(2) === 0) world.log.deleteBelow(partition, logStart + random(end - logStart + 1));
  },
  // Somebody moves a commit, or it expires.
  (run, random) =>
    revive(run, () => {
      const partition = random(PARTITIONS);
      if (random(3) === 0) run.world.log.committed.delete(partition);
      else if (random(2) === 0) run.world.log.committed.set(partition, random(run.world.log.log(partition).end + 1));
    }),
  // A batch that cannot be read.
  ({ world }, random) => {
    const runner = world.service.runners.get(random(PARTITIONS));
    const position = runner?.state.position;
    if (runner === undefined || position === undefined) return;
    runner.fault({ partition: runner.partition, assignmentEpoch: 1, position, code: "undecodable", text: "damaged" });
  },
  (run, random) => resume(run, random, random(PARTITIONS)),
  (run, random) => resume(run, random, random(PARTITIONS)),
  ({ world, operators }, random) => {
    const until = random(2) === 0 ? undefined : world.clock.now() + 1 + random(10_000);
    const partition = random(PARTITIONS);
    const target = random(3) === 0 ? { source: "articles" } : { source: "articles", partition };
    return tolerated(operators.pauses.pause(target, ORDER, until));
  },
  ({ operators }, random) => {
    const partition = random(PARTITIONS);
    const target = random(3) === 0 ? { source: "articles" } : { source: "articles", partition };
    return tolerated(operators.pauses.unpause(target, ORDER));
  },
];

/** Everything away comes back, every pause ends, every stop is resumed without passing over more than is gone. */
async function settle({ world, operators }: Run): Promise<void> {
  Object.assign(world.plane, { away: false });
  Object.assign(world.letters, { away: false });
  Object.assign(world.source, { away: false, failCommits: 0 });
  await world.clock.advance(5_000);
  await operators.pauses.unpause({ source: "articles" }, ORDER);
  for (let round = 0; round < 8; round += 1) {
    for (let partition = 0; partition < PARTITIONS; partition += 1) {
      await operators.pauses.unpause({ source: "articles", partition }, ORDER);
      if (world.stopCode(partition) === undefined) continue;
      for (const from of ["copy", "log-start"] as const) {
        const acceptLoss = { from: 0, toMax: 1_000_000 };
        await tolerated(operators.resume({ from, acceptLoss }, partition));
      }
    }
    world.source.poll();
    await world.clock.advance(5_000);
  }
}

/** I12: a record that is not applied is in a gap, as lost, skipped or dead-lettered; a newer one of its key may stand. */
async function check({ world, operators, written }: Run): Promise<void> {
  for (let partition = 0; partition < PARTITIONS; partition += 1) {
    expect(world.stopCode(partition), "every stop can be resumed").toBeUndefined();
    const { end } = world.log.log(partition);
    expect(world.runner(partition).state.watermark ?? 0, "read to the end").toBe(end);
    const gaps = await operators.gapRanges(partition);
    const passed = (offset: number) => gaps.some(({ from, to }) => from <= offset && (to === undefined || offset < to));
    for (const { key, value, offset } of written[partition] ?? []) {
      const stored = world.stored(Buffer.from(key ?? []).toString());
      const good = Buffer.from(value ?? []).toString() !== "bad";
      const applied = good && stored !== undefined && stored.offset >= offset;
      expect(applied || passed(offset), `partition ${partition}, offset ${offset}: applied, or in the ledger`).toBe(
        true,
      );
    }
  }
  const { entries } = await operators.audit.list({});
  const applied = entries.filter(({ outcome }) => outcome === "applied");
  const named = new Set((await operators.gaps.list({})).gaps.flatMap(({ audit }) => audit ?? []));
  for (const { id, gaps } of applied.slice(0, 20))
    expect(gaps.length > 0, `audit ${id} names its gaps`).toBe(named.has(id));
}

async function simulate(seed: number): Promise<void> {
  const random = seeded(seed);
  const world = new FleetWorld(PARTITIONS);
  const run: Run = { world, operators: new Operators(world), written: Array.from({ length: PARTITIONS }, () => []) };
  await world.start();
  for (let turn = 0; turn < STEPS; turn += 1) {
    await ACTIONS[random(ACTIONS.length)]?.(run, random);
    await world.clock.advance(0);
  }
  await settle(run);
  await check(run);
}

describe("any schedule of crashes, retention, moved commits, stops, resumptions and pauses", () => {
  it.each(Array.from({ length: SEEDS }, (_unused, index) => index + 1))(
    "seed %i loses nothing in silence, and every stop can be resumed",
    async (seed) => {
      await simulate(seed);
    },
  );
});
