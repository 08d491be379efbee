import { describe, expect, it } from "vitest";
import { configText } from "../../src/cli/print-config.ts";
import { sourceFaults } from "../../src/core/source-relations.ts";
import { DEFAULT_COUNTING_OF_SOURCE, type SourceDefinition, verdictOf } from "../../src/core/source.ts";
import { definition } from "../support/fleet-world.ts";
import { faultsOf, load } from "./support.ts";

const source = (kind: string, counting: string) => `sources:
  - { name: beacons, kind: ${kind}, topic: beacons, counting: ${counting} }
`;

const traffic: SourceDefinition = { ...definition, kind: "traffic" };

describe("how a source counts", () => {
  it("is read with the defaults for what it leaves open, and left out where the file says nothing", () => {
    const [read] = load({ yaml: source("traffic", "{ slotWidth: 15m, scoreEdges: [0.1, 0.5] }") }).config.sources;
    expect(read?.counting).toEqual({
      ...DEFAULT_COUNTING_OF_SOURCE,
      slotWidthMs: 900_000,
      scoreEdges: [0.1, 0.5],
    });
    const [plain] = load({ yaml: "sources: [{ name: beacons, kind: traffic, topic: beacons }]" }).config.sources;
    expect(plain).not.toHaveProperty("counting");
  });

  it("is printed so that it reads back the same", () => {
    const loaded = load({ yaml: source("ad_actions", "{ segmentEvery: 6h, visitors: false }") });
    const again = load({ yaml: configText(loaded) });
    expect(again.config.sources).toEqual(loaded.config.sources);
  });

  it.each([
    ["traffic", "{ slotWidth: 7h }", "no whole part of a day"],
    ["traffic", "{ scoreEdges: [0.5, 0.1] }", "do not ascend"],
    ["traffic", "{ scoreEdges: [0] }", "do not ascend"],
    ["documents", "{ visitors: true }", "counts nothing"],
  ])("kind %s with %s is refused", (kind, counting, found) => {
    const faults = faultsOf({ yaml: source(kind, counting) });
    expect(faults).toMatchObject([{ path: "sources[0].counting", found: expect.stringContaining(found) as string }]);
  });

  it.each([
    "{ slotWidth: 30s }",
    "{ segmentEvery: 59s }",
    "{ scoreEdges: [2] }",
    "{ scoreEdges: [x] }",
    "{ width: 1h }",
  ])("%s is refused where it stands", (counting) => {
    const faults = faultsOf({ yaml: source("traffic", counting) });
    expect(faults).toHaveLength(1);
    expect(faults[0]?.path).toMatch(/^sources\[0\]\.counting\./);
  });

  it("a change of the API is held against the same rule", () => {
    const faultOf = (change: Partial<typeof DEFAULT_COUNTING_OF_SOURCE>, kind = traffic.kind) =>
      sourceFaults({ ...traffic, kind, counting: { ...DEFAULT_COUNTING_OF_SOURCE, ...change } }, []).map(
        ({ member }) => member,
      );
    expect(faultOf({})).toEqual([]);
    expect(faultOf({ slotWidthMs: 7 * 3_600_000 })).toEqual(["counting"]);
    expect(faultOf({ segmentEveryMs: 1 })).toEqual(["counting"]);
    expect(faultOf({}, "dials")).toEqual(["counting"]);
  });

  it("decides the revision where it decides slots: not by segmentEvery, and not by what versioned kinds would say", () => {
    const of = (change: Partial<typeof DEFAULT_COUNTING_OF_SOURCE>) =>
      verdictOf({ ...traffic, counting: { ...DEFAULT_COUNTING_OF_SOURCE, ...change } });
    expect(of({})).toBe(verdictOf(traffic));
    expect(of({ segmentEveryMs: 60_000 })).toBe(of({}));
    for (const change of [{ slotWidthMs: 60_000 }, { visitors: false }, { scoreEdges: [0.5] }]) {
      expect(of(change)).not.toBe(of({}));
    }
  });
});
