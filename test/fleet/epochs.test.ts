import { describe, expect, it } from "vitest";
import { originOf } from "../../src/core/version.ts";
import { documentKey } from "../../src/core/keys.ts";
import { KvFault } from "../../src/ports/kv-plane.ts";
import { FleetWorld } from "../support/fleet-world.ts";
import { Operators, ORDER } from "../support/operators.ts";

async function started(partitions: number): Promise<{ world: FleetWorld; operators: Operators }> {
  const world = new FleetWorld(partitions);
  for (let partition = 0; partition < partitions; partition += 1) {
    for (let index = 0; index < 5; index += 1) world.log.append(partition, `k${partition}`, `old ${index}`);
  }
  await world.start();
  await world.clock.advance(3_000);
  return { world, operators: new Operators(world) };
}

async function restart(world: FleetWorld): Promise<void> {
  await world.crash();
  await world.start();
  await world.clock.advance(5_000);
}

async function flow(world: FleetWorld): Promise<void> {
  world.source.poll();
  await world.clock.advance(5_000);
}

function epochOf(world: FleetWorld, id: string): number | undefined {
  const cell = world.plane.cells.get(`document/${Buffer.from(documentKey("articles", id)).toString("hex")}`);
  return cell === undefined ? undefined : originOf(cell.order).topicEpoch;
}

const open = ({ operators }: { readonly operators: Operators }) =>
  operators.turning(operators.epochs.open("articles", ORDER, undefined));

function codes(world: FleetWorld): readonly (string | undefined)[] {
  return world.log.partitions.map((_log, partition) => world.stopCode(partition));
}

async function recreated() {
  const made = await started(2);
  const { world } = made;
  await world.crash();
  world.log.recreate();
  world.log.append(0, "k0", "new");
  await world.start();
  await world.clock.advance(30_000);
  expect(codes(world)).toEqual(["ABOVE_LOG_END", "ABOVE_LOG_END"]);
  return made;
}

describe("a re-created topic", () => {
  it("is read from its start under the next topic epoch, and what it says is newer", async () => {
    const made = await recreated();
    const { world, operators } = made;
    const view = await open(made);
    expect(view).toMatchObject({ topicEpoch: 1, partitions: 2 });
    await flow(world);
    expect([codes(world), world.stored("k0")?.text, epochOf(world, "k0")]).toEqual([[undefined, undefined], "new", 1]);
    expect(world.stored("k1")?.text).toBe("old 4");
    expect(await operators.gapRanges(0)).toEqual([{ from: 5, to: undefined, cause: "epoch" }]);
    const [entry] = (await operators.audit.list({})).entries;
    expect(entry).toMatchObject({ id: view.audit, action: "open-epoch", outcome: "applied" });
    expect(entry?.gaps).toEqual(["articles/0/0-0", "articles/1/0-0"]);
    world.log.append(1, "k1", "newer");
    await restart(world);
    expect([codes(world), world.stored("k1")?.text, world.log.committed.get(1)]).toEqual([
      [undefined, undefined],
      "newer",
      1,
    ]);
    await expect(open(made)).rejects.toMatchObject({ code: "EPOCH_NOT_NEEDED" });
  });

  it("whose group still holds the old commits is read all the same, and they are lowered once", async () => {
    const made = await recreated();
    const { world } = made;
    world.log.committed.set(0, 5);
    await open(made);
    await flow(world);
    expect([world.stopCode(0), world.stored("k0")?.text, world.log.committed.get(0)]).toEqual([undefined, "new", 1]);
    await restart(world);
    expect(world.stopCode(0)).toBeUndefined();
  });

  it("is opened on one instance and noticed by the owner; nothing is read before the gaps are entered", async () => {
    const made = await recreated();
    const { world, operators } = made;
    world.plane.before = (call, name) => {
      if (call === "set" && name.startsWith("gaps/")) throw new KvFault("KV_TIMEOUT", "no answer");
    };
    await open(made);
    await flow(world);
    expect([world.stored("k0")?.text, await operators.gapRanges(0)]).toEqual(["old 4", []]);
    await world.crash();
    world.plane.before = () => {};
    await world.start();
    await world.clock.advance(5_000);
    expect([world.stored("k0")?.text, await operators.gapRanges(0)]).toEqual([
      "new",
      [{ from: 5, to: undefined, cause: "epoch" }],
    ]);
    expect((await operators.audit.list({})).entries[0]).toMatchObject({ outcome: "applied" });
  });

  it("can be re-created again", async () => {
    const made = await recreated();
    const { world } = made;
    await open(made);
    await flow(world);
    await world.crash();
    world.log.recreate();
    world.log.append(1, "k0", "third");
    await world.start();
    await world.clock.advance(30_000);
    expect(world.stopCode(0)).toBe("ABOVE_LOG_END");
    expect(await open(made)).toMatchObject({ topicEpoch: 2 });
    await flow(world);
    expect([world.stored("k0")?.text, epochOf(world, "k0")]).toEqual(["third", 2]);
  });

  it("keeps pauses, which are the operator's", async () => {
    const made = await recreated();
    const { world, operators } = made;
    await operators.pauses.pause({ source: "articles", partition: 0 }, ORDER, undefined);
    await open(made);
    await flow(world);
    expect(world.stored("k0")?.text).toBe("old 4");
  });
});

describe("partitions that grow to a multiple", () => {
  it("go on by themselves: a moved key stays newest, replays of the old partitions included", async () => {
    const { world } = await started(4);
    world.log.grow(16);
    world.log.append(9, "k1", "moved");
    world.source.rejoin();
    await flow(world);
    expect([world.stored("k1")?.text, epochOf(world, "k1")]).toEqual(["moved", 1]);
    await world.crash();
    for (let partition = 0; partition < 4; partition += 1) world.log.committed.set(partition, 0);
    await world.start();
    await flow(world);
    expect([world.stored("k1")?.text, codes(world).every((code) => code === undefined)]).toEqual(["moved", true]);
    await restart(world);
    expect(epochOf(world, "k1")).toBe(1);
  });
});

async function refused() {
  const made = await started(4);
  const { world } = made;
  await world.crash();
  world.log.append(0, "k0", "unread");
  world.log.grow(6);
  world.log.append(5, "k1", "moved");
  await world.start();
  await world.clock.advance(5_000);
  expect(codes(world)).toEqual(Array(6).fill("PARTITIONS_CHANGED"));
  return made;
}

describe("partitions that grow to no multiple", () => {
  it("stop until old ones are read to their end and an epoch is opened", async () => {
    const made = await refused();
    const { world, operators } = made;
    await expect(open(made)).rejects.toMatchObject({
      code: "EPOCH_NOT_READ",
      extra: { behind: [{ partition: 0, applied: "5", end: "6", resumeFrom: "copy" }] },
    });
    await expect(operators.resume({ from: "log-start" }, 5)).rejects.toMatchObject({ code: "EPOCH_REQUIRED" });
    await operators.resume({ from: "committed" }, 0);
    await flow(world);
    expect([world.stored("k0")?.text, world.stopCode(0), world.stopCode(1)]).toEqual([
      "unread",
      undefined,
      "PARTITIONS_CHANGED",
    ]);
    await restart(world);
    expect(world.stopCode(0), "it may still be read").toBeUndefined();
    expect(await open(made)).toMatchObject({ topicEpoch: 1, partitions: 6 });
    await flow(world);
    expect(codes(world)).toEqual(Array(6).fill(undefined));
    expect([world.stored("k1")?.text, epochOf(world, "k1"), epochOf(world, "k0")]).toEqual(["moved", 1, 0]);
    world.log.append(3, "k0", "moved among old ones");
    await flow(world);
    expect([world.stored("k0")?.text, epochOf(world, "k0")]).toEqual(["moved among old ones", 1]);
    expect(await operators.gapRanges(0)).toEqual([]);
    await restart(world);
    expect(codes(world)).toEqual(Array(6).fill(undefined));
    expect(world.log.committed.get(3)).toBe(6);
  });

  it("names where to resume a partition of which nothing was applied: it has no commit and no copy", async () => {
    const world = new FleetWorld(4);
    world.log.append(0, "k0", "first");
    await world.start();
    await flow(world);
    await world.crash();
    world.log.append(2, "k2", "unread");
    world.log.grow(6);
    await world.start();
    await world.clock.advance(5_000);
    const made = { world, operators: new Operators(world) };
    const { operators } = made;
    await expect(open(made)).rejects.toMatchObject({
      code: "EPOCH_NOT_READ",
      extra: { behind: [{ partition: 2, end: "1", resumeFrom: "0" }] },
    });
    for (const from of ["committed", "copy"] as const) {
      await expect(operators.resume({ from }, 2)).rejects.toMatchObject({ code: "RESUME_POINT_UNKNOWN" });
    }
    await operators.resume({ from: 0 }, 2);
    await flow(world);
    expect(await open(made)).toMatchObject({ topicEpoch: 1 });
  });

  it("are refused while producers are not quiet", async () => {
    const made = await refused();
    const { world, operators } = made;
    await operators.resume({ from: "committed" }, 0);
    await flow(world);
    const cancel = world.clock.after(500, () => void world.log.append(2, "k2", "not quiet"));
    await expect(open(made)).rejects.toMatchObject({ code: "EPOCH_NOT_READ", extra: { behind: [{ partition: 2 }] } });
    cancel();
  });
});

describe("a source that is bound to another cluster", () => {
  it("goes on from committed when it is pointed back, and under an epoch when it is not", async () => {
    const made = await started(1);
    const { world, operators } = made;
    await world.crash();
    world.log.clusterId = "cluster-2";
    await world.start();
    await world.clock.advance(3_000);
    expect(codes(world)).toEqual(["IDENTITY_CHANGED"]);
    await expect(operators.resume({ from: "committed" })).rejects.toMatchObject({ code: "EPOCH_REQUIRED" });
    world.log.clusterId = "cluster-1";
    await restart(world);
    expect(codes(world)).toEqual(["IDENTITY_CHANGED"]);
    await operators.resume({ from: "committed" });
    expect(codes(world)).toEqual([undefined]);
    await world.crash();
    world.log.clusterId = "cluster-2";
    await world.start();
    await world.clock.advance(3_000);
    expect(await open(made)).toMatchObject({ topicEpoch: 1 });
    await flow(world);
    expect([codes(world), epochOf(world, "k0")]).toEqual([[undefined], 1]);
  });
});
