import { describe, expect, it } from "vitest";
import { refusalOf } from "../../src/core/retention.ts";
import { SourceFault } from "../../src/ports/record-source.ts";
import { definition, FleetWorld } from "../support/fleet-world.ts";
import { worldReader } from "../support/world-reader.ts";

const DAY = 86_400_000;
const kept = (retentionMs: number | undefined) => ({ retentionMs, retentionBytes: undefined, compacted: false });

function view(world: FleetWorld) {
  const { reader } = worldReader(world);
  return { source: reader.get("articles"), partitions: reader.partitions("articles") };
}

describe("I15: retention exceeds the worst lag", () => {
  it.each<[string, number | undefined, number, boolean | undefined, string | undefined]>([
    ["more", 2 * DAY, DAY, undefined, undefined],
    ["without limit", undefined, DAY, undefined, undefined],
    ["as much", DAY, DAY, undefined, "RETENTION_TOO_SHORT"],
    ["less", DAY - 1, DAY, undefined, "RETENTION_TOO_SHORT"],
    ["less, and told to", DAY - 1, DAY, true, undefined],
  ])("%s", (_name, retentionMs, worstLagMs, allow, code) => {
    const source = { ...definition, worstLagMs, ...(allow === undefined ? {} : { allowShortRetention: allow }) };
    expect(refusalOf(source, kept(retentionMs))?.code).toBe(code);
  });

  it("a compacted topic cannot be counted, and can be read into documents", () => {
    const compacted = { ...kept(undefined), compacted: true };
    expect(refusalOf({ ...definition, kind: "traffic" }, compacted)?.code).toBe("TOPIC_COMPACTED");
    expect(refusalOf(definition, compacted)).toBeUndefined();
  });

  it("a source that may lose records does not start, says what to change, and starts once that is done", async () => {
    const world = new FleetWorld(2);
    world.log.append(0, "a", "1");
    world.log.retention = kept(DAY / 24);
    await world.start({ worstLagMs: DAY });
    await world.clock.advance(10_000);
    expect(world.stored("a")).toBeUndefined();
    const { source, partitions } = view(world);
    expect(source).toMatchObject({ observed: "holding", partitions: { unassigned: 2 } });
    expect(source.reason).toMatch(/RETENTION_TOO_SHORT: .*1h.*1d.*retention\.ms above 86400000.*allowShortRetention/);
    expect(partitions[0]?.reason).toBe(source.reason);
    expect(source.recentErrors.map(({ code }) => code)).toEqual(["RETENTION_TOO_SHORT"]);
    world.log.retention = kept(7 * DAY);
    await world.clock.advance(3_000);
    expect(world.stored("a")?.text).toBe("1");
    expect(view(world).source.observed).toBe("running");
  });

  it("a source that runs goes on when its topic's retention is lowered, and says so", async () => {
    const world = new FleetWorld(1);
    world.log.retention = kept(7 * DAY);
    await world.start({ worstLagMs: DAY });
    await world.clock.advance(3_000);
    world.log.retention = kept(1_000);
    world.source.rejoin();
    world.log.append(0, "a", "1");
    world.source.poll();
    await world.clock.advance(3_000);
    expect(world.stored("a")?.text).toBe("1");
    expect(view(world).source.recentErrors.map(({ code }) => code)).toContain("RETENTION_TOO_SHORT");
  });

  it("a retention that may not be read is noted and keeps nothing from starting; a broker fault is waited for", async () => {
    const world = new FleetWorld(1);
    world.log.append(0, "a", "1");
    let fault: SourceFault | undefined = new SourceFault("timeout", "no answer");
    world.prepare = (source) => {
      source.retention = () => Promise.reject(fault ?? new SourceFault("not-authorized", "no DescribeConfigs"));
    };
    await world.start();
    await world.clock.advance(5_000);
    expect(world.stored("a")).toBeUndefined();
    fault = undefined;
    await world.clock.advance(3_000);
    expect(world.stored("a")?.text).toBe("1");
    expect(view(world).source.recentErrors.map(({ code }) => code)).toContain("RETENTION_UNKNOWN");
  });
});
