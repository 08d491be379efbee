import { describe, expect, it } from "vitest";
import type { ResumeRequest } from "../../src/core/partition/resume.ts";
import { KvFault } from "../../src/ports/kv-plane.ts";
import { FleetWorld } from "../support/fleet-world.ts";
import { Operators, ORDER } from "../support/operators.ts";

const ACCEPTED: ResumeRequest = { from: "log-start", acceptLoss: { from: 5, toMax: 8 } };
const TARGET = { source: "articles", partition: 0 };

/** A partition that was applied up to 5 and is stopped below its log's start, 8. */
async function lost(): Promise<{ world: FleetWorld; operators: Operators }> {
  const world = new FleetWorld();
  for (let index = 0; index < 5; index += 1) world.log.append(0, "a", `${index}`);
  await world.start();
  await world.clock.advance(2_000);
  await world.crash();
  for (let index = 0; index < 9; index += 1) world.log.append(0, "b", `${index}`);
  world.log.deleteBelow(0, 8);
  await world.start();
  await world.clock.advance(3_000);
  expect(world.stopCode()).toBe("BELOW_LOG_START");
  return { world, operators: new Operators(world) };
}

/** The process dies at its `nth` write of a control record from now on: neither that one nor a later one is made. */
function dieAtWrite(world: FleetWorld, nth: number): { readonly died: boolean } {
  const life = { died: false };
  let writes = 0;
  world.plane.before = (call) => {
    if (call === "set") writes += 1;
    if (call === "set" && writes >= nth) life.died = true;
    if (life.died) throw new KvFault("KV_CLOSED", "dead");
  };
  return life;
}

async function revive(world: FleetWorld): Promise<void> {
  await world.crash();
  world.plane.before = () => {};
  await world.start();
  await world.clock.advance(5_000);
}

/** More control writes than any of these calls makes. */
const PREFIXES = Array.from({ length: 12 }, (_unused, index) => index + 1);

describe("a crash after any prefix of a decision's control writes", () => {
  it.each(PREFIXES)(
    "of a resumption leaves it stopped, or running with its gap entered (dies at write %i)",
    async (nth) => {
      const { world, operators } = await lost();
      const etag = await operators.resumptions.etag(TARGET);
      const life = dieAtWrite(world, nth);
      const call = operators.turning(operators.resumptions.resume(TARGET, ORDER, ACCEPTED, etag));
      const answer = await call.then(
        () => "resumed",
        (error: unknown) => (error instanceof KvFault ? "unknown" : error),
      );
      await world.clock.advance(3_000);
      if (world.stored("b") !== undefined)
        expect(world.plane.records.has("gaps/articles/0"), "entered before read").toBe(true);
      await revive(world);
      const gaps = await operators.gapRanges();
      const { entries } = await operators.audit.list({});
      if (world.stopCode() === undefined) {
        expect(gaps).toEqual([{ from: 5, to: 8, cause: "lost" }]);
        expect(entries.map(({ outcome, gaps: ids }) => [outcome, ids])).toEqual([["applied", ["articles/0/0-0"]]]);
        expect([world.stored("b")?.text, world.log.committed.get(0)]).toEqual(["8", 14]);
      } else {
        expect([life.died, answer, gaps]).toEqual([true, "unknown", []]);
        expect(world.log.committed.get(0)).toBe(5);
        await operators.resume(ACCEPTED);
        expect([world.stopCode(), await operators.gapRanges()]).toEqual([
          undefined,
          [{ from: 5, to: 8, cause: "lost" }],
        ]);
      }
    },
  );

  it.each(PREFIXES)(
    "of a topic epoch leaves the old log stopped, or the new one read (dies at write %i)",
    async (nth) => {
      const { world, operators } = await lost();
      await world.crash();
      world.log.recreate();
      world.log.append(0, "a", "new");
      await world.start();
      await world.clock.advance(30_000);
      const life = dieAtWrite(world, nth);
      await operators.turning(operators.epochs.open("articles", ORDER, undefined)).catch(() => undefined);
      await world.clock.advance(3_000);
      await revive(world);
      const gaps = await operators.gapRanges();
      if (world.stopCode() === undefined) {
        expect([world.stored("a")?.text, gaps]).toEqual(["new", [{ from: 5, to: undefined, cause: "epoch" }]]);
        expect((await operators.audit.list({})).entries[0]).toMatchObject({ outcome: "applied" });
      } else {
        expect([life.died, world.stored("a")?.text, gaps]).toEqual([true, "4", []]);
        await operators.turning(operators.epochs.open("articles", ORDER, undefined));
        expect([world.stopCode(), world.stored("a")?.text]).toEqual([undefined, "new"]);
      }
    },
  );
});

describe("a resumption while the life that stopped still works", () => {
  it("is not disturbed by what that one had in flight", async () => {
    const world = new FleetWorld();
    world.batchRecords = 1;
    for (let index = 0; index < 4; index += 1) world.log.append(0, `k${index}`, "1");
    await world.start();
    await world.clock.advance(2_000);
    world.plane.closeGate();
    world.log.append(0, "k4", "1");
    world.log.append(0, "k5", "1");
    world.source.poll();
    await world.clock.advance(50);
    const old = world.runner();
    expect(old.state.inFlight.length).toBeGreaterThan(0);
    // 1. the partition stops with batches in flight
    world.service.fault({ partition: 0, assignmentEpoch: 1, position: 6, code: "undecodable", text: "damaged" });
    await world.clock.advance(50);
    expect(world.stopCode()).toBe("UNDECODABLE_BATCH");
    // 2. it is resumed, and reads the same records again
    await new Operators(world).resume({ from: "committed" });
    expect(world.runner()).not.toBe(old);
    // 3. what the stopped life had in flight arrives, and the same records once more
    world.plane.openGate();
    await world.clock.advance(5_000);
    expect([world.stopCode(), old.state.phase.phase, world.runner().state.watermark]).toEqual([undefined, "gone", 6]);
    expect([world.log.committed.get(0), world.stored("k5")?.text]).toEqual([6, "1"]);
    expect(world.service.parts.budget.usedBytes).toBe(0);
  });

  it("stands although that one's last commit comes only afterwards", async () => {
    const world = new FleetWorld();
    for (let index = 0; index < 8; index += 1) world.log.append(0, "a", `${index}`);
    await world.start();
    await world.clock.advance(2_000);
    // 1. more is applied and copied, its commit hangs; 2. the log loses what comes next, and the partition stops
    const commit = world.source.commit.bind(world.source);
    let land = () => {};
    world.source.commit = (...given) =>
      new Promise((resolve) => {
        land = () => void commit(...given).then(resolve);
      });
    world.log.append(0, "a", "applied, not committed");
    world.source.poll();
    await world.clock.advance(1_500);
    world.service.fault({ partition: 0, assignmentEpoch: 1, position: 9, code: "out-of-range", text: "below" });
    for (let index = 0; index < 6; index += 1) world.log.append(0, "b", `${index}`);
    world.log.deleteBelow(0, 12);
    await world.clock.advance(3_000);
    expect([world.stopCode(), world.log.committed.get(0)]).toEqual(["BELOW_LOG_START", 8]);
    // 3. an operator resumes beyond it; 4. only then the commit of 9 lands; 5. the process dies before a commit of its own
    const operators = new Operators(world);
    await operators.resume({ from: "log-start", acceptLoss: { from: 9, toMax: 12 } });
    land();
    await world.clock.advance(100);
    expect(world.log.committed.get(0)).toBe(9);
    await revive(world);
    expect([world.stopCode(), world.stored("b")?.text, world.log.committed.get(0)]).toEqual([undefined, "5", 15]);
  });

  it("is not undone by a stop that is recorded late once more", async () => {
    const { world, operators } = await lost();
    await world.crash();
    world.plane.records.delete("stops/articles/0");
    let answers = 0;
    world.plane.after = (name) => {
      if (!name.startsWith("stops/") || answers > 0) return;
      answers += 1;
      throw new KvFault("KV_TIMEOUT", "the answer was lost");
    };
    await world.start();
    await world.clock.advance(50);
    expect([answers, world.stopCode()]).toEqual([1, "BELOW_LOG_START"]);
    const etag = await operators.resumptions.etag(TARGET);
    await operators.resumptions.resume(TARGET, ORDER, ACCEPTED, etag);
    await world.clock.advance(5_000);
    expect([world.stopCode(), world.stored("b")?.text]).toEqual([undefined, "8"]);
    await revive(world);
    expect(world.stopCode()).toBeUndefined();
  });
});

describe("an opened log", () => {
  it("is not judged by bounds that were asked for the log before", async () => {
    const { world, operators } = await lost();
    await operators.resume(ACCEPTED);
    world.log.recreate();
    world.log.append(0, "a", "new");
    await world.clock.advance(30_000);
    expect(world.runner().state).toMatchObject({ phase: { phase: "stopped" }, logStart: 8 });
    // 1. a regular reading of the bounds begins under the old log, whose start was 8; 2. the epoch is opened; 3. it answers
    const bounds = world.source.bounds.bind(world.source);
    let answer = () => {};
    let held = false;
    world.source.bounds = async () => {
      if (held) return bounds();
      held = true;
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return bounds();
    };
    await world.clock.advance(2_500);
    expect(held).toBe(true);
    await operators.turning(operators.epochs.open("articles", ORDER, undefined));
    answer();
    await world.clock.advance(5_000);
    expect([world.stopCode(), world.stored("a")?.text]).toEqual([undefined, "new"]);
  });
});
