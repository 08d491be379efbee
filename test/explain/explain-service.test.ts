import { describe, expect, it } from "vitest";
import type { ExplainView } from "../../src/ports/explain.ts";
import { KvFault } from "../../src/ports/kv-plane.ts";
import { FleetWorld } from "../support/fleet-world.ts";
import { ORDER, Operators } from "../support/operators.ts";
import { explaining, started } from "./explaining.ts";

async function verdicts(world: FleetWorld, partition = 0): Promise<readonly string[]> {
  const { at } = explaining(world);
  const views: string[] = [];
  for (let offset = 0; offset <= world.log.log(partition).end; offset += 1) {
    views.push((await at(offset, partition)).verdict);
  }
  return views;
}

/** What became of each record by what the run left behind: the letters that were published, the cells that are stored. */
function happened(world: FleetWorld, partition = 0): readonly string[] {
  const { records, end, logStart } = world.log.log(partition);
  const watermark = world.runner(partition).state.watermark ?? 0;
  const text = (bytes: Uint8Array | null) => (bytes === null ? null : Buffer.from(bytes).toString());
  return Array.from({ length: end + 1 }, (_unused, offset) => {
    const record = records.find((candidate) => candidate.offset === offset);
    if (offset === end) return "not-produced";
    if (offset < logStart) return "gone";
    if (record === undefined) return "no-record";
    if (world.letters.letters.some((letter) => letter.partition === partition && letter.offset === offset))
      return "dead-lettered";
    if (offset >= watermark) return "not-read";
    const last = records.findLast(
      (other) => text(other.key) === text(record.key) && other.offset < watermark && text(other.value) !== "bad",
    );
    return last === record ? "applied" : "superseded";
  });
}

describe("I17: explain tells what happened", () => {
  it("for every record of a run: puts, deletes, poison, what came to nothing, holes", async () => {
    const world = new FleetWorld(2);
    for (let round = 0; round < 30; round += 1) {
      const value = round % 7 === 3 ? "bad" : round % 5 === 4 ? null : `v${round}`;
      world.log.append(round % 2, `k${round % 8}`, value, 1_000 + round);
      if (round % 11 === 5) world.log.skip(0, 2);
    }
    world.log.append(0, null, "no key");
    await started(world);
    for (const partition of [0, 1]) expect(await verdicts(world, partition)).toEqual(happened(world, partition));
    expect(new Set(happened(world))).toEqual(
      new Set(["applied", "superseded", "dead-lettered", "no-record", "not-produced"]),
    );
    world.log.append(0, "k0", "later");
    world.log.append(0, "k1", "bad");
    expect(await verdicts(world)).toEqual(happened(world));
    world.log.deleteBelow(0, 3);
    expect(await verdicts(world)).toEqual(happened(world));
  });

  it("says by which revision, what it is, and what each owner holds", async () => {
    const world = new FleetWorld(1);
    world.log.append(0, "a", "1", 5_000);
    world.log.append(0, "a", "2", 6_000);
    world.log.append(0, "a", "bad", 7_000);
    await started(world);
    const { at } = explaining(world);
    world.plane.unavailable.add("c");
    const cell = { topicEpoch: 0, partition: 0, offset: 1, revision: 1, descriptorVersion: 0, state: "live" };
    expect(await at(0)).toMatchObject({
      verdict: "superseded",
      supersededBy: cell,
      applied: 3,
      bounds: { logStart: 0, end: 3 },
      record: {
        timestampMs: 5_000,
        valueBytes: 1,
        judged: { row: 1, revision: 1, outcome: { outcome: "put" }, body: { format: "raw" } },
      },
      owners: [
        { owner: "a", answer: "holds", cell },
        { owner: "b", answer: "holds", cell },
        { owner: "c", answer: "unavailable" },
      ],
    });
    const poison = await at(2);
    expect(poison).toMatchObject({
      verdict: "dead-lettered",
      gaps: ["articles/0/0-0"],
      record: { judged: { outcome: { outcome: "fault", code: "DECODE_TEST" } } },
    });
    await expect(at(0, 7)).rejects.toMatchObject({ code: "PARTITION_UNKNOWN" });
  });

  it("what is not read says why: below the start, stopped, paused, not reached; skipped names its entry", async () => {
    const world = new FleetWorld(1);
    world.log.append(0, "a", "old");
    await started(world, { startFrom: "latest", onPoison: "stop" });
    const reason = async (offset: number) => {
      const view: ExplainView = await explaining(world).at(offset);
      return [view.verdict, view.reason];
    };
    expect(await reason(0)).toEqual(["not-read", "before-start"]);
    world.log.append(0, "b", "1");
    expect(await reason(1)).toEqual(["not-read", "not-reached"]);
    const operators = new Operators(world);
    await operators.turning(operators.pauses.pause({ source: "articles" }, ORDER, undefined));
    expect(await reason(1)).toEqual(["not-read", "paused"]);
    await operators.turning(operators.pauses.unpause({ source: "articles" }, ORDER));
    for (const value of ["bad", "2", "3"]) world.log.append(0, "c", value);
    world.source.poll();
    await world.clock.advance(4_000);
    expect(world.stopCode()).toBe("POISON");
    expect(await verdicts(world)).toEqual(["not-read", "applied", "not-read", "not-read", "not-read", "not-produced"]);
    expect(await reason(2)).toEqual(["not-read", "stopped"]);
    await operators.resume({ from: 4, acceptLoss: { from: 2, toMax: 4 } });
    expect(await verdicts(world)).toEqual(["not-read", "applied", "skipped", "skipped", "applied", "not-produced"]);
    expect((await explaining(world).at(3)).gaps).toEqual(["articles/0/0-0"]);
  });

  it("what is read once more is already applied; what the store has lost is missing, if enough owners say so", async () => {
    const world = new FleetWorld(1);
    for (const value of ["1", "2", "3"]) world.log.append(0, `k${value}`, value);
    await started(world);
    await world.crash();
    world.log.committed.set(0, 1);
    world.prepare = (source) => (source.onBegin = () => true);
    await started(world);
    expect(await verdicts(world)).toEqual(["applied", "already-applied", "already-applied", "not-produced"]);
    const [lost] = [...world.plane.cells.keys()].filter((key) => key.startsWith("document/"));
    world.plane.cells.delete(lost ?? "");
    expect(await verdicts(world)).toEqual(["missing", "already-applied", "already-applied", "not-produced"]);
    world.plane.unavailable.add("a").add("b");
    await expect(explaining(world).at(0)).rejects.toMatchObject({ code: "KV_UNAVAILABLE" });
  });

  it("what was acknowledged here is read, although no copy says so yet", async () => {
    const world = new FleetWorld(1);
    world.log.append(0, "a", "bad");
    world.plane.before = (call, name) => {
      if (call === "write" && name.startsWith("copy/")) throw new KvFault("KV_NO_QUORUM", "no copy");
    };
    await started(world);
    expect(await explaining(world).at(0)).toMatchObject({ verdict: "dead-lettered", applied: 1 });
  });

  it("a key that went to two partitions: the one that lost says by which it was superseded", async () => {
    const world = new FleetWorld(2);
    world.log.append(1, "x", "fill");
    world.log.append(1, "a", "first");
    world.log.append(0, "a", "second");
    await started(world);
    expect(await explaining(world).at(0, 0)).toMatchObject({
      verdict: "superseded",
      supersededBy: { partition: 1, offset: 1 },
    });
  });
});

async function stoppedAfter(partitions: number, change: (world: FleetWorld) => void): Promise<FleetWorld> {
  const world = new FleetWorld(partitions);
  for (const value of ["1", "bad"]) world.log.append(0, "a", value);
  await started(world);
  await world.crash();
  change(world);
  await started(world);
  const operators = new Operators(world);
  await world.clock.advance(30_000);
  await operators.turning(operators.epochs.open("articles", ORDER, undefined));
  return world;
}

describe("explain after a topic epoch", () => {
  it("of a log that goes on, old records are told by the rows that they were read under", async () => {
    const world = await stoppedAfter(4, ({ log }) => log.grow(6));
    world.log.append(0, "b", "later");
    world.source.poll();
    await world.clock.advance(4_000);
    expect(await verdicts(world)).toEqual(["applied", "dead-lettered", "applied", "not-produced"]);
    const epochs = [0, 1, 2].map(async (offset) => (await explaining(world).at(offset)).topicEpoch);
    expect(await Promise.all(epochs)).toEqual([0, 0, 1]);
  });

  it("of another log, nothing of the one before is told of its records", async () => {
    const world = await stoppedAfter(1, ({ log }) => {
      log.recreate();
      log.append(0, "a", "new");
    });
    world.source.poll();
    await world.clock.advance(4_000);
    expect(await explaining(world).at(0)).toMatchObject({ verdict: "applied", topicEpoch: 1, gaps: [] });
    expect(await explaining(world).at(1)).toMatchObject({ verdict: "not-produced" });
  });
});

describe("explain of a key", () => {
  it("finds its newest records, in whatever partition, and says how far it looked", async () => {
    const world = new FleetWorld(3);
    for (let round = 0; round < 5; round += 1) world.log.append(1, "a", `v${round}`);
    world.log.append(2, "b", "other");
    await started(world);
    const view = await explaining(world).key("a", 2);
    expect(view.records.map(({ partition, offset, verdict }) => [partition, offset, verdict])).toEqual([
      [1, 4, "applied"],
      [1, 3, "superseded"],
    ]);
    expect(view.ended).toBe("found");
    expect(view.looked).toEqual([
      { partition: 0, from: 0, to: 0, whole: true },
      { partition: 1, from: 0, to: 5, whole: true },
      { partition: 2, from: 0, to: 1, whole: true },
    ]);
    expect(await explaining(world).key("nobody")).toMatchObject({ records: [], ended: "whole-log" });
  });

  it("looks back in steps, bounded in time, and adds what the store holds where it did not get that far", async () => {
    const world = new FleetWorld(1);
    world.log.append(0, "a", "long ago");
    world.log.skip(0, 7_000);
    world.log.append(0, "b", "1");
    await started(world);
    expect(await explaining(world).key("b", 1)).toMatchObject({ ended: "found", looked: [{ from: 5_002, to: 7_002 }] });
    const read = world.source.read.bind(world.source);
    world.source.read = async (partition, from) => {
      if (from > 1) await world.clock.advance(5_000);
      return read(partition, from);
    };
    const view = await explaining(world).key("a", 1);
    expect(view).toMatchObject({ ended: "time", looked: [{ whole: false }] });
    expect(view.records.map(({ offset, verdict }) => [offset, verdict])).toEqual([[0, "applied"]]);
  });

  it("counts a record once, where a batch reaches over the edge of a step", async () => {
    const world = new FleetWorld(1);
    for (let round = 0; round < 4; round += 1) world.log.append(0, "a", `v${round}`);
    world.log.skip(0, 1_998);
    await started(world);
    const { records } = await explaining(world).key("a", 9);
    expect(records.map(({ offset }) => offset)).toEqual([3, 2, 1, 0]);
  });

  it("takes four at once", async () => {
    const world = await started(new FleetWorld(1));
    const { key } = explaining(world);
    const shared = explaining(world);
    const answers = await Promise.allSettled(Array.from({ length: 6 }, () => shared.key("a")));
    expect(answers.map(({ status }) => status)).toEqual([
      ...Array<string>(4).fill("fulfilled"),
      "rejected",
      "rejected",
    ]);
    expect(await key("a")).toMatchObject({ ended: "whole-log" });
    expect(await shared.key("a")).toMatchObject({ ended: "whole-log" });
  });
});
