import { describe, expect, it } from "vitest";
import { copyKey } from "../../src/core/keys.ts";
import type { ResumeRequest } from "../../src/core/partition/resume.ts";
import type { FetchFault } from "../../src/ports/record-source.ts";
import { FleetWorld } from "../support/fleet-world.ts";
import { Operators, ORDER } from "../support/operators.ts";

/** A partition with `records` applied and committed, in a process that runs. */
async function applied(records: number): Promise<FleetWorld> {
  const world = new FleetWorld();
  for (let index = 0; index < records; index += 1) world.log.append(0, "a", `${index}`);
  await world.start();
  await world.clock.advance(2_000);
  return world;
}

async function restart(world: FleetWorld): Promise<void> {
  await world.crash();
  await world.start();
  await world.clock.advance(3_000);
}

function fault(world: FleetWorld, code: FetchFault["code"]): void {
  const position = world.runner().state.position ?? 0;
  world.service.fault({ partition: 0, assignmentEpoch: 1, position, code, text: "told so by the test" });
}

function copyCell(): string {
  return `copy/${Buffer.from(copyKey("articles", 0, 0)).toString("hex")}`;
}

/** How each stop comes about, what its remedy is before the resumption, and the resumption. */
const STORIES: readonly {
  readonly code: string;
  readonly stop: (world: FleetWorld) => Promise<void> | void;
  readonly remedy?: (world: FleetWorld) => Promise<void> | void;
  readonly request: ResumeRequest;
  readonly gaps?: readonly object[];
}[] = [
  {
    code: "BELOW_LOG_START",
    stop: async (world) => {
      await world.crash();
      for (let index = 0; index < 5; index += 1) world.log.append(0, "b", `${index}`);
      world.log.deleteBelow(0, 8);
      await world.start();
    },
    request: { from: "log-start", acceptLoss: { from: 5, toMax: 9 } },
    gaps: [{ from: 5, to: 8, cause: "lost" }],
  },
  {
    code: "ABOVE_LOG_END",
    stop: (world) => {
      world.log.log(0).end = 3;
    },
    remedy: (world) => {
      world.log.log(0).end = 5;
    },
    request: { from: "copy" },
  },
  {
    code: "COMMIT_VANISHED",
    stop: (world) => world.log.committed.clear(),
    request: { from: "copy" },
  },
  {
    code: "COMMIT_MOVED",
    stop: (world) => {
      for (let index = 0; index < 5; index += 1) world.log.append(0, "b", `${index}`);
      world.log.committed.set(0, 9);
    },
    request: { from: "copy" },
  },
  {
    code: "COMMIT_MOVED",
    stop: (world) => {
      for (let index = 0; index < 5; index += 1) world.log.append(0, "b", `${index}`);
      world.log.committed.set(0, 9);
    },
    request: { from: "committed", acceptLoss: { from: 5, toMax: 9 } },
    gaps: [{ from: 5, to: 9, cause: "skipped" }],
  },
  {
    code: "KV_COPY_MISSING",
    stop: async (world) => {
      await world.crash();
      world.plane.cells.clear();
      await world.start();
    },
    request: { from: "log-start" },
  },
  {
    code: "UNDECODABLE_BATCH",
    stop: (world) => fault(world, "codec-missing"),
    request: { from: "committed" },
  },
  { code: "BATCH_TOO_LARGE", stop: (world) => fault(world, "batch-too-large"), request: { from: "committed" } },
  {
    code: "OFFSET_DISPUTED",
    stop: (world) => {
      world.source.onBegin = (assignmentEpoch, partition, position) => {
        const spurious = { partition, assignmentEpoch, position, code: "out-of-range", text: "spurious" } as const;
        queueMicrotask(() => world.service.fault(spurious));
        return true;
      };
      fault(world, "out-of-range");
    },
    remedy: (world) => {
      world.source.onBegin = () => false;
    },
    request: { from: "committed" },
  },
  {
    code: "INVARIANT_BROKEN",
    stop: (world) => world.runner().dispatch({ event: "halt", stop: { code: "INVARIANT_BROKEN", detail: "test" } }),
    request: { from: "committed" },
  },
];

describe("every stop goes on when its remedy is done", () => {
  it.each(STORIES)("$code, from $request.from", async ({ code, stop, remedy, request, gaps }) => {
    const world = await applied(5);
    await stop(world);
    await world.clock.advance(30_000);
    expect(world.stopCode()).toBe(code);
    await restart(world);
    expect(world.stopCode(), "durable (I13)").toBe(code);
    await remedy?.(world);
    const operators = new Operators(world);
    const { audit } = await operators.resume(request);
    world.log.append(0, "last", "new");
    world.source.poll();
    await world.clock.advance(3_000);
    expect(world.stopCode()).toBeUndefined();
    expect(world.stored("last")?.text).toBe("new");
    expect(await operators.gapRanges()).toEqual(gaps ?? []);
    const [entry] = (await operators.audit.list({})).entries;
    expect(entry).toMatchObject({ id: audit, action: "resume", outcome: "applied", actor: "chief", partition: 0 });
    const listed = (await operators.gaps.list({})).gaps;
    expect(listed.map((gap) => gap.audit)).toEqual(listed.map(() => audit));
    expect(entry?.gaps).toEqual(listed.map(({ id }) => id));
    await restart(world);
    expect(world.stopCode(), "and stays so").toBeUndefined();
    expect(world.log.committed.get(0)).toBe(world.log.log(0).end);
  });
});

async function lost(): Promise<{ world: FleetWorld; operators: Operators }> {
  const world = await applied(5);
  await world.crash();
  for (let index = 0; index < 9; index += 1) world.log.append(0, "b", `${index}`);
  world.log.deleteBelow(0, 8);
  await world.start();
  await world.clock.advance(3_000);
  return { world, operators: new Operators(world) };
}

describe("a resumption from where the log lost data", () => {
  it("is refused with the range as it is now, again when retention moved, and changes nothing", async () => {
    const { world, operators } = await lost();
    const refused = (request: ResumeRequest) => expect(operators.resume(request)).rejects;
    await refused({ from: "log-start" }).toMatchObject({
      code: "LOSS_NOT_ACCEPTED",
      extra: {
        lost: { from: "5", to: "8" },
        bounds: { logStart: "8", end: "14" },
        page: "docs/stops/BELOW_LOG_START.md",
      },
    });
    world.log.deleteBelow(0, 10);
    await refused({ from: "log-start", acceptLoss: { from: 5, toMax: 9 } }).toMatchObject({
      code: "LOSS_NOT_ACCEPTED",
      extra: { lost: { from: "5", to: "10" } },
    });
    await refused({ from: 9, acceptLoss: { from: 0, toMax: 99 } }).toMatchObject({
      code: "RESUME_OUT_OF_RANGE",
      extra: { bounds: { logStart: "10", end: "14" } },
    });
    expect([world.stopCode(), await operators.gapRanges()]).toEqual(["BELOW_LOG_START", []]);
    const { entries } = await operators.audit.list({});
    expect(entries.map(({ outcome, code }) => [outcome, code])).toEqual([
      ["refused", "RESUME_OUT_OF_RANGE"],
      ["refused", "LOSS_NOT_ACCEPTED"],
      ["refused", "LOSS_NOT_ACCEPTED"],
    ]);
    await operators.resume({ from: "log-start", acceptLoss: { from: 5, toMax: 11 } });
    expect([world.stopCode(), world.stored("b")?.text]).toEqual([undefined, "8"]);
    expect(await operators.gapRanges()).toEqual([{ from: 5, to: 10, cause: "lost" }]);
  });

  it("survives a crash between its first copy and its first commit", async () => {
    const { world, operators } = await lost();
    await operators.resume({ from: "log-start", acceptLoss: { from: 5, toMax: 8 } });
    world.source.failCommits = 1_000;
    await restart(world);
    expect(world.stopCode()).toBeUndefined();
    expect(world.log.committed.get(0)).toBe(14);
  });

  it("of which two come at once is won by one; the other is told", async () => {
    const { world, operators } = await lost();
    const target = { source: "articles", partition: 0 };
    const etag = await operators.resumptions.etag(target);
    const accepted: ResumeRequest = { from: "log-start", acceptLoss: { from: 5, toMax: 8 } };
    const calls = [accepted, { ...accepted, from: 12, acceptLoss: { from: 5, toMax: 12 } }].map((request) =>
      operators.resumptions.resume(target, ORDER, request, etag),
    );
    const results = Promise.allSettled(calls);
    await world.clock.advance(5_000);
    const outcomes = (await results).map((result) => (result.status === "rejected" ? result.reason.code : "resumed"));
    expect(new Set(outcomes)).toEqual(new Set(["PRECONDITION_FAILED", "resumed"]));
    expect(await operators.gapRanges()).toHaveLength(outcomes[0] === "resumed" ? 1 : 2);
    await expect(operators.resumptions.resume(target, ORDER, accepted, etag)).rejects.toMatchObject({
      code: "PRECONDITION_FAILED",
    });
    await expect(operators.resume(accepted)).rejects.toMatchObject({ code: "PARTITION_NOT_STOPPED" });
  });

  it("under an ETag that a pause has outdated is refused; what flows does not outdate it", async () => {
    const { world, operators } = await lost();
    const target = { source: "articles", partition: 0 };
    const before = await operators.resumptions.etag(target);
    world.log.append(0, "c", "1");
    await world.clock.advance(10_000);
    expect(await operators.resumptions.etag(target)).toBe(before);
    await operators.pauses.pause({ source: "articles" }, ORDER, undefined);
    const request: ResumeRequest = { from: "log-start", acceptLoss: { from: 5, toMax: 8 } };
    await expect(operators.resumptions.resume(target, ORDER, request, before)).rejects.toMatchObject({
      code: "PRECONDITION_FAILED",
    });
  });

  it("of a partition that nobody owns now is obeyed by whoever comes next", async () => {
    const { world, operators } = await lost();
    world.service.revoked(1);
    await operators.resume({ from: "log-start", acceptLoss: { from: 5, toMax: 8 } });
    world.source.rejoin();
    await world.clock.advance(3_000);
    expect([world.stopCode(), world.stored("b")?.text]).toEqual([undefined, "8"]);
  });

  it("made on another instance is noticed by the owner with its next round", async () => {
    const { world, operators } = await lost();
    const obey = world.service.obey.bind(world.service);
    world.service.obey = () => Promise.resolve();
    await operators.resume({ from: "log-start", acceptLoss: { from: 5, toMax: 8 } });
    expect(world.stopCode()).toBe("BELOW_LOG_START");
    world.service.obey = obey;
    await world.clock.advance(5_000);
    expect([world.stopCode(), world.stored("b")?.text]).toEqual([undefined, "8"]);
  });
});

describe("resumptions of a whole source", () => {
  it("answer per partition, and leave what runs alone", async () => {
    const world = new FleetWorld(3);
    for (const partition of [0, 1, 2]) world.log.append(partition, `k${partition}`, "1");
    await world.start();
    await world.clock.advance(2_000);
    await world.crash();
    for (const partition of [0, 1])
      for (let index = 0; index < 4; index += 1) world.log.append(partition, `k${partition}`, "2");
    world.log.deleteBelow(0, 2);
    world.log.deleteBelow(1, 4);
    await world.start();
    await world.clock.advance(3_000);
    const operators = new Operators(world);
    const etag = await operators.resumptions.etag({ source: "articles" });
    const request: ResumeRequest = { from: "log-start", acceptLoss: { from: 1, toMax: 2 } };
    const items = await operators.turning(operators.resumptions.resumeAll("articles", ORDER, request, etag));
    expect(items).toMatchObject([
      { partition: 0, outcome: "resumed", from: 2 },
      {
        partition: 1,
        outcome: "refused",
        error: { code: "LOSS_NOT_ACCEPTED", extra: { lost: { from: "1", to: "4" } } },
      },
    ]);
    expect([0, 1, 2].map((partition) => world.stopCode(partition))).toEqual([undefined, "BELOW_LOG_START", undefined]);
    await expect(operators.resumptions.resumeAll("articles", ORDER, request, etag)).rejects.toMatchObject({
      code: "PRECONDITION_FAILED",
    });
  });
});

describe("a stop of another log", () => {
  it("can only go on where it was, with the log recognised", async () => {
    const world = await applied(5);
    await world.crash();
    world.log.recreate();
    for (let index = 0; index < 9; index += 1) world.log.append(0, `n${index}`, "other");
    await world.start();
    await world.clock.advance(3_000);
    expect(world.stopCode()).toBe("TOPIC_RECREATED");
    const operators = new Operators(world);
    for (const request of [{ from: "log-start" }, { from: 9, acceptLoss: { from: 0, toMax: 9 } }] as const) {
      await expect(operators.resume(request)).rejects.toMatchObject({ code: "EPOCH_REQUIRED" });
    }
    await operators.resume({ from: "copy" });
    expect([world.stopCode(), world.stored("n8")], "the record before is another one").toEqual([
      "TOPIC_RECREATED",
      undefined,
    ]);
    expect(copyCell() in Object.fromEntries(world.plane.cells)).toBe(true);
  });
});
