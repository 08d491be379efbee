import { describe, expect, it } from "vitest";
import { copyKey } from "../../src/core/keys.ts";
import { encodeCopy } from "../../src/core/partition/copy.ts";
import { KvFault } from "../../src/ports/kv-plane.ts";
import { FleetWorld } from "../support/fleet-world.ts";

/** A partition with `records` applied and committed, in a process that has been killed. */
async function applied(records: number, partitions = 1): Promise<FleetWorld> {
  const made = new FleetWorld(partitions);
  for (let index = 0; index < records; index += 1) made.log.append(0, "a", `${index}`);
  await made.start();
  await made.clock.advance(1_000);
  return made;
}

function refuse(prefix: string, from = 1): (call: string, name: string) => void {
  let seen = 0;
  return (call, name) => {
    if (call !== "set" || !name.startsWith(prefix)) return;
    seen += 1;
    if (seen >= from) throw new KvFault("KV_TIMEOUT", "no answer");
  };
}

describe("a topic that is re-created is not read on, wherever the process died", () => {
  it("between the commit and the settling of the start record", async () => {
    const made = new FleetWorld();
    made.log.append(0, "a", "1");
    made.log.append(0, "a", "2");
    made.plane.before = refuse("starts/", 2);
    await made.start();
    await made.clock.advance(1_000);
    expect(made.log.committed.get(0)).toBe(2);
    await made.crash();
    made.plane.before = () => {};
    made.log.recreate();
    for (let index = 0; index < 6; index += 1) made.log.append(0, "a", `other ${index}`);
    await made.start();
    await made.clock.advance(3_000);
    expect([made.stopCode(), made.stored("a")?.text, made.log.committed.get(0)]).toEqual([
      "TOPIC_RECREATED",
      "2",
      undefined,
    ]);
  });

  it("between the first copy and the first commit", async () => {
    const made = new FleetWorld();
    made.log.append(0, "a", "1");
    made.log.append(0, "a", "2");
    await made.start();
    made.source.failCommits = 100;
    await made.clock.advance(1_000);
    await made.crash();
    made.log.recreate();
    for (let index = 0; index < 6; index += 1) made.log.append(0, "a", `other ${index}`);
    await made.start();
    await made.clock.advance(3_000);
    expect([made.stopCode(), made.stored("a")?.text]).toEqual(["TOPIC_RECREATED", "2"]);
  });

  it("while the commit was being read back: no copy of the new log was written before", async () => {
    const made = await applied(2);
    made.log.recreate();
    for (let index = 0; index < 5; index += 1) made.log.append(0, `new${index}`, `${index}`);
    made.source.committed = () => new Promise(() => {});
    made.source.poll();
    await made.clock.advance(1_000);
    await made.crash();
    await made.start();
    await made.clock.advance(3_000);
    expect(made.stopCode()).toBeDefined();
    expect(made.stored("new0")).toBeUndefined();
  });

  it("while an out-of-range answer was disputed: the log still has to be recognised afterwards", async () => {
    const made = await applied(2);
    await made.crash();
    made.log.recreate();
    for (let index = 0; index < 3; index += 1) made.log.append(0, `new${index}`, `${index}`);
    let once = true;
    made.prepare = (source) => {
      source.onBegin = (assignmentEpoch, partition, position) => {
        if (!once) return false;
        once = false;
        const fault = { partition, assignmentEpoch, position, code: "out-of-range", text: "spurious" } as const;
        queueMicrotask(() => made.service.fault(fault));
        return true;
      };
    };
    await made.start();
    await made.clock.advance(3_000);
    expect([made.stopCode(), made.stored("new2")]).toEqual(["TOPIC_RECREATED", undefined]);
  });

  it("but an expired commit alone is no new topic: reading goes on from the copy", async () => {
    const made = new FleetWorld();
    for (let index = 0; index < 10; index += 1) made.log.append(0, "a", `${index}`);
    made.plane.before = refuse("starts/", 2);
    await made.start();
    await made.clock.advance(1_000);
    await made.crash();
    made.plane.before = () => {};
    made.log.committed.clear();
    made.log.deleteBelow(0, 5);
    await made.start();
    await made.clock.advance(3_000);
    expect(made.stopCode()).toBeUndefined();
  });
});

describe("a log that is replaced under a running process", () => {
  it("by one of the same size is noticed although the end came back, and nothing of it is skipped in silence", async () => {
    const made = await applied(5);
    made.log.recreate();
    await made.clock.advance(2_500);
    for (let index = 0; index < 5; index += 1) made.log.append(0, "a", `other ${index}`);
    made.source.poll();
    await made.clock.advance(20_000);
    expect(["TOPIC_RECREATED", "COMMIT_VANISHED", "ABOVE_LOG_END"]).toContain(made.stopCode());
  });

  it("is noticed while it idles: the group is read back although nothing is due", async () => {
    const made = await applied(5);
    made.log.committed.clear();
    await made.clock.advance(5_000);
    expect(made.stopCode()).toBe("COMMIT_VANISHED");
  });
});

describe("a first start", () => {
  it("of a log that begins with holes survives a crash before the first commit", async () => {
    const made = new FleetWorld();
    made.log.skip(0, 2);
    await made.start();
    made.source.failCommits = 100;
    await made.clock.advance(1_000);
    await made.crash();
    for (let index = 0; index < 3; index += 1) made.log.append(0, "a", `${index}`);
    await made.start();
    await made.clock.advance(3_000);
    expect([made.stopCode(), made.stored("a")?.text]).toEqual([undefined, "2"]);
  });
});

describe("stops last (I13)", () => {
  it("a stop of the whole source stands when the partitions have grown on, or are pointed back", async () => {
    const made = await applied(3, 2);
    made.log.grow(3);
    made.source.rejoin();
    await made.clock.advance(1_000);
    expect(made.stopCode(0)).toBe("PARTITIONS_CHANGED");
    made.log.append(1, "a", "newer, in another old partition");
    made.log.grow(4);
    made.source.rejoin();
    await made.clock.advance(2_000);
    expect([0, 1, 2, 3].map((partition) => made.stopCode(partition))).toEqual(Array(4).fill("PARTITIONS_CHANGED"));
  });

  it("a stop that could not be recorded is void when somebody else went on beyond it meanwhile", async () => {
    const made = await applied(1);
    made.plane.before = refuse("stops/");
    const fault = { partition: 0, assignmentEpoch: 1, position: 1, code: "undecodable", text: "damaged" } as const;
    made.service.fault(fault);
    await made.clock.advance(500);
    for (let index = 0; index < 9; index += 1) made.log.append(0, "a", `${index}`);
    const copy = encodeCopy({ watermark: 8, fingerprint: undefined, logStartSeen: 0 });
    await made.plane.write([{ space: "copy", key: copyKey("articles", 0, 0), ...copy }]);
    made.log.committed.set(0, 8);
    made.plane.before = () => {};
    made.source.rejoin();
    await made.clock.advance(3_000);
    expect(made.stopCode()).toBeUndefined();
  });

  it("a drain tries again to record a stop that the store refused once", async () => {
    const made = await applied(1);
    let refused = 0;
    made.plane.before = (call, name) => {
      if (call !== "set" || !name.startsWith("stops/") || refused > 0) return;
      refused += 1;
      throw new KvFault("KV_TIMEOUT", "blip");
    };
    const fault = { partition: 0, assignmentEpoch: 1, position: 1, code: "undecodable", text: "damaged" } as const;
    made.service.fault(fault);
    await made.clock.advance(0);
    const drained = made.service.drain(5_000);
    await made.clock.advance(6_000);
    await drained;
    expect([...made.plane.records.keys()]).toContain("stops/articles/0");
  });

  it("a drain waits for a stop that is being recorded", async () => {
    const made = new FleetWorld();
    made.log.append(0, "a", "1");
    await made.start({ onPoison: "stop" });
    await made.clock.advance(1_000);
    made.plane.before = async (call, name) => {
      if (call !== "set" || !name.startsWith("stops/")) return;
      await new Promise<void>((resolve) => made.clock.after(200, resolve));
    };
    made.log.append(0, "b", "bad");
    made.source.poll();
    await made.clock.advance(10);
    const drained = made.service.drain(5_000).then(() => [...made.plane.records.keys()]);
    await made.clock.advance(6_000);
    expect(await drained).toContain("stops/articles/0");
  });

  it("a stop that could not be recorded yet survives a rejoin", async () => {
    const made = await applied(1);
    made.plane.before = refuse("stops/");
    made.log.committed.clear();
    made.log.append(0, "b", "1");
    made.source.poll();
    await made.clock.advance(1_500);
    expect(made.stopCode()).toBe("COMMIT_VANISHED");
    made.source.rejoin();
    made.plane.before = () => {};
    await made.clock.advance(5_000);
    expect(made.stopCode()).toBe("COMMIT_VANISHED");
    expect([...made.plane.records.keys()]).toContain("stops/articles/0");
  });

  it("a void stop of a frozen process does not hide a later one", async () => {
    const made = await applied(5);
    await made.crash();
    const zombie = { stop: { code: "INVARIANT_BROKEN", detail: "of a frozen process" }, since: 1, reach: 3 };
    made.plane.records.set("stops/articles/0", { tag: "z", value: Buffer.from(JSON.stringify(zombie)) });
    await made.start({ onPoison: "stop" });
    await made.clock.advance(2_000);
    expect(made.stopCode()).toBeUndefined();
    made.log.append(0, "b", "bad");
    made.source.poll();
    await made.clock.advance(2_000);
    await made.crash();
    await made.start();
    await made.clock.advance(1_000);
    expect(made.stopCode()).toBe("POISON");
  });

  it("an end that is low for ten seconds after an election stops nothing", async () => {
    const made = await applied(9);
    await made.clock.advance(900);
    made.log.log(0).end = 7;
    await made.clock.advance(10_000);
    made.log.log(0).end = 9;
    await made.clock.advance(10_000);
    expect(made.stopCode()).toBeUndefined();
  });
});

describe("metadata that lag behind", () => {
  it("an assigned partition that they do not name yet is not read under a guessed topic epoch", async () => {
    const made = await applied(10, 2);
    made.log.grow(4);
    made.log.append(2, "a", "newest, moved to a new partition");
    made.source.metadataPartitions = 2;
    made.source.rejoin();
    await made.clock.advance(2_000);
    expect(made.log.committed.get(2)).toBeUndefined();
    made.source.metadataPartitions = undefined;
    await made.clock.advance(5_000);
    expect([made.stored("a")?.text, made.log.committed.get(2)]).toEqual(["newest, moved to a new partition", 1]);
  });

  it("fewer partitions than are bound stop nothing until they were asked for again and again", async () => {
    const made = await applied(1, 4);
    made.source.metadataPartitions = 2;
    made.source.rejoin();
    await made.clock.advance(10);
    made.source.metadataPartitions = undefined;
    await made.clock.advance(5_000);
    expect([0, 1, 2, 3].map((partition) => made.stopCode(partition))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("commits", () => {
  it("keep up while records keep being acknowledged", async () => {
    const made = await applied(1);
    made.plane.before = async (call, name) => {
      if (call !== "restore" || name !== "copy") return;
      made.log.append(0, "a", "again");
      made.source.poll();
      await new Promise<void>((resolve) => made.clock.after(5, resolve));
    };
    for (let second = 0; second < 40; second += 1) {
      made.log.append(0, "a", "next");
      made.source.poll();
      await made.clock.advance(1_000);
    }
    expect(made.log.committed.get(0) ?? 0).toBeGreaterThan(60);
  });

  it("of siblings go on beside a write that hangs, also while draining", async () => {
    const made = new FleetWorld(2);
    await made.start();
    made.plane.before = (call, name) => (call === "write" && name.includes("hang") ? new Promise(() => {}) : undefined);
    made.log.append(0, "hang", "1");
    made.log.append(1, "fine", "1");
    made.source.poll();
    await made.clock.advance(10);
    const drained = made.service.drain(5_000);
    await made.clock.advance(10_000);
    await drained;
    expect([made.log.committed.get(0), made.log.committed.get(1)]).toEqual([undefined, 1]);
  });
});

describe("holds", () => {
  it("write one batch at a time, however many failed together", async () => {
    const made = await applied(1);
    let open = 0;
    let most = 0;
    made.plane.before = async (call) => {
      if (call !== "write") return;
      open += 1;
      most = Math.max(most, open);
      await new Promise<void>((resolve) => made.clock.after(30, resolve));
      open -= 1;
      throw new KvFault("KV_TIMEOUT", "slow");
    };
    for (let index = 0; index < 9; index += 1) made.log.append(0, "a", `${index}`);
    made.source.poll();
    await made.clock.advance(500);
    most = 0;
    await made.clock.advance(10_000);
    expect(most).toBe(1);
  });

  it("a held batch of a partition that stops gives its memory back", async () => {
    const made = await applied(1);
    made.plane.before = (call, name) => {
      if (call === "write" && name.startsWith("document")) throw new KvFault("KV_ENGINE", "disk");
    };
    made.log.append(0, "b", "1");
    made.source.poll();
    await made.clock.advance(10);
    expect(made.runner().state.phase.phase).toBe("holding");
    made.service.runners.get(0)?.dispatch({ event: "halt", stop: { code: "COMMIT_VANISHED", detail: "test" } });
    expect([made.runner().work.size, made.service.parts.budget.usedBytes]).toEqual([0, 0]);
  });
});

describe("one bad thing takes nothing else down (I16)", () => {
  it("a timestamp that no Number holds is a data fault", async () => {
    const made = new FleetWorld();
    made.log.append(0, "a", "1", 2 ** 60);
    made.log.append(0, "b", "1");
    await made.start();
    await made.clock.advance(2_000);
    expect([made.stopCode(), made.log.committed.get(0)]).toEqual([undefined, 2]);
    expect(made.letters.letters.map((letter) => letter.fault.code)).toEqual(["CONTRACT_TIMESTAMP"]);
  });

  it("an adapter that throws does not wedge the partition", async () => {
    const made = await applied(1);
    const { source } = made;
    const pause = source.pause.bind(source);
    made.source.pause = () => {
      throw new RangeError("adapter");
    };
    made.service.fault({ partition: 0, assignmentEpoch: 1, position: 1, code: "out-of-range", text: "x" });
    made.source.pause = pause;
    await made.clock.advance(3_000);
    made.log.append(0, "a", "after");
    made.source.poll();
    await made.clock.advance(3_000);
    expect(made.stored("a")?.text).toBe("after");
  });

  it("a ledger that an old life covers late is not turned back", async () => {
    const made = await applied(4);
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    let reads = 0;
    made.plane.before = async (call, name) => {
      if (call !== "read" || !name.startsWith("ledgers/")) return;
      reads += 1;
      if (reads === 2) await gate;
    };
    made.source.rejoin();
    await made.clock.advance(10);
    const drained = made.service.drain(1_000);
    await made.clock.advance(3_000);
    await drained;
    await made.start({ onPoison: "stop" });
    open();
    await made.clock.advance(100);
    made.log.append(0, "n", "new");
    made.source.poll();
    await made.clock.advance(2_000);
    expect(made.stored("n")?.revision).toBe(2);
    const ledger = JSON.parse(Buffer.from(made.plane.records.get("ledgers/articles/0")?.value ?? []).toString());
    expect(ledger.rows.at(-1).revision).toBe(2);
  });
});

/** Twenty records of partition 0, appended under a leader of epoch 3, are applied and committed. */
async function underThree(): Promise<FleetWorld> {
  const world = new FleetWorld(1);
  world.log.leaderEpoch = 3;
  for (let offset = 0; offset < 20; offset += 1) world.log.append(0, `k${offset}`, `old${offset}`);
  await world.start();
  await world.clock.advance(4_000);
  expect(world.log.committed.get(0)).toBe(20);
  return world;
}

describe("a log that was rewritten behind us and has grown past us", () => {
  it("by an unclean election stops before anything of it is applied", async () => {
    const world = await underThree();
    world.log.electUnclean(0, 15);
    for (let offset = 15; offset < 40; offset += 1) world.log.append(0, `k${offset}`, `new${offset}`);
    world.source.poll();
    await world.clock.advance(4_000);
    expect(world.stopCode()).toBe("TOPIC_RECREATED");
    expect([world.stored("k14")?.text, world.stored("k17")?.text, world.stored("k25")]).toEqual([
      "old14",
      "old17",
      undefined,
    ]);
    expect(world.log.committed.get(0)).toBe(20);
  });

  it("by creating the topic again stops likewise, where leaders had changed before", async () => {
    const world = await underThree();
    world.log.recreate();
    world.log.leaderEpoch = 0;
    for (let offset = 0; offset < 40; offset += 1) world.log.append(0, `k${offset}`, `new${offset}`);
    world.source.poll();
    await world.clock.advance(4_000);
    expect(["TOPIC_RECREATED", "COMMIT_VANISHED"]).toContain(world.stopCode());
    expect(world.stored("k25")).toBeUndefined();
    expect(world.log.committed.get(0)).toBeUndefined();
  });

  it("is told from an election that lost nothing: all is applied, once", async () => {
    const world = await underThree();
    world.log.leaderEpoch = 4;
    for (let offset = 20; offset < 40; offset += 1) world.log.append(0, `k${offset}`, `new${offset}`);
    world.source.poll();
    await world.clock.advance(4_000);
    expect([world.stopCode(), world.stored("k39")?.text, world.runner().counts.written]).toEqual([
      undefined,
      "new39",
      40,
    ]);
    expect(world.log.committed.get(0)).toBe(40);
  });
});
