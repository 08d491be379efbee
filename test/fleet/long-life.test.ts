import { describe, expect, it } from "vitest";
import { StreamsError } from "../../src/errors.ts";
import { FleetWorld, stubCompiler } from "../support/fleet-world.ts";

describe("a process that lives long", () => {
  it("keeps no waits of takes that failed", async () => {
    const world = new FleetWorld(1);
    await world.start();
    world.source.identity = () => Promise.reject(new Error("not now"));
    world.source.rejoin();
    await world.clock.advance(600_000);
    expect(world.service.waits).toBeLessThanOrEqual(3);
  });

  it("counts over assignments without going down", async () => {
    const world = new FleetWorld(1);
    world.log.append(0, "a", "1");
    world.log.append(0, "b", "bad");
    await world.start();
    await world.clock.advance(2_000);
    const before = { ...world.service.totals };
    expect(before).toMatchObject({ delivered: 2, written: 1, deadLettered: 1 });
    world.source.rejoin();
    expect(world.service.totals).toEqual(before);
    world.log.append(0, "a", "2");
    await world.clock.advance(2_000);
    expect(world.service.totals.delivered).toBeGreaterThan(before.delivered);
  });
});

describe("what counts as delivered", () => {
  it("is what was judged and kept: not the record that a start reads only to recognise the log", async () => {
    const world = new FleetWorld(1);
    for (const key of ["a", "b", "c"]) world.log.append(0, key, "1");
    await world.start();
    await world.clock.advance(3_000);
    expect(world.runner().counts).toMatchObject({ delivered: 3, written: 3 });
    await world.crash();
    world.log.append(0, "d", "1");
    await world.start();
    await world.clock.advance(3_000);
    expect(world.stored("d")?.text).toBe("1");
    expect(world.service.totals).toMatchObject({ delivered: 1, written: 1 });
  });

  it("nor what was fetched behind the record at which a partition stops", async () => {
    const world = new FleetWorld(1);
    for (const value of ["1", "bad", "1", "1", "1", "1"]) world.log.append(0, value + world.log.log(0).end, value);
    await world.start({ onPoison: "stop" });
    await world.clock.advance(3_000);
    expect(world.stopCode()).toBe("POISON");
    expect(world.service.totals).toEqual({ delivered: 1, written: 1, deadLettered: 0, folded: 0 });
  });
});

describe("a dead letter", () => {
  it("leaves its code, partition and offset behind, nothing of what it held, and one line a minute", async () => {
    const lines: string[] = [];
    const world = new FleetWorld(1);
    const keep = (fields: object, text: string) => void lines.push(JSON.stringify({ ...fields, text }));
    world.logger = { ...world.logger, warn: keep };
    for (let index = 0; index < 20; index += 1) world.log.append(0, "secret-key", "bad");
    await world.start();
    await world.clock.advance(2_000);
    const [entry] = world.service.parts.errors.list();
    expect(entry).toMatchObject({ code: "DECODE_TEST", count: 20 });
    expect(entry?.text).toBe("partition 0: dead letter: poison (last: offset 19)");
    expect(world.service.parts.tally.letters).toEqual(new Map([["DECODE_TEST", 20]]));
    expect(lines).toEqual([expect.stringContaining('"offset 0"')]);
    expect(JSON.stringify([lines, entry])).not.toContain("secret");
  });
});

describe("a revision that this build cannot compile", () => {
  it("holds the partition under a code of its own, stores no stop, and goes on with a build that can", async () => {
    const world = new FleetWorld(1);
    world.log.append(0, "a", "1");
    await world.start();
    await world.clock.advance(2_000);
    await world.crash();
    world.log.append(0, "a", "2");
    let unable = true;
    world.compiler = {
      ...stubCompiler,
      compile: (spec) => {
        if (unable) throw new StreamsError("MAPPING_INVALID", "no such field");
        return stubCompiler.compile(spec);
      },
    };
    await world.start();
    await world.clock.advance(5_000);
    expect(world.runner().state.phase).toMatchObject({ phase: "starting", cause: { code: "REVISION_UNUSABLE" } });
    expect([...world.plane.records.keys()].filter((name) => name.startsWith("stops/"))).toEqual([]);
    unable = false;
    await world.clock.advance(3_000);
    expect(world.stored("a")?.text).toBe("2");
  });
});
