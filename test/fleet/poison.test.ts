import { describe, expect, it } from "vitest";
import { KvFault } from "../../src/ports/kv-plane.ts";
import { FleetWorld } from "../support/fleet-world.ts";
import { Operators } from "../support/operators.ts";

/** A world whose log is spelled: `.` a good record, `x` poison. */
function worldOf(log: string): FleetWorld {
  const world = new FleetWorld();
  append(world, log);
  return world;
}

function append(world: FleetWorld, log: string): void {
  for (const record of log) {
    const offset = world.log.log(0).end;
    world.log.append(0, `k${offset}`, record === "x" ? "bad" : "good");
  }
}

async function restart(world: FleetWorld, change = {}): Promise<void> {
  await world.crash();
  await world.start(change);
  await world.clock.advance(3_000);
}

describe("dead letters in the gap ledger (I12)", () => {
  it("are one entry that grows, entered before their offsets count", async () => {
    const world = worldOf("..x..x.");
    world.plane.before = (call, name) => {
      if (call === "set" && name.startsWith("gaps/")) throw new KvFault("KV_TIMEOUT", "no answer");
    };
    await world.start();
    await world.clock.advance(3_000);
    expect(world.runner().state.watermark, "the first batch is not acknowledged").toBe(0);
    world.plane.before = () => {};
    await world.clock.advance(5_000);
    const operators = new Operators(world);
    expect([world.log.committed.get(0), await operators.gapRanges()]).toEqual([
      7,
      [{ from: 2, to: 6, cause: "dead-letter", records: 2 }],
    ]);
    const [gap] = (await operators.gaps.list({})).gaps;
    expect(gap).toMatchObject({ actor: "service", codes: [{ code: "DECODE_TEST", records: 2 }] });
    expect(gap?.audit).toBeUndefined();
  });

  it("that are read again after a crash, or after a group reset, are entered once", async () => {
    const world = worldOf(".x.x.x.");
    await world.start();
    await world.clock.advance(3_000);
    world.log.committed.set(0, 1);
    await restart(world);
    expect(world.letters.letters.length).toBeGreaterThan(3);
    expect(await new Operators(world).gapRanges()).toEqual([{ from: 1, to: 6, cause: "dead-letter", records: 3 }]);
  });

  it("are listed by cause, actor, time and page", async () => {
    const world = worldOf(".x.");
    await world.start();
    await world.clock.advance(3_000);
    const { gaps } = new Operators(world);
    const count = async (query: object) => (await gaps.list(query)).gaps.length;
    expect(await count({ cause: "dead-letter", actor: "service" })).toBe(1);
    expect(await count({ cause: "lost" })).toBe(0);
    expect(await count({ actor: "chief" })).toBe(0);
    expect(await count({ sinceMs: world.clock.now() + 1 })).toBe(0);
    expect(await count({ untilMs: 1 })).toBe(0);
    await expect(gaps.list({ source: "nobody" })).rejects.toMatchObject({ code: "SOURCE_UNKNOWN" });
  });
});

async function stopped(): Promise<{ world: FleetWorld; operators: Operators }> {
  const world = worldOf("....x..x.");
  await world.start({ onPoison: "stop" });
  await world.clock.advance(3_000);
  expect([world.stopCode(), world.log.committed.get(0)]).toEqual(["POISON", 4]);
  return { world, operators: new Operators(world) };
}

describe("policy stop", () => {
  it("goes on past the record when its loss is accepted", async () => {
    const { world, operators } = await stopped();
    await expect(operators.resume({ from: 5 })).rejects.toMatchObject({ extra: { lost: { from: "4", to: "5" } } });
    await operators.resume({ from: 5, acceptLoss: { from: 4, toMax: 5 } });
    expect([world.stopCode(), world.log.committed.get(0), world.letters.letters]).toEqual(["POISON", 7, []]);
    expect(await operators.gapRanges()).toEqual([{ from: 4, to: 5, cause: "skipped" }]);
  });

  it("lets poison below `allowPoison` go to the dead letters, over restarts, and stops at the next", async () => {
    const { world, operators } = await stopped();
    await operators.resume({ from: "committed", allowPoison: { to: 5 } });
    expect([world.stopCode(), world.letters.letters.map(({ offset }) => offset)]).toEqual(["POISON", [4]]);
    world.letters.away = true;
    await operators.resume({ from: "committed", allowPoison: { to: 9 } });
    world.letters.away = false;
    await restart(world, { onPoison: "stop" });
    expect([world.stopCode(), world.log.committed.get(0)]).toEqual([undefined, 9]);
    expect(await operators.gapRanges()).toEqual([{ from: 4, to: 8, cause: "dead-letter", records: 2 }]);
    append(world, "x");
    world.source.poll();
    await world.clock.advance(3_000);
    expect(world.stopCode()).toBe("POISON");
  });

  it("reads the record under a corrected definition when resumed from committed", async () => {
    const { world, operators } = await stopped();
    await restart(world, { onPoison: "dead-letter" });
    expect(world.stopCode(), "a change of the definition resumes nothing").toBe("POISON");
    await operators.resume({ from: "committed" });
    expect([world.stopCode(), world.log.committed.get(0), world.letters.letters.length]).toEqual([undefined, 9, 2]);
  });
});

describe("the breaker", () => {
  const log = `${"...".repeat(4)}xxxxx...`;

  it.each([1, 2, 3, 7, 50])("stops at the same record when batches are of %i records", async (batchRecords) => {
    const world = worldOf(log);
    world.breaker = { run: 4, sharePercent: 100, window: 1_000 };
    world.batchRecords = batchRecords;
    await world.start();
    await world.clock.advance(5_000);
    expect(world.stopCode()).toBe("POISON_BREAKER");
    expect(world.runner().state.phase).toMatchObject({ stop: { wanted: 15 } });
    expect([world.log.committed.get(0), world.letters.letters.map(({ offset }) => offset)]).toEqual([15, [12, 13, 14]]);
  });

  it("goes on with allowPoison, and counts anew behind it", async () => {
    const world = worldOf(log);
    world.breaker = { run: 4, sharePercent: 100, window: 1_000 };
    await world.start();
    await world.clock.advance(5_000);
    const operators = new Operators(world);
    await operators.resume({ from: "committed", allowPoison: { to: 17 } });
    expect([world.stopCode(), world.log.committed.get(0)]).toEqual([undefined, 20]);
    append(world, "xxxx");
    world.source.poll();
    await world.clock.advance(3_000);
    expect(world.stopCode()).toBe("POISON_BREAKER");
  });
});
