import { describe, expect, it } from "vitest";
import { kinds } from "../../consumers/index.ts";
import { createDescriptorChecks } from "../../src/decoding/descriptor-checks.ts";
import { DescriptorCatalog } from "../../src/descriptors/catalog.ts";
import { DefinitionStore, type InForce } from "../../src/definitions/definition-store.ts";
import { Fleet } from "../../src/fleet/fleet.ts";
import { SourceService } from "../../src/fleet/source-service.ts";
import { Verdicts } from "../../src/fleet/verdicts.ts";
import { FakeLog } from "../support/fake-log.ts";
import { FakeRecordSource } from "../support/fake-record-source.ts";
import { definition, KeptLetters, stubCompiler } from "../support/fleet-world.ts";
import { serviceParts } from "../support/service-parts.ts";
import { silent } from "../support/silent.ts";
import { KvFault } from "../../src/ports/kv-plane.ts";
import { ManualClock, settle } from "../support/manual-clock.ts";
import { MemoryPlane } from "../support/memory-plane.ts";

const backoff = { initialMs: 100, maxMs: 1_000 };

function build() {
  const clock = new ManualClock();
  const plane = new MemoryPlane();
  const log = new FakeLog(1);
  const sources: FakeRecordSource[] = [];
  const catalog = new DescriptorCatalog(plane.control, (files) => createDescriptorChecks().digest(files));
  const descriptor = () => Promise.reject(new Error("no descriptors here"));
  const dependencies = { control: plane.control, compiler: stubCompiler, kinds, descriptor };
  const open = (inForce: InForce, before: SourceService | undefined) => {
    const source = new FakeRecordSource(log);
    sources.push(source);
    const given = { inForce, source, plane, clock, backoff, letters: new KeptLetters() };
    const kept = before === undefined ? {} : { tally: before.parts.tally };
    const parts = serviceParts({ ...given, ...kept, verdicts: new Verdicts("articles", dependencies) });
    const service = new SourceService(parts);
    return Promise.resolve(service);
  };
  const definitions = new DefinitionStore(dependencies, { catalog, kinds, builtinSubjects: new Set() });
  const fleet = new Fleet({
    definitions,
    catalog,
    builtins: [],
    seeds: [definition],
    open,
    backoff,
    clock,
    logger: silent,
  });
  return { clock, plane, log, sources, fleet };
}

describe("the fleet", () => {
  it("waits for the store at its start, and serves when it answers", async () => {
    const { fleet, plane, clock } = build();
    plane.away = true;
    const starting = fleet.start();
    await clock.advance(500);
    expect(fleet.phase).toBe("starting");
    // Nobody knows yet what there is: "unknown" would be taken for gone.
    const notReady = expect.objectContaining({ code: "NOT_READY" });
    expect(() => fleet.service("articles")).toThrow(notReady);
    expect(() => fleet.inForce("articles")).toThrow(notReady);
    expect(() => fleet.sourceOf("articles")).toThrow(notReady);
    plane.away = false;
    await clock.advance(2_000);
    await starting;
    expect(fleet.phase).toBe("serving");
    expect(fleet.services()).toHaveLength(1);
    expect(() => fleet.service("others")).toThrow(expect.objectContaining({ code: "SOURCE_UNKNOWN" }));
    expect(fleet.sourceOf("others")).toBeUndefined();
  });

  it("a drain that comes while it starts stays a drain", async () => {
    const { fleet, plane, clock } = build();
    plane.away = true;
    const starting = fleet.start();
    await clock.advance(500);
    expect(await fleet.drain(1_000)).toEqual([]);
    plane.away = false;
    await clock.advance(2_000);
    await starting;
    expect(fleet.phase).toBe("draining");
    expect(fleet.services()).toEqual([]);
  });

  it("two changes of one definition follow each other: one consumer at a time, and the later one stands", async () => {
    const { fleet, clock, sources, log } = build();
    const starting = fleet.start();
    await clock.advance(0);
    await starting;
    log.append(0, "a", "1");
    const first = fleet.define("articles", { ...definition, onPoison: "stop" }, fleet.inForce("articles").etag, 1_000);
    await settle();
    const etag = fleet.inForce("articles").etag;
    const second = fleet.define("articles", { ...definition, worstLagMs: 77 }, etag, 1_000);
    await clock.advance(10_000);
    const [one, two] = await Promise.all([first, second]);
    expect([one.revision, two.revision]).toEqual([2, 3]);
    expect(sources.filter((source) => !source.stopped)).toHaveLength(1);
    expect(fleet.service("articles").parts.inForce.definition.worstLagMs).toBe(77);
  });

  it("a change whose answer was lost can be repeated, and be undone", async () => {
    const { fleet, clock, plane } = build();
    const starting = fleet.start();
    await clock.advance(0);
    await starting;
    plane.after = (name) => {
      if (name.startsWith("sources/")) throw new KvFault("KV_TIMEOUT", "the answer was lost");
    };
    const change = { ...definition, onPoison: "stop" } as const;
    await expect(fleet.define("articles", change, fleet.inForce("articles").etag, 1_000)).rejects.toThrow(/lost/);
    plane.after = () => {};
    const again = fleet.define("articles", change, fleet.inForce("articles").etag, 1_000);
    await clock.advance(5_000);
    expect((await again).revision).toBe(2);
    expect(fleet.service("articles").parts.inForce.revision).toBe(2);
    const undone = fleet.define("articles", definition, fleet.inForce("articles").etag, 1_000);
    await clock.advance(5_000);
    expect((await undone).revision).toBe(3);
  });

  it("a change with a stale etag is refused and restarts nothing", async () => {
    const { fleet, clock, sources } = build();
    const starting = fleet.start();
    await clock.advance(0);
    await starting;
    await expect(fleet.define("articles", { ...definition, worstLagMs: 9 }, "stale", 1_000)).rejects.toMatchObject({
      code: "PRECONDITION_FAILED",
    });
    expect(sources).toHaveLength(1);
  });

  it("what identifies a source's log and target cannot be changed in place", async () => {
    const { fleet, clock } = build();
    const starting = fleet.start();
    await clock.advance(0);
    await starting;
    const { etag } = fleet.inForce("articles");
    await expect(fleet.define("articles", { ...definition, topic: "other" }, etag, 1_000)).rejects.toMatchObject({
      code: "DEFINITION_CHANGE_REFUSED",
      extra: { refused: ["topic"] },
    });
  });

  it("what a source has done is counted on when its definition changes", async () => {
    const { fleet, clock, log } = build();
    const starting = fleet.start();
    await clock.advance(0);
    await starting;
    log.append(0, "a", "1");
    const rejoined = fleet.define(
      "articles",
      { ...definition, worstLagMs: 5_000 },
      fleet.inForce("articles").etag,
      1_000,
    );
    await clock.advance(5_000);
    await rejoined;
    const before = fleet.service("articles").totals.written;
    expect(before).toBeGreaterThan(0);
    const again = fleet.define("articles", { ...definition, worstLagMs: 6_000 }, fleet.inForce("articles").etag, 1_000);
    await clock.advance(5_000);
    await again;
    expect(fleet.service("articles").totals.written).toBe(before);
  });
});
