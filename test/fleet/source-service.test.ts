import { describe, expect, it } from "vitest";
import { FleetWorld } from "../support/fleet-world.ts";

async function world(records: readonly (readonly [string, string | null])[], partitions = 1): Promise<FleetWorld> {
  const made = new FleetWorld(partitions);
  for (const [key, value] of records) made.log.append(0, key, value);
  await made.start();
  return made;
}

describe("from fetch to commit", () => {
  it("writes the newest version of each key, deletes, commits what is durable", async () => {
    const made = await world([
      ["a", "1"],
      ["b", "1"],
      ["a", "2"],
      ["b", null],
    ]);
    await made.clock.advance(1_000);
    expect(made.stored("a")).toEqual({ text: "2", offset: 2, revision: 1 });
    expect(made.stored("b")).toBeUndefined();
    expect(made.log.committed.get(0)).toBe(4);
  });

  it("offset 0 is stored, and the first start is recorded before anything is read", async () => {
    const made = await world([["a", "first"]]);
    expect(made.stored("a")).toEqual({ text: "first", offset: 0, revision: 1 });
    expect([...made.plane.records.keys()]).toContain("starts/articles/0");
  });

  it("commits past trailing control records and holes once everything delivered before them is applied", async () => {
    const made = new FleetWorld();
    made.log.append(0, "a", "1");
    made.log.skip(0, 1_000_000);
    await made.start();
    await made.clock.advance(1_000);
    expect(made.log.committed.get(0)).toBe(1_000_001);
  });

  it("writes the copy before the commit, at W", async () => {
    const made = await world([["a", "1"]]);
    made.plane.closeGate();
    await made.clock.advance(1_000);
    expect(made.log.commits).toEqual([]);
    made.plane.openGate();
    await made.clock.advance(1_000);
    expect(made.plane.journal.map((entry) => entry.space)).toEqual(["document", "copy"]);
    expect(made.log.commits).toEqual([{ partition: 0, offset: 1 }]);
  });
});

describe("a store that is away holds the partition (I11)", () => {
  it("commits nothing, dead-letters nothing, and goes on by itself", async () => {
    const made = await world([["a", "1"]]);
    made.plane.away = true;
    made.log.append(0, "a", "2");
    made.source.poll();
    await made.clock.advance(5_000);
    expect(made.runner().state.phase.phase).toBe("holding");
    expect(made.letters.letters).toEqual([]);
    expect(made.log.committed.get(0)).toBeUndefined();
    made.plane.away = false;
    await made.clock.advance(3_000);
    expect(made.runner().state.phase.phase).toBe("running");
    expect(made.stored("a")?.text).toBe("2");
    expect(made.log.committed.get(0)).toBe(2);
  });

  it("keeps one batch in memory while it holds (I16)", async () => {
    const made = await world([]);
    made.plane.away = true;
    for (let index = 0; index < 30; index += 1) made.log.append(0, `k${index}`, "v");
    made.source.poll();
    await made.clock.advance(500);
    expect(made.runner().work.size).toBe(1);
    made.plane.away = false;
    await made.clock.advance(4_000);
    expect(made.log.committed.get(0)).toBe(30);
    expect(made.runner().work.size).toBe(0);
  });

  it("waits for the store before the first fetch, too", async () => {
    const made = new FleetWorld();
    made.log.append(0, "a", "1");
    await made.start();
    await made.clock.advance(1_000);
    await made.crash();
    made.plane.away = true;
    const starting = made.start();
    await expect(starting).rejects.toThrow(/fewer than 2 owners/);
  });
});

describe("poison", () => {
  it("goes to the dead letters, confirmed before its offset is committed", async () => {
    const made = new FleetWorld();
    made.letters.away = true;
    made.log.append(0, "a", "good");
    made.log.append(0, "b", "bad");
    made.log.append(0, null, "no key");
    await made.start();
    await made.clock.advance(2_000);
    expect(made.log.committed.get(0)).toBeUndefined();
    made.letters.away = false;
    await made.clock.advance(3_000);
    expect(made.letters.letters.map((letter) => [letter.offset, letter.fault.code])).toEqual([
      [1, "DECODE_TEST"],
      [2, "CONTRACT_KEY_MISSING"],
    ]);
    expect(made.stored("a")?.text).toBe("good");
    expect(made.log.committed.get(0)).toBe(3);
  });

  it("under policy stop halts the partition before it, keeps and commits what came before", async () => {
    const made = new FleetWorld();
    for (const [key, value] of [
      ["a", "1"],
      ["b", "bad"],
      ["c", "1"],
    ] as const) {
      made.log.append(0, key, value);
    }
    await made.start({ onPoison: "stop" });
    await made.clock.advance(2_000);
    expect(made.stopCode()).toBe("POISON");
    expect(made.stored("a")?.text).toBe("1");
    expect(made.stored("c")).toBeUndefined();
    expect(made.log.committed.get(0)).toBe(1);
    expect(made.letters.letters).toEqual([]);
  });
});

describe("I4: out of range stops one partition and moves nothing", () => {
  it("its siblings flow, its commit stays, and the stop outlives the process", async () => {
    const made = new FleetWorld(3);
    for (const partition of [0, 1, 2]) made.log.append(partition, `k${partition}`, "1");
    await made.start();
    await made.clock.advance(1_000);
    await made.crash();
    for (let index = 0; index < 9; index += 1)
      for (const partition of [0, 1, 2]) made.log.append(partition, `k${partition}`, `n${index}`);
    made.log.deleteBelow(1, 6);
    await made.start();
    await made.clock.advance(2_000);
    expect(made.stopCode(1)).toBe("BELOW_LOG_START");
    expect([0, 1, 2].map((partition) => made.log.committed.get(partition))).toEqual([10, 1, 10]);
    await made.crash();
    made.log.append(1, "k1", "newest");
    await made.start();
    await made.clock.advance(2_000);
    expect(made.stopCode(1)).toBe("BELOW_LOG_START");
    expect(made.log.committed.get(1)).toBe(1);
    expect(made.stored("k1")?.text).toBe("1");
  });

  it("retention that overtakes a running partition stops it where it stood", async () => {
    const made = await world([["a", "1"]]);
    await made.clock.advance(1_000);
    made.source.away = true;
    for (let index = 0; index < 10; index += 1) made.log.append(0, "a", `${index}`);
    made.log.deleteBelow(0, 8);
    made.source.away = false;
    made.source.poll();
    await made.clock.advance(1_000);
    expect(made.stopCode()).toBe("BELOW_LOG_START");
    expect(made.log.committed.get(0)).toBe(1);
  });
});

describe("I5: starts", () => {
  it("a group reset by hand is a harmless replay", async () => {
    const made = await world([
      ["a", "1"],
      ["a", "2"],
    ]);
    await made.clock.advance(1_000);
    await made.crash();
    const before = new Map(made.plane.cells);
    made.log.committed.set(0, 0);
    await made.start();
    await made.clock.advance(2_000);
    expect(new Map(made.plane.cells)).toEqual(before);
    expect(made.log.committed.get(0)).toBe(2);
  });

  it("a commit ahead of the copy stops", async () => {
    const made = await world([["a", "1"]]);
    await made.clock.advance(1_000);
    await made.crash();
    for (let index = 0; index < 5; index += 1) made.log.append(0, "a", "2");
    made.log.committed.set(0, 4);
    await made.start();
    expect(made.stopCode()).toBe("COMMIT_MOVED");
  });

  it("a topic that was re-created and has grown past our position is not read on", async () => {
    const made = await world([
      ["a", "1"],
      ["a", "2"],
    ]);
    await made.clock.advance(1_000);
    await made.crash();
    made.log.recreate();
    for (let index = 0; index < 5; index += 1) made.log.append(0, "other", `${index}`);
    await made.start();
    await made.clock.advance(2_000);
    expect(made.stopCode()).toBe("TOPIC_RECREATED");
    expect(made.stored("other")).toBeUndefined();
  });

  it("a commit that vanished under a running partition stops it before the next commit hides that", async () => {
    const made = await world([["a", "1"]]);
    await made.clock.advance(1_000);
    made.log.recreate();
    made.log.append(0, "a", "x");
    made.log.append(0, "a", "y");
    made.source.poll();
    await made.clock.advance(1_000);
    expect(["COMMIT_VANISHED", "TOPIC_RECREATED", "ABOVE_LOG_END"]).toContain(made.stopCode());
    expect(made.log.committed.get(0)).toBeUndefined();
  });

  it("a lost KV plane stops instead of skipping what it held", async () => {
    const made = await world([["a", "1"]]);
    await made.clock.advance(1_000);
    await made.crash();
    made.plane.cells.clear();
    made.plane.records.clear();
    await made.start();
    expect(made.stopCode()).toBe("KV_COPY_MISSING");
  });

  it("latest is one moment for the whole source", async () => {
    const made = new FleetWorld(2);
    made.log.append(0, "old", "1", made.clock.now() - 10);
    made.log.append(1, "new", "1", made.clock.now() + 10);
    await made.start({ startFrom: "latest" });
    await made.clock.advance(1_000);
    expect(made.stored("old")).toBeUndefined();
    expect(made.stored("new")?.text).toBe("1");
  });
});

describe("commits that fail", () => {
  it("are tried again and never go down", async () => {
    const made = await world([["a", "1"]]);
    made.source.failCommits = 100;
    await made.clock.advance(3_500);
    expect(made.log.commits).toEqual([]);
    made.source.failCommits = 0;
    await made.clock.advance(1_000);
    expect(made.log.commits).toEqual([{ partition: 0, offset: 1 }]);
  });

  it("after a rejoin everything uncommitted is read again, and applying it again changes nothing", async () => {
    const made = await world([
      ["a", "1"],
      ["a", "2"],
    ]);
    const before = new Map(made.plane.cells);
    made.source.rejoin();
    await made.clock.advance(1_000);
    expect([...before].every(([key, cell]) => made.plane.cells.get(key)?.order === cell.order)).toBe(true);
    expect(made.log.committed.get(0)).toBe(2);
  });
});

describe("draining", () => {
  it("lets what is in flight be acknowledged, commits it, then leaves the group", async () => {
    const made = await world([["a", "1"]]);
    made.plane.closeGate();
    made.log.append(0, "b", "1");
    made.source.poll();
    await made.clock.advance(0);
    const draining = made.service.drain(5_000);
    await made.clock.advance(100);
    made.plane.openGate();
    await made.clock.advance(2_000);
    expect(await draining).toEqual({ uncommitted: [] });
    expect(made.log.committed.get(0)).toBe(2);
    expect(made.source.stopped).toBe(true);
  });

  it("gives up at the deadline without committing what hangs", async () => {
    const made = await world([]);
    made.plane.closeGate();
    made.log.append(0, "b", "1");
    made.source.poll();
    await made.clock.advance(0);
    const draining = made.service.drain(1_000);
    await made.clock.advance(3_000);
    await draining;
    expect(made.log.committed.get(0)).toBeUndefined();
    expect(made.source.stopped).toBe(true);
  });
});

describe("a change of what decides verdicts", () => {
  it("judges what was applied already under its old revision and new ground under the new one", async () => {
    const made = await world([["a", "1"]]);
    await made.clock.advance(1_000);
    await made.crash();
    made.log.append(0, "b", "2");
    made.log.committed.set(0, 0);
    await made.start({ onPoison: "stop" });
    await made.clock.advance(1_000);
    expect(made.stored("a")?.revision).toBe(1);
    expect(made.stored("b")?.revision).toBe(2);
  });
});
